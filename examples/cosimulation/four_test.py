"""An FMU, SUMO, a node in Python and an executable around one car: one digest; with a measured planner it runs too."""
import json
import os
import subprocess
import sys
import tempfile

command, here = sys.argv[1:3]
if not os.access(os.path.join(os.path.dirname(command), "isochron_sumo"), os.X_OK):
    print("SUMO was not there when Isochron was built: skipped")
    sys.exit(77)
sys.path.insert(0, os.path.join(here, "../../client/python"))
os.environ["ISOCHRON"] = command
import isochron  # noqa: E402

with tempfile.TemporaryDirectory() as folder:
    def play(duration, *sets):
        journal = os.path.join(folder, "four.mcap")
        words = [word for one in sets for word in ("--set", one)]
        done = subprocess.run([command, "run", f"{here}/four.yaml", "--json", "--duration", duration, "--journal", journal,
                               *words], capture_output=True, text=True)
        assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-2000:])
        return json.loads(done.stdout), isochron.load(journal)

    digests = {}
    for executor in ("thread", "processes"):
        digests[executor] = play("4s", f"flows.executor={executor}")[0]["digest"]
    assert len(set(digests.values())) == 1, digests
    report, journal = play("20s")
    # It drives on its lane, waits at the red light, and the battery is emptied.
    way = journal.numbers("ego.position.x", "ego.position.y")
    assert max(abs(y + 1.6) for y in way["ego.position.y"]) < 1.0, "it left its lane"
    x = dict(zip((round(t, 3) for t in way.time), way["ego.position.x"]))
    assert x[5.0] > -130, x[5.0]
    assert x[11.0] < -8, ("it ran the red light", x[11.0])
    charge = journal["/powertrain.battery"]["charge"]
    assert charge[0] == 0.8 and charge[-1] < charge[0], (charge[0], charge[-1])
    assert max(journal["/traffic.traffic"]["running"]) > 5
    # A measured planner: no digest is promised, the rest holds.
    measured, _ = play("2s", "time.mode=consistent", "robots.ego.programs.planner.compute=measured")
    assert measured["end"] == "finished", measured
    print("one digest:", digests["thread"])
