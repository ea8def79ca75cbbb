"""A scenario as an FMU: an importer that is not ours and our own one step it, both versions, to what the run itself gives."""
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
import zipfile

command, importer, here = sys.argv[1:4]


def run(*words, code=0):
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done


def variables(fmu):
    """Name -> valueReference, and the token."""
    root = xml.fromstring(zipfile.ZipFile(fmu).read("modelDescription.xml"))
    found = {v.get("name"): v.get("valueReference") for v in root.find("ModelVariables")}
    return found, root.get("guid") or root.get("instantiationToken")


def stepped(fmu, folder, version, value, step="0.01", steps="100", code=0):
    names, token = variables(fmu)
    zipfile.ZipFile(fmu).extractall(folder)
    platform = "linux64" if version == "2" else "x86_64-linux"
    if os.uname().machine != "x86_64" and version == "3":
        platform = os.uname().machine + "-linux"
    done = run(importer, version, f"{folder}/binaries/{platform}/arm.so", token, f"{folder}/resources", step, steps,
               names["elbow"], str(value), names["shoulder.position"], names["elbow.position"], code=code)
    return [[float(word) for word in line.split()] for line in done.stdout.splitlines()], done.stderr


with tempfile.TemporaryDirectory() as folder:
    os.environ["ISOCHRON"] = command
    results = {}
    for version in "23":
        fmu = f"{folder}/arm{version}.fmu"
        said = run(command, "export", "fmu", f"{here}/arm.yaml", "-o", fmu, "--fmi", version, "--step", "10ms").stdout
        assert "2 inputs, 4 outputs, step 10ms" in said, said
        results[version], _ = stepped(fmu, f"{folder}/{version}", version, 3)
        assert len(results[version]) == 100
    assert results["2"] == results["3"]
    # Nothing set: what the run itself has at one second.
    free, _ = stepped(f"{folder}/arm3.fmu", f"{folder}/free", "3", 0)
    run(command, "run", f"{here}/arm.yaml", "--quiet", "--duration", "1010ms", "--journal", f"{folder}/arm.mcap")
    lines = run(command, "journal", "export", f"{folder}/arm.mcap", "shoulder.position,elbow.position").stdout.splitlines()
    rows = {int(line.split(",")[0]): [float(word) for word in line.split(",")[1:]] for line in lines[1:]}
    assert rows[1_000_000_000] == free[-1][1:], (rows[1_000_000_000], free[-1])
    assert free[-1][1:] != results["3"][-1][1:], "the input did nothing"
    # Our own importer: the FMU as a node, with the same input.
    with open(f"{folder}/again.yaml", "w") as out:
        out.write("name: again\nduration: 1010ms\ntime: {mode: repeatable}\nnodes:\n"
                  "  arm: {fmu: arm3.fmu, every: 10ms, parameters: {elbow: 3}}\n")
    digests = set()
    for process in ("shared", "own"):
        out = run(command, "run", f"{folder}/again.yaml", "--json", "--set", f"nodes.arm.process={process}",
                  "--journal", f"{folder}/again.mcap").stdout
        digests.add(json.loads(out)["digest"])
    assert len(digests) == 1, digests
    lines = run(command, "journal", "export", f"{folder}/again.mcap", "arm.out.elbow_position").stdout.splitlines()
    last = float(lines[-1].split(",")[1])
    assert last == results["3"][-1][2], (last, results["3"][-1])
    # What it cannot do is said.
    _, said = stepped(f"{folder}/arm3.fmu", f"{folder}/bad", "3", 0, step="0.0103", steps="1", code=1)
    assert re.search("is not a multiple of 0.01 s", said), said
    said = run(command, "export", "fmu", f"{here}/../agents/crossing.yaml", "-o", f"{folder}/x.fmu", code=2).stderr
    assert "stepped by the tool" in said, said
    said = run(command, "export", "fmu", f"{here}/arm.yaml", "-o", f"{folder}/x.fmu", "--input", "elbo", code=2).stderr
    assert "there is no actuator that is free `elbo`" in said and "elbow" in said, said
    said = run(command, "export", "fmu", f"{here}/arm.yaml", "-o", f"{folder}/x.fmu", "--step", "3ms", code=2).stderr
    assert "must be a multiple of the world's step" in said, said
print("one result, four ways")
