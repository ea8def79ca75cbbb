"""The same agents over flows: one digest, however the nodes are run."""
import json
import os
import subprocess
import sys
import tempfile

command, scenario = sys.argv[1:3]
digests = {}
with tempfile.TemporaryDirectory() as folder:
    for executor in ("thread", "pool", "threads", "processes", "tcp"):
        out = subprocess.run([command, "run", scenario, "--json", "--duration", "500ms",
                              "--set", "time.mode=repeatable", "--set", f"flows.executor={executor}",
                              "--journal", os.path.join(folder, executor + ".mcap")],
                             capture_output=True, text=True, check=True).stdout
        digests[executor] = json.loads(out)["digest"]
assert len(set(map(str, digests.values()))) == 1, digests
print("one digest:", digests["thread"])
