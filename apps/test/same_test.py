#!/usr/bin/env python3
"""Every shipped example that says it is the same is run many times on a busy machine, and has one digest.

Usage: same_test.py ISOCHRON SOURCE_DIR [RUNS]
"""
import collections
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

ISOCHRON, SOURCE = sys.argv.pop(1), sys.argv.pop(1)
RUNS = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 50

# How to run each of them in the way that it promises to be the same, for a short time; more than one way where the
# digest must not depend on it.
WAYS = {
    "unmodified/patrol.yaml": [[]],
    "nbody/nbody.yaml": [["--duration", "40s"], ["--duration", "40s", "--set", "flows.executor=processes"]],
    "ships_flows/ships_flows.yaml": [
        ["--duration", "200ms"],
        ["--duration", "200ms", "--set", "flows.executor=processes"],
    ],
    "agents/crossing.yaml": [["--duration", "300ms", "--set", "time.mode=repeatable"]],
    "ros/chaser.yaml": [["--duration", "200ms"]],
}

SPIN = "while True: pass"


class Same(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for _ in range(os.cpu_count() or 1):  # every core has something else to do
            busy = subprocess.Popen([sys.executable, "-c", SPIN])
            self.addCleanup(busy.wait)
            self.addCleanup(busy.kill)

    def digest_of(self, example, args):
        journal = os.path.join(self.folder.name, "run.mcap")
        command = [ISOCHRON, "run", os.path.join(SOURCE, "examples", example), "--json", "--journal", journal, *args]
        result = subprocess.run(command, capture_output=True, text=True, timeout=100)
        self.assertEqual(result.returncode, 0, result.stderr + result.stdout)
        return json.loads(result.stdout)["digest"]

    def check(self, example):
        ways = WAYS[example]
        digests = collections.Counter(self.digest_of(example, ways[i % len(ways)]) for i in range(RUNS))
        self.assertEqual(len(digests), 1, f"{example} had {dict(digests)} in {RUNS} runs")

    def test_all_that_say_so_are_known_here(self):
        for file in glob.glob(os.path.join(SOURCE, "examples", "*", "*.yaml")):
            with open(file) as text:
                says = "the same" in text.read()
            name = os.path.relpath(file, os.path.join(SOURCE, "examples"))
            self.assertEqual(says, name in WAYS, f"{name}: say in WAYS how it is the same")


for name in WAYS:
    label = "test_" + name.removesuffix(".yaml").replace("/", "_")
    setattr(Same, label, lambda self, name=name: self.check(name))

if __name__ == "__main__":
    unittest.main()
