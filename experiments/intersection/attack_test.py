"""Each attack on the radio, in a scenario through the command: what was done to messages, and what receivers made of it."""
import json
import os
import subprocess
import sys
import tempfile

command, scenario = sys.argv[1:3]
folder = tempfile.mkdtemp()
VICTIMS = ["car05", "car06", "car13", "car21"]
ATTACKS = {"drop": "", "delay": ", by: 900ms", "alter": "", "replay": ", by: 900ms, copies: 2"}


def run(name, attack):
    with open(scenario) as file:
        text = file.read()
    model = os.path.join(os.path.dirname(os.path.abspath(scenario)), "intersection.xml")
    text = text.replace("model: intersection.xml", "model: " + model)
    text = text.replace("  medium: dsrc\n", "  medium: ideal\n" + attack)
    path = os.path.join(folder, name + ".yaml")
    with open(path, "w") as file:
        file.write(text)
    done = subprocess.run([command, "run", path, "--duration", "2s", "--quiet", "--json", "--set",
                           "time.mode=repeatable", "--journal", os.path.join(folder, name + ".mcap")],
                          text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["v2x"]


plain = run("none", "")
assert not any(plain["tampered"].values()) and not any(plain["refused"].values()), plain
found = {}
for kind, more in ATTACKS.items():
    found[kind] = v2x = run(kind, f"  attacks: [{{kind: {kind}, victims: [{', '.join(VICTIMS)}], from: 500ms{more}}}]\n")
    done = {"drop": "dropped", "delay": "delayed", "alter": "altered", "replay": "replayed"}[kind]
    assert [what for what, n in v2x["tampered"].items() if n] == [done], v2x["tampered"]
    print(kind, v2x["tampered"], v2x["refused"], v2x["receptions"]["delivered"])
    # Four victims at 10 Hz for a second and a half; what is said in the last 100 ms is not counted any more.
    assert 40 <= v2x["tampered"][done] <= (130 if kind == "replay" else 65), v2x["tampered"]
assert found["drop"]["receptions"]["dropped"] > 40 and not any(found["drop"]["refused"].values())
assert found["drop"]["receptions"]["delivered"] < plain["receptions"]["delivered"] - 1000
assert found["delay"]["refused"]["old"] > 100 and found["delay"]["refused"]["unreadable"] == 0
assert found["replay"]["refused"]["old"] > 100 and found["replay"]["messages"] > plain["messages"]
assert found["alter"]["refused"]["unreadable"] > 10
