"""The attacks of plausibility.yaml are noticed by the guard, and nobody is doubted before they begin.
Usage: plausibility_test.py ISOCHRON SOURCE_DIR"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

ISOCHRON, ROOT = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
BUILD = os.path.dirname(os.path.dirname(ISOCHRON))
sys.path.insert(0, os.path.join(ROOT, "client/python"))
import isochron  # noqa: E402


class Plausibility(unittest.TestCase):
    def run_it(self, *words):
        """The report, and what the guard said, with its times."""
        environment = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "client/python"),
                       "ISOCHRON_CLIENT": os.path.join(BUILD, "lib/libisochron_client.so")}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.mcap")
            done = subprocess.run([ISOCHRON, "run", os.path.join(ROOT, "examples/plausibility/plausibility.yaml"), "--json",
                                   "--journal", path, *words], capture_output=True, text=True, timeout=100, env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            report = json.loads(done.stdout.strip().splitlines()[-1])
            events = isochron.load(path)["/programs/car01/guard"]
            said = [bytes(value).decode() for what, value in zip(events["what"], events["value"]) if what == "output"]
        return report, [(float(line.split(" ", 1)[0]), line.split(" ", 1)[1]) for line in "".join(said).splitlines()]

    def test_each_attack_is_noticed_when_it_begins(self):
        report, doubts = self.run_it()
        expected = {2: "from where it was going", 4: "appears out of nowhere", 6: "one radio, two names", 8: "green to everybody"}
        for begins, sentence in expected.items():
            self.assertTrue([1 for at, what in doubts if begins <= at < begins + 2 and sentence in what], (sentence, doubts))
        self.assertFalse([1 for at, what in doubts if at < 2], doubts)
        self.assertFalse([1 for at, what in doubts if at > 10.2], "it is jammed: " + str(doubts))
        self.assertGreater(report["v2x"]["tampered"]["invented"], 50)
        self.assertGreater(report["v2x"]["tampered"]["altered"], 50)
        self.assertGreater(report["v2x"]["receptions"]["garbled"], 50)

    def test_who_verifies_does_not_hear_outsiders(self):
        report, doubts = self.run_it("--set", "v2x.security.accept=verified")
        self.assertFalse([1 for at, what in doubts if at < 6 and "appears out of nowhere" in what], doubts)
        self.assertFalse([1 for at, what in doubts if "green to everybody" in what], doubts)
        self.assertTrue([1 for at, what in doubts if "from where it was going" in what], "an insider signs well: " + str(doubts))
        self.assertGreater(report["v2x"]["refused"]["untrusted"], 50)


if __name__ == "__main__":
    unittest.main()
