#!/usr/bin/env python3
"""Whole runs through the command: file to journal to diff. Usage: run_test.py ISOCHRON SOURCE_DIR"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ISOCHRON, SOURCE = sys.argv.pop(1), sys.argv.pop(1)


def run(*args, **kwargs):
    return subprocess.run([ISOCHRON, *args], capture_output=True, text=True, timeout=100, **kwargs)


def scenario(name):
    return os.path.join(SOURCE, name)


class RunTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def result_of(self, file, journal, *args):
        result = run("run", scenario(file), "--json", "--journal", self.path(journal), *args)
        self.assertEqual(result.returncode, 0, result.stderr + result.stdout)
        return json.loads(result.stdout)

    def test_callback_runs_repeat_and_diff_finds_the_first_difference(self):
        ships = "examples/ships/ships.yaml"
        a = self.result_of(ships, "a.mcap", "--duration", "1s")
        b = self.result_of(ships, "b.mcap", "--duration", "1s")
        c = self.result_of(ships, "c.mcap", "--duration", "1s", "--seed", "2")
        self.assertEqual(a["digest"], b["digest"])
        self.assertNotEqual(a["digest"], c["digest"])
        self.assertEqual(run("diff", self.path("a.mcap"), self.path("b.mcap")).returncode, 0)
        different = run("diff", self.path("a.mcap"), self.path("c.mcap"), "--json")
        self.assertEqual(different.returncode, 1)
        self.assertEqual(json.loads(different.stdout)["first"]["topic"], "/programs/prey/controller")
        self.assertEqual(a["simulated_s"], 1.0)
        self.assertEqual([p["activations"] for p in a["programs"]], [100, 100])

    def test_replay_proves_the_digest_and_finds_what_differs(self):
        journal = self.path("a.mcap")
        a = self.result_of("examples/ships/ships.yaml", "a.mcap", "--duration", "1s", "--set", "world.walls.half_width=20")
        again = run("replay", journal, "--json", cwd=self.folder.name)
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        proof = json.loads(again.stdout)
        self.assertTrue(proof["same"])
        self.assertEqual(proof["replayed_digest"], a["digest"])
        self.assertFalse(os.path.exists(self.path("a.replay.mcap")))  # it says nothing new
        b = self.result_of("examples/nbody/nbody.yaml", "b.mcap", "--duration", "500s", "--seed", "7")
        proof = json.loads(run("replay", self.path("b.mcap"), "--json", "--journal", self.path("c.mcap")).stdout)
        self.assertTrue(proof["same"], b)
        self.assertTrue(os.path.exists(self.path("c.mcap")))
        refused = run("replay", journal, "--journal", journal)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("overwritten", refused.stderr)

    def test_a_free_run_is_not_replayed(self):
        self.result_of("examples/nbody/nbody.yaml", "free.mcap", "--duration", "100s", "--set", "flows.executor=free")
        refused = run("replay", self.path("free.mcap"))
        self.assertEqual(refused.returncode, 2)
        self.assertIn("does not repeat", refused.stderr)

    def test_both_engines_run_the_same_scenario(self):
        result = self.result_of("examples/ships/ships.yaml", "ode.mcap", "--duration", "1s", "--set", "world.engine=ode")
        self.assertEqual(result["end"], "finished")

    def test_pace_changes_when_not_what(self):
        ships = "examples/ships/ships.yaml"
        free = self.result_of(ships, "free.mcap", "--duration", "500ms")
        paced = self.result_of(ships, "paced.mcap", "--duration", "500ms", "--pace", "2x")
        self.assertEqual(free["digest"], paced["digest"])
        self.assertGreater(paced["wall_s"], 0.2)

    def test_ctrl_c_leaves_a_whole_journal(self):
        journal = self.path("stopped.mcap")
        child = subprocess.Popen([ISOCHRON, "run", scenario("examples/ships/ships.yaml"), "--duration", "600s", "--pace", "1x",
                                  "--json", "--journal", journal], stdout=subprocess.PIPE, text=True)
        time.sleep(1.5)
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=30)
        self.assertEqual(child.returncode, 130)
        self.assertEqual(json.loads(out)["end"], "interrupted")
        self.assertTrue(json.loads(run("journal", "info", journal, "--json").stdout)["whole"])

    def test_a_killed_run_is_recovered(self):
        journal = self.path("killed.mcap")
        child = subprocess.Popen([ISOCHRON, "run", scenario("examples/ships/ships.yaml"), "--duration", "600s", "--pace", "1x",
                                  "--quiet", "--journal", journal], stdout=subprocess.DEVNULL)
        time.sleep(2.5)
        child.kill()
        child.wait(timeout=30)
        self.assertFalse(json.loads(run("journal", "info", journal, "--json").stdout)["whole"])
        self.assertEqual(run("journal", "recover", journal).returncode, 0)
        info = json.loads(run("journal", "info", journal, "--json").stdout)
        self.assertTrue(info["whole"])
        self.assertGreater(info["records"], 50)

    def test_flows_have_one_digest_however_they_run(self):
        digests = {self.result_of("examples/nbody/nbody.yaml", how + ".mcap", "--duration", "500s", "--set",
                                  "flows.executor=" + how)["digest"]
                   for how in ("thread", "pool", "threads", "processes", "tcp")}
        self.assertEqual(len(digests), 1)

    def test_a_world_with_sensors_and_controllers_runs_as_flows(self):
        digests = {self.result_of("examples/ships_flows/ships_flows.yaml", "ships_" + how + ".mcap", "--duration", "300ms",
                                  "--set", "flows.executor=" + how)["digest"] for how in ("thread", "processes")}
        self.assertEqual(len(digests), 1)

    def test_a_deadlock_is_refused_before_anything_starts(self):
        result = run("check", scenario("examples/nbody/nbody.yaml"), "--set", "nodes.blue.inputs={}")
        self.assertEqual(result.returncode, 2)
        self.assertIn("blue", result.stderr)

    def test_a_read_only_folder_and_a_bad_journal_are_told(self):
        result = run("run", scenario("examples/ships/ships.yaml"), "--journal", "/proc/x.mcap")
        self.assertEqual(result.returncode, 2)
        self.assertIn("the journal cannot be written", result.stderr)
        with open(self.path("random.mcap"), "wb") as file:
            file.write(os.urandom(4096))
        self.assertEqual(run("diff", self.path("random.mcap"), self.path("random.mcap")).returncode, 2)

    def test_modelled_programs_repeat(self):
        args = ("--duration", "500ms", "--set", "time.mode=repeatable", "--set",
                "time.compute={modelled: {fixed: 1ms, per_clock_read: 10ms}}")
        first = self.result_of("experiments/predator_prey/predator_prey.yaml", "m1.mcap", *args)
        second = self.result_of("experiments/predator_prey/predator_prey.yaml", "m2.mcap", *args)
        self.assertEqual(first["digest"], second["digest"])

    def test_a_measured_run_replays_to_its_own_digest(self):
        file = "experiments/predator_prey/predator_prey.yaml"
        measured = self.result_of(file, "measured.mcap", "--duration", "1500ms")
        self.assertLess(measured["drift_max_ns"], 60_000_000)
        replayed = self.result_of(file, "replayed.mcap", "--duration", "1500ms", "--set", "time.mode=repeatable", "--set",
                                  "time.compute={recorded: " + self.path("measured.mcap") + "}")
        self.assertEqual(measured["digest"], replayed["digest"])

    def test_a_real_user_without_privileges_gets_a_degraded_run_that_says_so(self):
        setpriv = shutil.which("setpriv")
        if os.geteuid() != 0 or setpriv is None:
            self.skipTest("needs root, to become somebody without privileges")
        os.chmod(self.folder.name, 0o777)

        def as_nobody(*args):
            return subprocess.run([setpriv, "--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps=-all",
                                   ISOCHRON, *args], capture_output=True, text=True, timeout=100)

        if as_nobody("--help").returncode != 0:
            self.skipTest("the build's folder is not open to others")
        file = scenario("experiments/predator_prey/predator_prey.yaml")
        doctor = json.loads(as_nobody("doctor", "--json").stdout)
        fifo = [f for f in doctor["findings"] if "SCHED_FIFO" in f["what"]][0]
        self.assertFalse(fifo["good"])
        self.assertIn("consistent mode falls back", fifo["cost"])
        args = ("run", file, "--json", "--duration", "500ms", "--set", "robots.predator.programs.planner.with.think=0.1")
        measured = as_nobody(*args, "--journal", self.path("weak.mcap"))
        self.assertEqual(measured.returncode, 0, measured.stderr + measured.stdout)
        report = json.loads(measured.stdout)
        self.assertIn("degraded", report["control"])
        self.assertTrue(any("degraded" in note for note in report["notes"]), report["notes"])
        self.assertGreater(report["programs"][1]["executed_s"], 0.3)
        replayed = as_nobody(*args, "--journal", self.path("again.mcap"), "--set",
                             "time.compute={recorded: " + self.path("weak.mcap") + "}")
        self.assertEqual(json.loads(replayed.stdout)["digest"], report["digest"])
        refused = as_nobody(*args, "--journal", self.path("no.mcap"), "--set", "time.privileges=insist")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("needs real-time privileges", refused.stderr)

    def test_where_the_wall_time_went_adds_up(self):
        report = self.result_of("experiments/predator_prey/predator_prey.yaml", "sum.mcap", "--duration", "300ms")
        self.assertAlmostEqual(sum(report["wall_shares_s"].values()), report["wall_s"], places=6)

    def test_robots_with_several_cores(self):
        args = ("--duration", "500ms", "--set", "robots.predator.cores=2", "--set", "time.compute={modelled: {fixed: 1ms}}",
                "--set", "robots.predator.programs.planner.compute={modelled: {per_clock_read: 10ms}}")
        file = "experiments/predator_prey/predator_prey.yaml"
        together = self.result_of(file, "one.mcap", *args)
        apart = self.result_of(file, "two.mcap", *args, "--set", "robots.predator.programs.planner.core=1")
        preempted = [[p["preemptions"] for p in r["programs"] if p["name"] == "predator/planner"][0] for r in (together, apart)]
        self.assertGreater(preempted[0], 10)
        self.assertEqual(preempted[1], 0)
        wrong = run("check", scenario(file), "--set", "robots.predator.programs.planner.core=3")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("beyond the robot's 1", wrong.stderr)


if __name__ == "__main__":
    unittest.main()
