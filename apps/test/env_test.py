#!/usr/bin/env python3
"""isochron.Env, isochron.fork and isochron.bisect in Python. Usage: env_test.py PATH_OF_ISOCHRON SOURCE_FOLDER BUILD_FOLDER"""
import os
import pathlib
import sys
import tempfile
import time
import unittest

ISOCHRON, SOURCE, BUILD = (os.path.abspath(path) for path in sys.argv[1:4])
sys.path.insert(0, os.path.join(SOURCE, "client", "python"))
os.environ["ISOCHRON"] = ISOCHRON
os.environ["ISOCHRON_ENV_LIBRARY"] = os.path.join(BUILD, "lib", "libisochron_env.so")
try:
    import numpy
except ImportError:
    sys.exit(77)
import isochron  # noqa: E402

SHIPS = os.path.join(SOURCE, "examples", "ships", "ships.yaml")
ALONE = f"name: ships\nduration: 1s\nworld: {{model: {SOURCE}/models/ships.xml, step: 10ms}}\n"


class EnvTest(unittest.TestCase):
    def setUp(self):
        keep = tempfile.TemporaryDirectory()
        self.addCleanup(keep.cleanup)
        self.folder = pathlib.Path(keep.name)
        (self.folder / "alone.yaml").write_text(ALONE)
        self.alone = self.folder / "alone.yaml"

    def test_it_is_stepped_and_reset_and_ends_with_its_duration(self):
        env = isochron.Env(self.alone, observe=["prey.position.z", "prey.velocity.z"], act=["prey/fz"], steps=10,
                           reward=lambda seen, action, before: -abs(seen[:, 0]))
        self.assertEqual(env.observed, ["prey.position.z", "prey.velocity.z"])
        self.assertAlmostEqual(env.dt, 0.1)
        first, info = env.reset(seed=3)
        count, truncated = 0, False
        while not truncated:
            seen, reward, terminated, truncated, info = env.step([1.0])
            self.assertFalse(terminated)
            self.assertEqual(reward, -abs(seen[0]))
            count += 1
        self.assertEqual(count, 10)
        self.assertAlmostEqual(info["time"], 1)
        self.assertGreater(seen[0], first[0])
        again, _ = env.reset()
        numpy.testing.assert_array_equal(again, first)
        env.close()

    def test_the_same_actions_give_the_same_and_a_run_gives_it_too(self):
        with isochron.Env(SHIPS, set={"duration": "2s"}, act=["prey/tx"]) as env:
            results = []
            for _ in range(2):
                env.reset(seed=1)
                for _ in range(100):
                    seen = env.step(numpy.zeros(len(env.acted)))[0]
                results.append(seen)
            numpy.testing.assert_array_equal(*results)
            run = isochron.run(SHIPS, duration=1)
            for name in ("prey.position.x", "predator.velocity.y"):
                recorded = run.journal.numbers(name)[name]
                self.assertEqual(seen[env.observed.index(name)], float(recorded[-1]), name)

    def test_many_worlds_begin_again_by_themselves(self):
        env = isochron.Env(self.alone, observe=["prey.position.z"], act=["prey/fz"], steps=50, worlds=4,
                           terminated=lambda seen: seen[:, 0] > 0.4)
        seen, _ = env.reset(seed=1)
        self.assertEqual(seen.shape, (4, 1))
        for _ in range(2):
            seen, reward, terminated, truncated, info = env.step([[0.0], [1.0], [2.0], [0.0]])
        self.assertTrue(truncated.any() or terminated.any())
        self.assertIn("final_observation", info)
        self.assertEqual(seen[0, 0], 0)

    def test_a_snapshot_is_come_back_to(self):
        env = isochron.Env(self.alone, observe=["prey.position.z"], act=["prey/fz"])
        env.reset()
        for _ in range(10):
            env.step([1.0])
        there = env.snapshot()
        ends = []
        for _ in range(2):
            env.restore(there)
            for _ in range(10):
                seen = env.step([1.0])[0]
            ends.append(seen[0])
        self.assertEqual(*ends)

    def test_mistakes_are_said(self):
        for arguments, said in [({"observe": ["pray.position.x"]}, "prey.position.x"), ({"act": ["prey/fq"]}, "prey/f"),
                                ({"set": {"world.stop": "1ms"}}, "step")]:
            with self.assertRaises(isochron.CommandError) as caught:
                isochron.Env(self.alone, **arguments)
            self.assertIn(said, str(caught.exception))

    def test_it_costs_little_more_than_the_bare_stage(self):
        for scenario, steps, worlds in [(self.alone, 10, 16), (SHIPS, 10, 16)]:
            env = isochron.Env(scenario, steps=steps, worlds=worlds, set={"duration": "1000s"},
                               observe=["prey.position.x", "prey.position.y", "prey.position.z"])
            env.reset()
            action = numpy.zeros((worlds, len(env.acted)))
            best = 0.0
            for _ in range(5):
                rounds = 100
                start = time.perf_counter()
                for _ in range(rounds):
                    env.step(action)
                own = time.perf_counter() - start
                best = max(best, env.bare_seconds(rounds * worlds) / own)
            print(f"{scenario}: {best:.2f} of the bare stage")
            self.assertGreater(best, 0.8)  # 0.9 on a quiet machine


class ExampleTest(unittest.TestCase):
    def test_the_example_learns(self):
        import subprocess
        done = subprocess.run([sys.executable, os.path.join(SOURCE, "examples", "learn", "learn.py")], capture_output=True,
                              text=True, env={**os.environ, "PYTHONPATH": os.path.join(SOURCE, "client", "python")})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("after", done.stdout)


class WhatIfTest(unittest.TestCase):
    def test_fork_and_bisect(self):
        with tempfile.TemporaryDirectory() as folder:
            scenario = os.path.join(folder, "a.yaml")
            with open(scenario, "w") as file:
                file.write(ALONE + "expect:\n  low: always prey.position.z < 1\n")
            journal = os.path.join(folder, "a.mcap")
            run = isochron.run(scenario, journal=journal)
            runs = isochron.fork(journal, 0.5, {"same": [], "pushed": ["{push: prey, force: [0, 0, 20], for: 400ms}"]})
            self.assertEqual(runs["same"].digest, run.digest)
            self.assertIsNone(runs["same"].report["first_difference_s"])
            self.assertGreaterEqual(runs["pushed"].report["first_difference_s"], 0.5)
            self.assertTrue(runs["pushed"].journal["/world/state"] is not None)
            found = isochron.bisect(journal, at=(0.2, 0.9), set=["{push: prey, force: [0, 0, 30], for: 400ms}"],
                                    tolerance="50ms")
            self.assertIn("found", found)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
