#!/usr/bin/env python3
"""Aircraft through the command: examples/aircraft holds its place, breaks, repeats, and is told what is wrong."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

ISOCHRON, SOURCE = sys.argv[1:3]
del sys.argv[1:3]
EXAMPLES = os.path.join(SOURCE, "examples/aircraft")


def run(*args):
    return subprocess.run([ISOCHRON, *args], capture_output=True, text=True, timeout=300)


class AircraftTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def result_of(self, scenario, journal, *args):
        result = run("run", os.path.join(EXAMPLES, scenario), "--json", "--journal", self.path(journal), *args)
        self.assertEqual(result.returncode, 0, result.stderr + result.stdout)
        return json.loads(result.stdout)

    def values(self, journal, name):
        result = run("journal", "export", self.path(journal), name)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [float(line.split(",")[1]) for line in result.stdout.splitlines()[1:] if line.split(",")[1]]

    def test_a_program_holds_the_quadrotor_in_wind_and_repeats(self):
        a = self.result_of("hover.yaml", "a.mcap")
        b = self.result_of("hover.yaml", "b.mcap")
        self.assertEqual(a["digest"], b["digest"])
        other = self.result_of("hover.yaml", "c.mcap", "--seed", "2")
        self.assertNotEqual(a["digest"], other["digest"], "other gusts, other noise")
        self.assertGreater(self.values("a.mcap", "uav.energy")[-1], 500)

    def test_the_expectations_can_fail(self):
        result = run("run", os.path.join(EXAMPLES, "hover.yaml"), "--json", "--journal", self.path("x.mcap"), "--set",
                     "world.wind.velocity=[24, 18, 0]")
        self.assertNotEqual(result.returncode, 0, "30 m/s is too much for it")

    def test_a_hexacopter_flies_on_with_a_broken_rotor(self):
        self.result_of("blade.yaml", "blade.mcap")
        whole = self.result_of("blade.yaml", "whole.mcap", "--set", "faults.timeline=[]")
        self.assertIn("digest", whole)
        broken, flying = self.values("blade.mcap", "quad.height"), self.values("whole.mcap", "quad.height")
        self.assertLess(min(broken), min(flying) - 0.5, "the quadrotor does not")

    def test_the_report_shows_them(self):
        self.result_of("blade.yaml", "blade.mcap")
        result = run("report", self.path("blade.mcap"), "-o", self.path("report.html"))
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("report.html")) as file:
            page = file.read()
        self.assertIn("<h2>Aircraft</h2>", page)
        self.assertIn("hexa", page)

    def test_mistakes_come_with_their_place(self):
        for setting, said in [
                ("faults.timeline=[{at: 1s, blade: quad/motor9}]", "there is no rotor `quad/motor9`"),
                ("faults.timeline=[{at: 1s, blade: quad/motor1, by: 2}]", "0 to less than 1"),
                ("aircraft.quad.arm=-1", "`arm` must be positive"),
                ("aircraft.quad.rotors=[{position: [0, 0, 0]}]", "has no meaning beside `rotors`"),
                ("aircraft.quad.battery.empty=20", "must not be more than `full`"),
                ("aircraft.nobody={}", "the model has no body of that name"),
                ("world.wind.gusts.deviation=[1, 1, 1]", "need both `deviation` and `length`")]:
            with self.subTest(setting):
                result = run("check", os.path.join(EXAMPLES, "blade.yaml"), "--set", setting)
                self.assertNotEqual(result.returncode, 0)
                self.assertIn(said, result.stderr + result.stdout)


if __name__ == "__main__":
    unittest.main()
