#!/usr/bin/env python3
"""`isochron sweep` and `isochron journal export`. Usage: sweep_test.py PATH_OF_ISOCHRON

Predator and prey with modelled computing: that needs no privileges and is the same everywhere.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ISOCHRON = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
SCENARIO = os.path.join(ROOT, "experiments", "predator_prey", "predator_prey.yaml")
PREY = os.path.join(os.path.dirname(ISOCHRON), "prey_controller")
# 50 readings of 1 ms of the planner's clock; the controllers cost 2 ms at each activation.
MODELLED = ["--set", "time.compute={modelled: {fixed: 2ms}}",
            "--set", "robots.predator.programs.planner.compute={modelled: {per_clock_read: 1ms}}",
            "--set", "robots.predator.programs.planner.with.think=0.05", "--set", "duration=300ms"]


def run(*args, timeout=120):
    return subprocess.run([ISOCHRON, *args], capture_output=True, text=True, timeout=timeout)


class FlagsTest(unittest.TestCase):
    def refused(self, *args):
        result = run("sweep", SCENARIO, *args)
        self.assertEqual(result.returncode, 2, result.stderr)
        return result.stderr

    def test_mistakes_are_named_with_a_hint(self):
        self.assertIn("as in 0.125..8", self.refused("--cpu-speed", "fast"))
        self.assertIn("the slower one first", self.refused("--cpu-speed", "8..1"))
        self.assertIn("no speed", self.refused("--cpu-speed", "0..4"))
        self.assertIn("no speed", self.refused("--cpu-speed", "1,,2"))
        self.assertIn("1 or more", self.refused("--trials", "0"))
        self.assertIn("PATH=VALUE", self.refused("--set", "seed"))
        self.assertIn("one at a time", self.refused("--jobs", "2"))
        self.assertEqual(run("sweep", "/nowhere.yaml").returncode, 2)

    def test_a_folder_that_cannot_be_written_is_named(self):
        self.assertIn("/proc/none", self.refused("-o", "/proc/none"))


class SweepTest(unittest.TestCase):
    def setUp(self):
        if not (os.path.exists(PREY) or os.path.exists(os.path.join(os.path.dirname(ISOCHRON), "bin", "prey_controller"))):
            self.skipTest("the predator and prey programs are not built")
        self.keep = tempfile.TemporaryDirectory()
        self.folder = os.path.join(self.keep.name, "out")

    def tearDown(self):
        if hasattr(self, "keep"):
            self.keep.cleanup()

    def sweep(self, *args):
        return run("sweep", SCENARIO, *MODELLED, "-o", self.folder, "--json", *args)

    def lines(self):
        with open(os.path.join(self.folder, "sweep.jsonl")) as file:
            return [json.loads(line) for line in file]

    def test_slower_computers_miss_more_and_a_rerun_skips_what_is_done(self):
        first = self.sweep("--cpu-speed", "0.125..0.5", "--trials", "2")
        self.assertEqual(first.returncode, 0, first.stderr)
        speeds = json.loads(first.stdout)["speeds"]
        self.assertEqual([s["cpu_speed"] for s in speeds], [0.125, 0.25, 0.5])
        self.assertEqual([s["finished"] for s in speeds], [2, 2, 2])
        self.assertGreater(speeds[0]["missed_deadlines"]["mean"], speeds[2]["missed_deadlines"]["mean"])
        means = []
        for line in (line for line in self.lines() if line["cpu_speed"] == "0.5"):
            rows = run("journal", "distance", line["journal"], "predator", "prey").stdout.splitlines()[1:]
            means.append(sum(map(float, rows)) / len(rows))
        self.assertAlmostEqual(speeds[2]["mean_distance_m"]["mean"], sum(means) / 2, places=9)
        with open(os.path.join(self.folder, "sweep.svg")) as file:
            self.assertIn("<polyline", file.read())
        self.assertEqual({line["seed"] for line in self.lines()}, {1, 2})

        again = self.sweep("--cpu-speed", "0.125..0.5", "--trials", "3")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("6 of 9 runs were done before", again.stderr)
        self.assertEqual(len(self.lines()), 9)

    def test_the_number_of_jobs_does_not_change_the_digests(self):
        self.sweep("--cpu-speed", "1,2", "--trials", "2", "--jobs", "1")
        one = {(line["cpu_speed"], line["seed"]): line["digest"] for line in self.lines()}
        self.folder += "_parallel"
        self.sweep("--cpu-speed", "1,2", "--trials", "2", "--jobs", "4")
        four = {(line["cpu_speed"], line["seed"]): line["digest"] for line in self.lines()}
        self.assertEqual(one, four)

    def test_a_line_cut_in_half_and_other_settings_do_not_count(self):
        self.sweep("--cpu-speed", "1", "--trials", "1")
        with open(os.path.join(self.folder, "sweep.jsonl"), "a") as file:
            file.write('{"cpu_speed": "2", "se')
        again = self.sweep("--cpu-speed", "1,2", "--trials", "1", "--set", "time.quantum=2ms")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("2 earlier results are of another scenario", again.stderr)

    def test_a_failed_run_is_recorded_and_the_others_go_on(self):
        result = self.sweep("--cpu-speed", "1,2", "--trials", "1",
                            "--set", "robots.prey.programs.controller.run=[/bin/false]")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertEqual([s["failed"] for s in json.loads(result.stdout)["speeds"]], [1, 1])
        self.assertTrue(all(line["end"] == "failed" and line["why"] for line in self.lines()))

    def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(self):
        args = ["sweep", SCENARIO, *MODELLED, "--set", "duration=2s", "-o", self.folder, "--json", "--cpu-speed", "1",
                "--trials", "60", "--jobs", "1"]
        child = subprocess.Popen([ISOCHRON, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        log = os.path.join(self.folder, "sweep.jsonl")
        until = time.monotonic() + 60
        while time.monotonic() < until and not (os.path.exists(log) and os.path.getsize(log) > 0):
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 130, err)
        self.assertFalse(json.loads(out)["complete"])
        done = len(self.lines())
        self.assertTrue(1 <= done < 60, done)
        args[args.index("--trials") + 1] = str(done + 1)
        again = run(*args)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn(f"{done} of {done + 1} runs were done before", again.stderr)

    def test_journal_export_gives_csv_and_names_what_is_missing(self):
        self.sweep("--cpu-speed", "1", "--trials", "1")
        journal = self.lines()[0]["journal"]
        rows = run("journal", "export", journal, "/world/state", "bodies[13],bodies[26]", "--csv").stdout.splitlines()
        self.assertEqual(rows[0], "time_ns,bodies[13],bodies[26]")
        self.assertEqual(rows[1], "0,-5,5")
        self.assertEqual(len(rows), 1 + 301)  # a state each millisecond of 0.3 s
        self.assertEqual(run("journal", "distance", journal, "predator", "prey").stdout.splitlines()[1], "10")
        for args, words in ((["/none", "x"], "has no topic /none"), (["/world/state", "none"], "has no number called none")):
            result = run("journal", "export", journal, *args)
            self.assertEqual(result.returncode, 2)
            self.assertIn(words, result.stderr)


if __name__ == "__main__":
    unittest.main()
