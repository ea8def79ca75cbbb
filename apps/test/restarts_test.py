#!/usr/bin/env python3
"""Nodes of a launch that are killed at any moment, started again and catch up: one digest. Usage: restarts_test.py ISOCHRON
SOURCE_DIR"""
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ISOCHRON, SOURCE = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
NBODY = os.path.join(SOURCE, "examples/nbody/nbody.yaml")
UAV = os.path.join(SOURCE, "examples/uav/uav.yaml")
SHIPS = os.path.join(SOURCE, "examples/ships_flows/ships_flows.yaml")
PYTHON_ROOM = os.path.join(SOURCE, "examples/room/room_python.yaml")
# Each runs for a few seconds when launched; and its nodes.
RUNS = {
    "nbody": ([NBODY, "--duration", "20000s"], ["yellow", "red", "green", "blue"]),
    "uav": ([UAV, "--duration", "20s"], ["wind", "dynamics", "gps", "imu", "controller", "mission"]),
}
SEED = int(os.environ.get("ISOCHRON_SEED", time.time_ns() % 1_000_000))


class Launch:
    """A launch that goes on in the background."""

    def __init__(self, folder, *words, journal="launched.mcap"):
        self.process = subprocess.Popen([ISOCHRON, "launch", *words, "--json", "--journal", os.path.join(folder, journal)],
                                        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.words = ""
        self.began = time.monotonic()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            self.words += line

    def pid_of(self, node, patience=20):
        """Of the newest process that is this node."""
        for _ in range(patience * 100):
            found = []
            for pid in self.children():
                try:
                    with open(f"/proc/{pid}/comm") as comm, open(f"/proc/{pid}/stat") as stat:
                        state = stat.read().rsplit(")", 1)[1].split()[0]
                        if comm.read().strip() == node and state != "Z":
                            found.append(int(pid))
                except OSError:
                    pass
            if found:
                return max(found)
            if self.process.poll() is not None:
                return None
            time.sleep(0.01)
        return None

    def children(self):
        try:
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
                return file.read().split()
        except OSError:
            return []

    def kill(self, node):
        pid = self.pid_of(node)
        if pid is None:
            return False
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    def end(self, timeout=200):
        out = self.process.stdout.read()
        self.process.wait(timeout)
        self.reader.join(10)
        self.took = time.monotonic() - self.began
        if not out.strip().startswith("{"):
            raise AssertionError(out + self.words)
        return json.loads(out)


class Restarts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.random = random.Random(SEED)

    def alone(self, words):
        done = subprocess.run([ISOCHRON, "run", *words, "--json", "--quiet", "--journal", "alone.mcap"], cwd=self.folder,
                              capture_output=True, text=True, timeout=100)
        return json.loads(done.stdout)["digest"]

    def undisturbed(self, words):
        launch = Launch(self.folder, *words, "--restarts", "9")
        report = launch.end()
        self.assertEqual(report["end"], "finished", report["why"])
        self.assertNotIn("restarts", report)
        self.assertEqual(report["digest"], self.alone(words))
        return report["digest"], launch.took

    def check(self, launch, digest, kills):
        report = launch.end()
        said = f"seed {SEED}: {report['why']}\n{launch.words}"
        self.assertEqual(report["end"], "finished", said)
        self.assertEqual(report["digest"], digest, said)
        self.assertTrue(report["digest_complete"], said)
        self.assertEqual(len(report.get("restarts", [])), kills, said)
        self.assertEqual([name for name in os.listdir(self.folder) if "again" in name or ".sent" in name], [])
        return report

    def test_a_node_that_is_killed_at_any_moment_catches_up(self):
        for name, (words, nodes) in RUNS.items():
            digest, took = self.undisturbed(words)
            for i in range(4):
                with self.subTest(run=name, kill=i, seed=SEED):
                    launch = Launch(self.folder, *words, "--restarts", "3")
                    node = self.random.choice(nodes)
                    self.assertIsNotNone(launch.pid_of(node))
                    time.sleep(took * self.random.uniform(0, 0.7))
                    killed = launch.kill(node)
                    report = self.check(launch, digest, 1 if killed else 0)
                    if killed:
                        self.assertEqual(report["restarts"][0]["node"], node)
                        self.assertIn(f"node {node} was lost: its process was killed: Killed; it is started again (1 of 3)",
                                      launch.words)

    def test_two_kills_in_one_run_at_once_and_again_while_it_catches_up(self):
        for name, (words, nodes) in RUNS.items():
            digest, took = self.undisturbed(words)
            for i in range(3):
                with self.subTest(run=name, kill=i, seed=SEED):
                    launch = Launch(self.folder, *words, "--restarts", "9")
                    one, other = self.random.sample(nodes, 2)
                    self.assertIsNotNone(launch.pid_of(other))
                    time.sleep(took * self.random.uniform(0.1, 0.5))
                    kills = [launch.kill(one), i != 0 and launch.kill(other)]
                    if i != 1:  # the same once more, soon after it has come back
                        time.sleep(0.3)
                        kills.append(launch.kill(one))
                    self.check(launch, digest, sum(kills))

    def test_when_the_restarts_are_used_up_the_run_ends_with_the_name_of_the_lost_one(self):
        words = RUNS["nbody"][0] + ["--set", "time.pace=2000x"]  # ten seconds, on a fast machine too
        for restarts in ["0", "1"]:
            launch = Launch(self.folder, *words, "--restarts", restarts)
            for _ in range(int(restarts) + 1):
                self.assertIsNotNone(launch.pid_of("red"))
                time.sleep(0.5)
                self.assertTrue(launch.kill("red"))
                time.sleep(0.2)
            killed_at = time.monotonic()
            report = launch.end()
            self.assertEqual(report["end"], "failed")
            self.assertIn("red: its process was killed: Killed", report["why"])
            if restarts == "1":
                self.assertLess(time.monotonic() - killed_at, 10)
                self.assertIn("node red failed: its process was killed: Killed; nodes were started again once in this "
                              "run, and no more than that was allowed", report["why"])
            for node in ["yellow", "green", "blue"]:
                self.assertIn(node, [n["node"] for n in report["nodes"] if n["end"] == "failed"])

    def test_worlds_robots_and_programs_catch_up_too(self):
        # At a pace: where starting takes most of the time, a node would be killed when all is over.
        for words, nodes in [([SHIPS, "--duration", "5s", "--set", "time.pace=2x"], ["world", "autopilot"]),
                             ([PYTHON_ROOM, "--duration", "600s", "--set", "time.pace=300x"], ["heater", "room"])]:
            digest, took = self.undisturbed(words)
            for node in nodes:
                with self.subTest(node=node, seed=SEED):
                    launch = Launch(self.folder, *words, "--restarts", "3")
                    self.assertIsNotNone(launch.pid_of(node))
                    time.sleep(took * self.random.uniform(0.2, 0.6))
                    self.check(launch, digest, 1 if launch.kill(node) else 0)

    def test_over_dds(self):
        # At a pace, so that it lasts as long the second time: a node that is killed at the end is not started again.
        words = RUNS["nbody"][0][:1] + ["--duration", "3000s", "--set", "time.pace=600x", "--set", "network.carrier=dds",
                                        "--set", f"network.domain={SEED % 100 + 20}"]
        digest, took = self.undisturbed(words)
        launch = Launch(self.folder, *words, "--restarts", "3")
        self.assertIsNotNone(launch.pid_of("green"))
        time.sleep(took * 0.5)
        self.check(launch, digest, 1 if launch.kill("green") else 0)

    def test_what_cannot_be_is_refused_with_its_place(self):
        file = os.path.join(self.folder, "free.yaml")
        with open(NBODY) as nbody, open(file, "w") as free:
            free.write(nbody.read() + "\nnetwork: {restarts: 3, carrier: ros}\n")
        done = subprocess.run([ISOCHRON, "check", file], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertRegex(done.stderr, r"free\.yaml:\d+:\d+.*carrier ros does not let another process take a node's place")
        for value in ["-1", "many", "99999"]:
            done = subprocess.run([ISOCHRON, "launch", NBODY, "--restarts", value], capture_output=True, text=True,
                                  cwd=self.folder)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn("restarts", done.stderr)


if __name__ == "__main__":
    print(f"seed {SEED}: repeat it with ISOCHRON_SEED={SEED}", file=sys.stderr)
    unittest.main()
