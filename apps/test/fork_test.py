#!/usr/bin/env python3
"""`isochron fork`, `isochron bisect`, and what can be changed in the middle of a run.
Usage: fork_test.py PATH_OF_ISOCHRON SOURCE_FOLDER"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

ISOCHRON, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
WORLD = f"""name: ships
duration: 4s
seed: 1
world: {{model: {SOURCE}/models/ships.xml, step: 10ms, walls: {{half_width: 25, reach: 5, stiffness: 20}}}}
"""
LIBRARIES = """robots:
  predator:
    programs:
      chaser: {library: ships_controllers, every: 10ms, compute: {modelled: {fixed: 2ms}}}
  prey:
    sensors:
      imu: {type: imu, site: prey, every: 10ms, latency: 2ms, imu: {accelerometer: {noise_density: 0.001}}}
    programs:
      controller: {library: ships_controllers, every: 10ms, compute: {modelled: {fixed: 2ms}}}
"""
EXPECT = "expect:\n  inside: always abs(prey.position.z) < 24\n  met: prey/controller.missed_deadlines == 0\n"
CONSISTENT = "time: {mode: consistent, compute: {modelled: {fixed: 2ms}}}\n"


class Case(unittest.TestCase):
    def setUp(self):
        keep = tempfile.TemporaryDirectory()
        self.addCleanup(keep.cleanup)
        self.folder = pathlib.Path(keep.name)

    def isochron(self, *args, code=0, timeout=300):
        done = subprocess.run([ISOCHRON, *args], capture_output=True, text=True, cwd=self.folder, timeout=timeout)
        self.assertEqual(done.returncode, code, f"{args}\n{done.stdout}\n{done.stderr}")
        return done

    def record(self, text, *args, name="run"):
        (self.folder / f"{name}.yaml").write_text(text)
        done = self.isochron("run", f"{name}.yaml", "--journal", f"{name}.mcap", "--json", "--quiet", "--trust", *args)
        return json.loads(done.stdout)

    def fork(self, *args, code=0):
        return json.loads(self.isochron("fork", "run.mcap", "--json", "--trust", *args, code=code).stdout)

    def replays(self, journal):
        self.assertIn("the same", self.isochron("replay", journal, "--quiet", "--trust").stdout)


class ForkTest(Case):
    def test_branches_share_the_way_and_a_branch_without_a_change_is_the_same_run(self):
        recorded = self.record(WORLD + LIBRARIES + EXPECT + CONSISTENT)
        found = self.fork("--at", "1.5s", "--branch", "same", "--branch", "gust: world.wind.velocity=[0, 0, 60]",
                          "--branch", "slow: time.cpu_speed=0.1",
                          "--branch", "push: {push: prey, force: [0, 0, 9], for: 200ms}", code=1)
        self.assertTrue(found["shared"], found)
        self.assertLess(found["began_after_s"], 0.2)
        branches = {one["branch"]: one for one in found["branches"]}
        self.assertEqual(branches["same"]["digest"], recorded["digest"])
        self.assertNotIn("first_difference_s", branches["same"])
        self.assertTrue(branches["same"]["held"])
        self.assertFalse(branches["slow"]["held"], "ten times slower, deadlines are missed")
        for name in ("gust", "slow", "push"):
            self.assertNotEqual(branches[name]["digest"], recorded["digest"])
            self.assertGreaterEqual(branches[name]["first_difference_s"], 1.5)
            self.assertLess(branches[name]["first_difference_s"], 1.6)
            self.replays(branches[name]["journal"])
        self.assertFalse((self.folder / "runs/fork_run/.way.mcap").exists())

    def test_executables_replay_the_way_for_each_branch_and_come_to_the_same(self):
        program = os.path.join(SOURCE, "experiments", "predator_prey", "predator_prey.yaml")
        done = subprocess.run([ISOCHRON, "run", program, "--journal", "run.mcap", "--json", "--quiet", "--set",
                               "time.compute={modelled: {fixed: 2ms}}", "--set",
                               "robots.predator.programs.planner.compute={modelled: {per_clock_read: 1ms}}", "--set",
                               "robots.predator.programs.planner.with.think=0.05", "--set", "duration=600ms"],
                              capture_output=True, text=True, cwd=self.folder, timeout=120)
        if done.returncode == 2:
            self.skipTest("the predator and prey programs are not built")
        recorded = json.loads(done.stdout)
        found = self.fork("--at", "300ms", "--branch", "same", "--branch", "push: {push: prey, force: [0, 0, 9], for: 100ms}")
        self.assertFalse(found["shared"])
        self.assertIn("process of its own", found["why_not_shared"])
        same, push = found["branches"]
        self.assertEqual(same["digest"], recorded["digest"])
        self.assertGreaterEqual(push["first_difference_s"], 0.3)

    def test_a_world_of_flows_branches_too(self):
        recorded = self.record(WORLD + LIBRARIES + "time: {mode: repeatable, compute: zero}\nflows: {executor: thread}\n")
        found = self.fork("--at", "1s", "--branch", "same", "--branch", "gust: world.wind.velocity=[0, 0, 60]")
        self.assertIn("flows", found["why_not_shared"])
        same, gust = found["branches"]
        self.assertEqual(same["digest"], recorded["digest"])
        self.assertGreaterEqual(gust["first_difference_s"], 1)
        self.replays(gust["journal"])

    def test_it_goes_on_for_longer(self):
        self.record(WORLD + LIBRARIES + CONSISTENT)
        found = self.fork("--at", "2s", "--until", "6s")
        self.assertEqual(found["branches"][0]["report"]["simulated_s"], 6)
        self.replays(found["branches"][0]["journal"])

    def test_a_measured_run_goes_on_with_what_it_recorded(self):
        self.record(WORLD + LIBRARIES.replace(", compute: {modelled: {fixed: 2ms}}", "") +
                    "time: {mode: consistent, privileges: without}\n")
        found = self.fork("--at", "2s", "--branch", "same", "--branch", "push: {push: prey, force: [0, 0, 9], for: 1s}")
        same, push = found["branches"]
        self.assertNotIn("first_difference_s", same)
        self.assertGreaterEqual(push["first_difference_s"], 2)
        self.replays(push["journal"])

    def test_what_cannot_be_is_said(self):
        self.record(WORLD + LIBRARIES + CONSISTENT)
        for words, said in [(("--at", "5s"), "is not before the end"), (("--at", "0s"), "must be positive"),
                            (("--at", "soon"), "as in --at 12.3s"),
                            (("--at", "1s", "--set", "world.step=5ms"), "cannot be changed in the middle of a run"),
                            (("--at", "1s", "--set", "world.wind.vel=3"), "velocity"),
                            (("--at", "1s", "--set", "{push: pray, force: [0, 0, 1], for: 1s}"), "prey"),
                            (("--at", "1s", "--set", "nonsense"), "KEY=VALUE"),
                            (("--at", "1s", "--branch", "a", "--branch", "a"), "taken")]:
            done = self.isochron("fork", "run.mcap", "--trust", *words, code=2)
            self.assertIn(said, done.stderr, words)
        self.isochron("fork", "none.mcap", "--at", "1s", code=2)


class ChangesTest(Case):
    """What a timeline can do, where the run steps the world and where the world is a node."""

    def test_wind_slow_kill_and_change(self):
        plain = self.record(WORLD + LIBRARIES + CONSISTENT, name="plain")
        for number, (entry, holds) in enumerate([
                ("{at: 1s, wind: [0, 0, 30], for: 500ms}", lambda r: True),
                ("{at: 1s, slow: prey/controller, by: 20, for: 500ms}",
                 lambda r: r["programs"][1]["missed_deadlines"] > 5),
                ("{at: 1s, kill: prey/controller}", lambda r: "killed" in r["programs"][1]["end"]),
                ("{at: 1s, change: robots.prey.actuators.fx.delay, to: 50ms}", None),
                ("{at: 1s, change: world.walls.stiffness, to: 5, for: 1s}", lambda r: True)]):
            text = WORLD + LIBRARIES + CONSISTENT + f"faults: [{entry}]\n"
            if "kill" in entry:
                text = text.replace("controller: {", "controller: {on_exit: go-on, ")
            if holds is None:
                text = text.replace("    sensors:\n", "    actuators:\n      fx: {actuator: prey/fx, delay: 1ms}\n    sensors:\n")
            report = self.record(text, name=f"run{number}")
            self.assertNotEqual(report["digest"], plain["digest"], entry)
            if holds is not None:
                self.assertTrue(holds(report), (entry, report["programs"]))
            self.replays(f"run{number}.mcap")
            difference = json.loads(self.isochron("diff", "plain.mcap", f"run{number}.mcap", "--json", code=1).stdout)
            if holds is not None:
                self.assertGreaterEqual(difference["first"]["time_ns"], 10**9, entry)

    def test_a_gust_is_over_when_it_is_over(self):
        (self.folder / "run.yaml").write_text(WORLD + "faults: [{at: 1s, wind: [0, 0, 30], for: 500ms}]\n")
        self.isochron("run", "run.yaml", "--journal", "run.mcap", "--quiet")
        rows = [line.split(",") for line in
                self.isochron("journal", "export", "run.mcap", "prey.velocity.z").stdout.splitlines()[1:]]
        speed = {int(time): float(value) for time, value in rows}
        self.assertEqual(speed[1_000_000_000], 0)
        self.assertGreater(speed[1_500_000_000], 0)
        self.assertAlmostEqual(speed[1_500_000_000], speed[1_900_000_000], places=6)

    def test_a_timeline_where_the_world_is_a_node(self):
        flows = "time: {mode: repeatable, compute: zero}\n"
        plain = self.record(WORLD + LIBRARIES + flows + "flows: {executor: thread}\n", name="plain")
        for number, entry in enumerate(["{at: 1s, push: prey, force: [0, 0, 9], for: 200ms}",
                                        "{at: 1s, cut: prey, for: 500ms}", "{at: 1s, wind: [0, 0, 30], for: 500ms}",
                                        "{at: 1s, delay: prey/controller, for: 50ms}"]):
            digests = set()
            for executor in ("thread", "threads"):
                report = self.record(WORLD + LIBRARIES + flows + f"flows: {{executor: {executor}}}\nfaults: [{entry}]\n",
                                     name=f"run{number}")
                digests.add(report["digest"])
            self.assertEqual(len(digests), 1, entry)
            self.assertNotIn(plain["digest"], digests, entry)
            self.replays(f"run{number}.mcap")
        done = self.isochron("run", str(self.folder / "plain.yaml"), "--set", "faults=[{at: 1s, disk: full}]", code=2)
        self.assertIn("has no effect", done.stderr)

    def test_a_run_of_flows_that_a_violation_ends_replays(self):
        text = WORLD + LIBRARIES + "time: {mode: repeatable, compute: zero}\nexpect:\n  near: always prey.position.x > -100 and time < 1s\n" \
            "on_violation: end\n"
        for executor in ("thread", "threads", "pool"):
            (self.folder / "run.yaml").write_text(text + f"flows: {{executor: {executor}}}\n")
            self.isochron("run", "run.yaml", "--journal", "run.mcap", "--quiet", code=1)
            self.replays("run.mcap")


class BisectTest(Case):
    def test_the_slowest_cpu(self):
        (self.folder / "run.yaml").write_text(WORLD.replace("4s", "1s") + LIBRARIES + EXPECT + CONSISTENT)
        found = json.loads(self.isochron("bisect", "run.yaml", "--over", "time.cpu_speed=0.05..1", "--tolerance", "0.01",
                                         "--json", "--trust").stdout)
        # 2 ms of computing fit into 10 ms where the computer is five times slower.
        self.assertAlmostEqual(float(found["holds"]), 0.2, delta=0.02)
        self.assertLess(float(found["fails"]), float(found["holds"]))

    def test_the_largest_cost_with_a_unit(self):
        (self.folder / "run.yaml").write_text(WORLD.replace("4s", "1s") + LIBRARIES + EXPECT + CONSISTENT)
        found = json.loads(self.isochron(
            "bisect", "run.yaml", "--over", "robots.prey.programs.controller.compute.modelled.fixed=1ms..40ms",
            "--json", "--trust").stdout)
        self.assertTrue(found["holds"].endswith("s"))
        self.assertIn(found["holds"][:2], ("9.", "10"))

    def test_the_first_time_that_a_change_makes_a_difference(self):
        self.record(WORLD + "faults: [{at: 2s, push: prey, force: [0, 0, 9], for: 1s}]\n")
        found = json.loads(self.isochron("bisect", "run.mcap", "--set", "world.walls.half_width=11", "--json").stdout)
        self.assertTrue(found["found"])
        nothing = self.isochron("bisect", "run.mcap", "--set", "world.walls.half_width=26", "--by", "prey.position.x",
                                "--tolerance", "100", code=1)
        self.assertIn("no difference", nothing.stdout)

    def test_the_last_time_at_which_a_change_still_matters(self):
        self.record(WORLD + "expect:\n  low: always prey.position.z < 1\n")
        found = json.loads(self.isochron("bisect", "run.mcap", "--at", "0.5s..3.9s", "--set",
                                         "{push: prey, force: [0, 0, 2], for: 300ms}", "--tolerance", "50ms", "--json").stdout)
        self.assertTrue(found["found"], found)
        self.assertGreater(float(found["holds"].rstrip("s")), float(found["fails"].rstrip("s")))

    def test_no_border_is_said(self):
        (self.folder / "run.yaml").write_text(WORLD.replace("4s", "100ms") + "expect:\n  x: always prey.position.x > -100\n")
        done = self.isochron("bisect", "run.yaml", "--over", "world.walls.stiffness=1..2", code=1)
        self.assertIn("everything holds at both ends", done.stdout)
        done = self.isochron("bisect", "run.yaml", "--over", "world.walls.stiffness=2..1", code=2)
        self.assertIn("KEY=LOW..HIGH", done.stderr)


class MathTest(Case):
    def test_portable_mathematics_are_pinned_for_the_run_and_its_replay(self):
        report = self.record(WORLD + LIBRARIES + CONSISTENT.replace("}}}", "}}, math: portable}"))
        self.replays("run.mcap")
        variable = {**os.environ, "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F"}
        done = subprocess.run([ISOCHRON, "run", "run.yaml", "--journal", "b.mcap", "--json", "--quiet"], cwd=self.folder,
                              env=variable, capture_output=True, text=True, timeout=120)
        self.assertEqual(json.loads(done.stdout)["digest"], report["digest"])

    def test_another_cpu_gives_the_same_digest(self):
        qemu = next((p for p in ("/usr/bin/qemu-x86_64", "/usr/bin/qemu-x86_64-static") if os.path.exists(p)), None)
        if qemu is None:
            self.skipTest("there is no qemu-x86_64")
        variable = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F"
        cars = os.path.join(SOURCE, "examples", "cars", "cars.yaml")

        def digest(kind, *before):
            environment = {**os.environ, "GLIBC_TUNABLES": variable if kind == "portable" else ""}  # qemu cannot exec
            done = subprocess.run([*before, ISOCHRON, "run", cars, "--duration", "1s", "--set", f"time.math={kind}", "--json",
                                   "--quiet", "--journal", f"{kind}{len(before)}.mcap"], cwd=self.folder, env=environment,
                                  capture_output=True, text=True, timeout=250)
            if "no shared library" in done.stderr:
                self.skipTest("the controller of examples/cars is not built")
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)["digest"]

        self.assertEqual(digest("portable"), digest("portable", qemu, "-cpu", "Nehalem"))
        out = self.isochron("diff", "portable0.mcap", "portable3.mcap").stdout
        self.assertIn("equal", out)
        self.assertNotIn("mathematics", out)
        print("native:", digest("native"), "and on Nehalem:", digest("native", qemu, "-cpu", "Nehalem"))

    def test_diff_says_what_the_runs_were_made_of(self):
        self.record(WORLD, name="a")
        model = (pathlib.Path(SOURCE) / "models/ships.xml").read_text()
        (self.folder / "other.xml").write_text(model + "<!-- another -->\n")
        self.record(WORLD + "# a remark\n", name="b")
        out = self.isochron("diff", "a.mcap", "b.mcap").stdout
        self.assertIn("the scenario as it was run differs", out)
        self.assertLess(out.index("made of"), out.index("equal"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
