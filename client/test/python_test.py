#!/usr/bin/env python3
"""The Python package as a user has it, with Debian's python3 and numpy. Usage: python_test.py BUILD_DIR SOURCE_DIR"""
import os
import subprocess
import sys
import tempfile
import unittest

BUILD, SOURCE = sys.argv.pop(1), sys.argv.pop(1)
sys.path.insert(0, os.path.join(SOURCE, "client", "python"))
os.environ["ISOCHRON"] = os.path.join(BUILD, "bin", "isochron")
SHIPS = os.path.join(SOURCE, "examples", "ships", "ships.yaml")

import isochron  # noqa: E402
import numpy as np  # noqa: E402


class PythonTest(unittest.TestCase):
    def test_a_run_becomes_arrays(self):
        run = isochron.run(SHIPS, duration=1)
        self.assertEqual(run.end, "finished")
        journal = run.journal
        self.assertEqual(journal.digest, run.digest)
        self.assertIn("name: ships", journal.scenario)
        state = journal["/world/state"]
        self.assertEqual(state["bodies"].shape, (101, 39))
        np.testing.assert_allclose(state.time, np.arange(101) * 0.01, atol=1e-12)
        imu = journal["/prey/imu"]  # every field at a fixed place: read as one block
        self.assertEqual(imu["angular_velocity.x"].dtype, np.float64)
        self.assertEqual(len(imu.time), journal.topics["/prey/imu"].count)

    def test_fixed_and_variable_layouts_agree_with_the_command(self):
        run = isochron.run(SHIPS, duration=0.2)
        for topic, field in (("/world/state", "positions[3]"), ("/prey/imu", "linear_acceleration.y")):
            out = subprocess.run([os.environ["ISOCHRON"], "journal", "export", run.file, topic, field],
                                 capture_output=True, text=True, check=True).stdout
            said = [float(line.split(",")[1]) for line in out.splitlines()[1:]]
            column, _, index = field.partition("[")
            ours = run.journal[topic][column]
            ours = ours[:, int(index[:-1])] if index else ours
            np.testing.assert_allclose(ours, said, rtol=1e-9)

    def test_mistakes_are_said_in_words(self):
        with self.assertRaisesRegex(isochron.CommandError, "no_such"):
            isochron.run(SHIPS, set={"no_such": 1})
        run = isochron.run(SHIPS, duration="50ms")
        with self.assertRaisesRegex(KeyError, "/world/state"):
            run.journal["/nothing"]
        with self.assertRaisesRegex(KeyError, "bodies"):
            run.journal["/world/state"]["nothing"]
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"this is no journal at all")
            file.flush()
            with self.assertRaises(isochron.JournalError):
                isochron.load(file.name)

    def test_a_journal_that_was_cut_gives_what_it_has(self):
        run = isochron.run(SHIPS, duration=1)
        with open(run.file, "rb") as file:
            data = file.read()
        with tempfile.NamedTemporaryFile() as cut:
            cut.write(data[:len(data) - len(data) // 20])
            cut.flush()
            self.assertGreater(len(isochron.load(cut.name).topics), 0)

    def test_sweeps_and_replays(self):
        with tempfile.TemporaryDirectory() as folder:
            runs = isochron.sweep(SHIPS, {"seed": [1, 2], "world.step": ["10ms"]}, duration=0.1, folder=folder)
            self.assertEqual([r.settings["seed"] for r in runs], [1, 2])
            self.assertNotEqual(runs[0].digest, runs[1].digest)
            self.assertEqual(len(os.listdir(folder)), 2)
            self.assertTrue(isochron.replay(runs[1].file)["same"])

    def test_a_run_is_stepped_read_and_acted_on_and_replays(self):
        with tempfile.TemporaryDirectory() as folder:
            journal = os.path.join(folder, "stepped.mcap")
            with isochron.start(SHIPS, duration=0.5, seed=3, journal=journal) as ships:
                self.assertTrue(ships.step())
                self.assertAlmostEqual(ships.time, 0.01)
                self.assertTrue(ships.step(9))
                self.assertAlmostEqual(ships.time, 0.1)
                state = ships.read("/world/state")
                self.assertAlmostEqual(state["stamp.sec"] + state["stamp.nanosec"] * 1e-9, 0.1)
                self.assertIn("/prey/imu", ships.topics())
                self.assertIsNotNone(ships.read("/prey/imu"))  # it has looked
                ships.set("predator/fy", 3.0)
                ships.push("prey", [0, 0, 50], seconds=0.1)
                ships.fault("cut", "prey", seconds=0.2)
                with self.assertRaises(ValueError):
                    ships.fault("no_such", "prey", 1)
                ships.step(10)
                before = ships.read("/world/state")["bodies"].reshape(-1, 13)
                self.assertGreater(before[2, 9], 4)  # pushed upwards: 50 N for 0.1 s on 1 kg
                while ships.step():
                    pass
                self.assertFalse(ships.step())
            self.assertEqual(ships.run.end, "finished")
            self.assertAlmostEqual(ships.run.report["simulated_s"], 0.5)
            marks = ships.run.journal["/isochron/marks"]
            self.assertEqual(list(marks["what"]), ["set", "push", "cut"])
            self.assertTrue(isochron.replay(journal)["same"])
            plain = isochron.run(SHIPS, duration=0.5, seed=3)
            self.assertNotEqual(plain.digest, ships.run.digest)

    def test_an_executable_that_computes_longer_misses_releases_and_replays(self):
        with tempfile.TemporaryDirectory() as folder:
            journal, scenario = os.path.join(folder, "late.mcap"), os.path.join(folder, "prey.yaml")
            with open(scenario, "w") as file:
                file.write(f"name: prey\nduration: 400ms\nworld: {{model: {SOURCE}/models/ships.xml, step: 1ms}}\n"
                           "robots:\n  prey: {programs: {controller: {run: [prey_controller], every: 10ms}}}\n"
                           "  predator: {programs: {controller: {run: [prey_controller], every: 10ms}}}\n"
                           "time: {mode: repeatable, compute: zero}\n")
            with isochron.start(scenario, journal=journal) as chase:
                chase.step(100)  # of a millisecond
                chase.fault("delay", "prey/controller", seconds=0.055)
                chase.go_on()
            prey = next(p for p in chase.run.report["programs"] if p["name"] == "prey/controller")
            self.assertEqual(prey["overruns"], 1)
            self.assertGreaterEqual(prey["missed_deadlines"], 4)  # of 10 ms each
            self.assertTrue(isochron.replay(journal)["same"])

    def test_stepping_changes_no_result_and_mistakes_are_said_before(self):
        with isochron.start(SHIPS, duration=0.2) as ships:
            ships.step(5)
            ships.go_on()
        self.assertEqual(ships.run.digest, isochron.run(SHIPS, duration=0.2).digest)
        with self.assertRaisesRegex(isochron.CommandError, "no_such"):
            isochron.start(SHIPS, set={"no_such": 1})
        with isochron.start(SHIPS) as ships:
            ships.step()
        self.assertEqual(ships.run.end, "interrupted")

    def test_a_robot_program_needs_no_numpy(self):
        out = subprocess.run([sys.executable, "-c", "import sys; import isochron; isochron.attach; print('numpy' in sys.modules)"],
                             capture_output=True, text=True, env={**os.environ, "PYTHONPATH": sys.path[0]})
        self.assertEqual(out.stdout.strip(), "False", out.stderr)


if __name__ == "__main__":
    unittest.main()
