#!/usr/bin/env python3
"""Traces of the production node conform, and what is wrong in a trace is found. Usage: traces_test.py EXPLORE SPEC_DIR"""
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

EXPLORE, SPEC = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, SPEC)
import check_traces  # noqa: E402


def trace(seed, folder):
    base = os.path.join(folder, str(seed))
    subprocess.run([EXPLORE, "trace", str(seed), base], check=True)
    with open(base + ".json") as system, open(base + ".jsonl") as lines:
        return json.load(system), lines.readlines()


class Traces(unittest.TestCase):
    def test_those_of_the_production_node_keep_all_rules(self):
        steps = 0
        with tempfile.TemporaryDirectory() as folder:
            for seed in range(1, 201):
                system, lines = trace(seed, folder)
                found, count = check_traces.check(system, lines)
                self.assertEqual(found, [], f"seed {seed}")
                steps += count
        self.assertGreater(steps, 5000)

    def test_each_change_of_a_stamp_is_found(self):
        changed = found_all = 0
        with tempfile.TemporaryDirectory() as folder:
            for seed in range(1, 61):
                system, lines = trace(seed, folder)
                steps = [i for i, line in enumerate(lines) if json.loads(line)["step"] in ("emit", "consume")]
                if not steps:
                    continue
                at = random.Random(seed).choice(steps)
                what = json.loads(lines[at])
                what["time"] += 1
                lines[at] = json.dumps(what)
                changed += 1
                found_all += bool(check_traces.check(system, lines)[0])
        self.assertEqual(found_all, changed)
        self.assertGreater(changed, 30)

    def test_says_which_rule_was_broken_and_where(self):
        system = {"nodes": [{"name": "a", "inputs": ["in"], "outputs": [
            {"name": "out", "kind": "predictive", "period": 10, "first": 0},
            {"name": "alarm", "kind": "event", "lookahead": 5}]}], "connections": []}

        def verdict(*steps):
            return check_traces.check(system, [json.dumps({"node": "a", **step}) for step in steps])[0]

        emit = {"step": "emit", "port": "out"}
        self.assertEqual(verdict({**emit, "time": 0, "next": 10}, {**emit, "time": 10, "next": 20}), [])
        self.assertEqual(verdict({**emit, "time": 0, "next": 10}, {**emit, "time": 12, "next": 20}),
                         ["a: rule 1: out at 12, but 10 was promised"])
        self.assertEqual(verdict({**emit, "time": 0, "next": 10}, {**emit, "time": 10, "next": 10}),
                         ["a: rule 1: the message of out at 10 promises the next one for 10"])
        self.assertEqual(verdict({"step": "consume", "port": "in", "time": 3}, {**emit, "time": 0}),
                         ["a: rule 2: emit out at 0 has the key (0, 0, 0), after a step with the key (3, 1, 0)"])
        self.assertEqual(verdict({"step": "consume", "port": "in", "time": 3},
                                 {"step": "send", "port": "alarm", "time": 7}),
                         ["a: rule 3: event of alarm at 7, sent at 3 with lookahead 5"])


if __name__ == "__main__":
    unittest.main()
