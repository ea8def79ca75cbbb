"""The full house, for a few seconds: every kind of participant takes part, hears the others by radio, and is charged; what is
exact repeats on every executor; and one that is killed, stopped or crashes is named while the others go on or the run ends.
Usage: full_house_test.py ISOCHRON"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ISOCHRON = os.path.abspath(sys.argv.pop(1))
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = {"car01/driver", "car01/planner", "car05/node", "car09/driver", "car17/stranger", "car25/pilot"}


class FullHouse(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.environment = dict(os.environ, PATH=os.path.dirname(ISOCHRON) + ":" + os.environ["PATH"])

    def script(self, *words):
        done = subprocess.run([os.path.join(HERE, "run"), "--isochron", ISOCHRON, "--out", self.folder, *words],
                              capture_output=True, text=True, timeout=500)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(os.path.join(self.folder, "summary.json")) as file:
            return json.load(file), done.stdout

    def play(self, *sets, seconds=4):
        command = [ISOCHRON, "run", os.path.join(HERE, "full_house.yaml"), "--json", "--quiet", "--duration", f"{seconds}s",
                   "--journal", os.path.join(self.folder, "house.mcap")]
        for entry in sets:
            command += ["--set", entry]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=self.environment)
        self.assertTrue(done.stdout.strip(), done.stderr)
        report = json.loads(done.stdout.strip().splitlines()[-1])
        info = subprocess.run([ISOCHRON, "journal", "info", os.path.join(self.folder, "house.mcap")], capture_output=True, text=True)
        self.assertEqual(info.returncode, 0, info.stdout + info.stderr)
        return report

    def test_all_take_part_are_charged_and_drive(self):
        summary, _ = self.script("--only", "as-they-are", "--seconds", "8")
        report = summary["as_they_are"]
        programs = {program["name"]: program for program in report["programs"]}
        self.assertEqual(set(programs), PROGRAMS)
        for name, program in programs.items():
            self.assertGreater(program["executed_s"], 0, name)
        wires = {wire["name"]: wire for wire in report["wires"]}
        self.assertGreater(wires["car17/car"]["taken"], 100)
        self.assertGreater(wires["car17/radio"]["sent"], 20)  # frames that it heard
        self.assertEqual(sum(wire["wrong"] for wire in wires.values()), 0, wires)
        self.assertTrue(any("car09" in why for why in report["not_repeatable"]), report["not_repeatable"])
        names = subprocess.run([ISOCHRON, "journal", "export", os.path.join(self.folder, "full_house.mcap"), "--columns",
                                "car01.speed"], capture_output=True, text=True)
        self.assertTrue(os.path.getsize(os.path.join(self.folder, "full_house.html")) > 10000, names.stderr)

    def test_exactly_it_is_the_same_on_every_executor(self):
        summary, said = self.script("--only", "exactly", "--seconds", "3")
        self.assertEqual(len(set(summary["digests"].values())), 1, said)
        self.assertEqual(len(summary["digests"]), 4)

    def test_who_fails_is_named_and_the_others_go_on_or_end(self):
        for culprit, robot, kind in (("car01/planner", "car01", "planner"), ("car17/stranger", "car17", "stranger"),
                                     ("car05/node", "car05", "node")):
            with self.subTest(culprit):
                fault = "faults={timeline: [{at: 1s, kill: %s}]}" % culprit
                report = self.play(fault)
                self.assertEqual(report["end"], "failed", report["notes"])
                self.assertIn(culprit, report["why"])
                report = self.play(fault, f"robots.{robot}.programs.{kind}.on_exit=go-on")
                self.assertEqual(report["end"], "finished", report["why"])
                self.assertIn(culprit, "\n".join(report["notes"]))


if __name__ == "__main__":
    unittest.main()
