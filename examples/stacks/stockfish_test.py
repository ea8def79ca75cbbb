#!/usr/bin/env python3
"""Chess engines from Debian: how far they come goes by the speed of their robot's computer, and a recorded game is the
same game. Usage: stockfish_test.py PATH_OF_ISOCHRON"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

ISOCHRON = sys.argv.pop(1)
HERE = os.path.dirname(os.path.abspath(__file__))


def isochron(*args):
    done = subprocess.run([ISOCHRON, *args], capture_output=True, text=True, timeout=200)
    return done.returncode, done.stdout + done.stderr


class StockfishTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.journal = os.path.join(self.folder.name, "run.mcap")

    def tearDown(self):
        self.folder.cleanup()

    def nodes(self, speed):
        code, said = isochron("run", os.path.join(HERE, "engine.yaml"), "--output", "--quiet", "--journal", self.journal,
                              "--set", f"time.cpu_speed={speed}")
        self.assertEqual(code, 0, said)
        return int(re.findall(r" nodes (\d+)", said)[-1])

    # The machine that tests run on is not quiet; what is searched in equal CPU time is not the same twice either.
    def test_nodes_are_as_the_speed_of_the_computer(self):
        whole = self.nodes(1)
        for speed in (0.5, 0.25):
            self.assertAlmostEqual(self.nodes(speed) / whole / speed, 1, delta=0.15)

    def test_a_recorded_game_is_the_same_game(self):
        code, said = isochron("run", os.path.join(HERE, "match.yaml"), "--output", "--quiet", "--journal", self.journal)
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"played( [a-h][1-8][a-h][1-8]){8}")
        code, replayed = isochron("replay", self.journal)
        self.assertEqual(code, 0, replayed)


if __name__ == "__main__":
    unittest.main()
