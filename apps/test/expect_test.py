#!/usr/bin/env python3
"""`isochron test`, `expect:` and names, from the command line. Usage: expect_test.py PATH_OF_ISOCHRON SOURCE_FOLDER

No programs are needed: pushes of the timeline move the ships.
"""
import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

ISOCHRON, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])

SCENARIO = f"""name: ships
duration: 1s
world: {{model: {SOURCE}/models/ships.xml, step: 10ms}}
faults: [{{at: 200ms, push: prey, force: [0, 0, 5], for: 100ms}}]
"""
GOOD = "expect:\n  apart: always distance(prey, predator) > 9\n"
BAD = "expect:\n  apart: always distance(prey, predator) > 9\n  still: always prey.position.z < 0.1\n"


class TestVerb(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_isochron(self, *args, **environment):
        return subprocess.run([ISOCHRON, *args], capture_output=True, text=True, cwd=self.folder.name, timeout=120,
                              env={**{k: v for k, v in os.environ.items() if k != "GITHUB_ACTIONS"}, **environment})

    def file(self, name, text):
        (pathlib.Path(self.folder.name) / name).write_text(text)
        return name

    def read(self, name):
        return (pathlib.Path(self.folder.name) / name).read_text()

    def test_what_holds_passes_and_what_does_not_fails(self):
        good, bad = self.file("good.yaml", SCENARIO + GOOD), self.file("bad.yaml", SCENARIO + BAD)
        self.assertEqual(self.run_isochron("test", good).returncode, 0)
        both = self.run_isochron("test", good, bad, "--junit", "junit.xml")
        self.assertEqual(both.returncode, 1, both.stderr)
        self.assertIn("PASS good.yaml  2 of 2 cases", both.stdout)
        self.assertIn("FAIL bad.yaml  2 of 3 cases", both.stdout)
        self.assertIn("still: violated at", both.stdout)
        self.assertIn("1 of 2 passed", both.stdout)
        root = xml.etree.ElementTree.fromstring(self.read("junit.xml"))
        self.assertEqual((root.get("tests"), root.get("failures"), root.get("errors")), ("5", "1", "0"))
        failure = root.find(".//testcase[@name='still']/failure")
        self.assertIn("prey.position.z = ", failure.get("message"))
        self.assertIn("bad.yaml:7:10", failure.text)
        shown = json.loads(self.run_isochron("test", good, bad, "--json").stdout)
        self.assertEqual([r["end"] for r in shown["results"]], ["passed", "failed"])

    def test_run_says_it_and_ends_with_1(self):
        bad = self.file("bad.yaml", SCENARIO + BAD)
        run = self.run_isochron("run", bad, "--journal", "bad.mcap")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("violated  still: violated at", run.stdout)
        self.assertIn("held      apart: held at 101 samples", run.stdout)
        self.assertIn("1 of 2 expectations does not hold: still", run.stderr)
        again = self.run_isochron("test", "bad.mcap")
        self.assertEqual(again.returncode, 1, again.stderr)
        live = next(line for line in run.stdout.splitlines() if "still:" in line).split("still: ")[1]
        self.assertIn(live, again.stdout)  # the journal says what the run said
        other = self.file("other.yaml", "expect: [eventually prey.position.z > 0.1 within 900ms]\n")
        self.assertEqual(self.run_isochron("test", "bad.mcap", "--expect", other).returncode, 0)

    def test_the_report_page_shows_the_verdicts(self):
        bad = self.file("bad.yaml", SCENARIO + BAD)
        self.run_isochron("run", bad, "--journal", "bad.mcap", "--quiet")
        self.assertEqual(self.run_isochron("report", "bad.mcap", "-o", "r.html").returncode, 0)
        page = self.read("r.html")
        self.assertIn("<h2>Expectations</h2>", page)
        self.assertIn("<code>always prey.position.z &lt; 0.1</code>", page)
        self.assertIn('<span class="pill bad">violated</span>', page)

    def test_sweeps_over_any_keys_give_one_table(self):
        bad = self.file("bad.yaml", SCENARIO + BAD)
        sweep = self.run_isochron("sweep", bad, "--over", "duration=100ms,1s", "--over", "world.step=5ms..10ms/2", "--trials",
                                  "2", "-o", "s", "--json")
        self.assertEqual(sweep.returncode, 0, sweep.stderr)
        shown = json.loads(sweep.stdout)["speeds"]
        self.assertEqual([row["settings"] for row in shown],
                         [{"duration": d, "world.step": s} for d in ("100ms", "1s") for s in ("5ms", "10ms")])
        self.assertEqual([row["all_held"] for row in shown], [2, 2, 0, 0])
        with open(os.path.join(self.folder.name, "s/sweep.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 8)
        self.assertEqual([row["not_held"] for row in rows], [""] * 4 + ["still"] * 4)
        again = self.run_isochron("sweep", bad, "--over", "duration=100ms,1s", "--over", "world.step=5ms..10ms/2", "--trials",
                                  "2", "-o", "s")
        self.assertIn("8 of 8 runs were done before", again.stderr)
        drawn = [json.loads(self.run_isochron("sweep", bad, "--over", "world.step=5ms..10ms", "--random", "3", "--trials", "1",
                                              "-o", folder, "--json").stdout)["speeds"] for folder in ("r1", "r2")]
        self.assertEqual(drawn[0], drawn[1])
        self.assertEqual(len({row["settings"]["world.step"] for row in drawn[0]}), 3)
        for wrong in ("duration", "duration=", "duration=1s..2s", "duration=1s..2ms/3", "world.stepp=1ms", "seed=1,2",
                      "duration=2s..1s/3", "duration=1s..2s/1", "duration=1s,,2s"):
            refused = self.run_isochron("sweep", bad, "--over", wrong, "-o", "w")
            self.assertEqual(refused.returncode, 2, wrong)
            self.assertTrue(refused.stderr, wrong)

    def test_a_schedule_is_a_trace(self):
        good = self.file("good.yaml", SCENARIO + GOOD)
        self.run_isochron("run", good, "--journal", "x.mcap", "--quiet")
        none = self.run_isochron("journal", "export", "x.mcap", "--trace")
        self.assertEqual(none.returncode, 2)
        self.assertIn("has no schedule", none.stderr)
        self.assertEqual(self.run_isochron("journal", "export", "x.mcap").returncode, 2)
        programs = os.path.join(SOURCE, "experiments/predator_prey/predator_prey.yaml")
        run = self.run_isochron("run", programs, "--duration", "100ms", "--journal", "p.mcap", "--quiet", "--set",
                                "time.mode=repeatable", "--set", "time.compute={modelled: {fixed: 2ms}}", "--set",
                                "robots.predator.programs.planner.compute={modelled: {per_clock_read: 1ms}}")
        self.assertEqual(run.returncode, 0, run.stderr)
        trace = json.loads(self.run_isochron("journal", "export", "p.mcap", "--trace").stdout)["traceEvents"]
        turns = [e for e in trace if e["ph"] == "X" and e["cat"] == "turns"]
        self.assertGreater(len(turns), 10)
        self.assertTrue(all(e["dur"] >= 0 and e["ts"] >= 0 for e in turns))
        self.assertIn("predator/planner", [e["args"]["name"] for e in trace if e["ph"] == "M"])
        self.assertTrue(any(e["ph"] == "C" for e in trace))

    def test_github_sees_where(self):
        bad = self.file("bad.yaml", SCENARIO + BAD)
        run = self.run_isochron("test", bad, GITHUB_ACTIONS="true")
        self.assertRegex(run.stderr, r"::error file=bad.yaml,line=7,col=10,title=still::violated at ")
        self.assertNotIn("::error", self.run_isochron("test", bad).stderr)

    def test_bad_files_are_told_and_the_others_go_on(self):
        good = self.file("good.yaml", SCENARIO + GOOD)
        typo = self.file("typo.yaml", SCENARIO + "expect:\n  a: always distance(pray, predator) > 1\n")
        broken = self.file("broken.yaml", "name: [\n")
        junk = self.file("junk.mcap", "no journal")
        run = self.run_isochron("test", typo, good, broken, junk, "none.yaml", "none.mcap")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("did you mean `prey`?", run.stdout)
        self.assertIn("PASS good.yaml", run.stdout)
        self.assertIn("1 of 6 passed", run.stdout)
        self.assertEqual(self.run_isochron("test").returncode, 2)
        self.assertEqual(self.run_isochron("test", good, "--jobs", "-1").returncode, 2)
        self.assertEqual(self.run_isochron("test", good, "--junit", "no/such/folder/x.xml").returncode, 2)
        self.run_isochron("run", good, "--set", "expect={}", "--journal", "plain.mcap", "--quiet")
        nothing = self.run_isochron("test", "plain.mcap")
        self.assertEqual(nothing.returncode, 2)
        self.assertIn("its scenario expects nothing", nothing.stdout)

    def test_what_never_saw_a_sample_does_not_pass(self):
        late = self.file("late.yaml", SCENARIO + "expect: {a: always prey.position.z < 1 from 10s}\n")
        run = self.run_isochron("test", late)
        self.assertEqual(run.returncode, 1)
        self.assertIn("a: saw no sample", run.stdout)

    def test_retries_run_it_again(self):
        bad = self.file("bad.yaml", SCENARIO + BAD)
        run = json.loads(self.run_isochron("test", bad, "--retries", "2", "--json").stdout)
        self.assertEqual(run["results"][0]["attempts"], 3)

    def test_a_violation_ends_the_run(self):
        bad = self.file("bad.yaml", SCENARIO + BAD + "on_violation: end\n")
        run = self.run_isochron("run", bad, "--duration", "2000s", "--json", "--quiet", "--journal", "x.mcap")
        self.assertEqual(run.returncode, 1, run.stderr)
        report = json.loads(run.stdout)
        self.assertEqual(report["end"], "violated")
        self.assertLess(report["simulated_s"], 1999)
        self.assertEqual(self.run_isochron("replay", "x.mcap", "--quiet", "--trust").returncode, 0)

    def test_ctrl_c_loses_nothing(self):
        files = [self.file("quick.yaml", SCENARIO + GOOD)]
        files += [self.file(f"long{i}.yaml", SCENARIO.replace("1s", "90000s", 1) + GOOD) for i in range(2)]
        child = subprocess.Popen([ISOCHRON, "test", *files, "--jobs", "1", "--junit", "junit.xml"], cwd=self.folder.name,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(child.kill)
        self.assertIn("PASS quick.yaml", child.stdout.readline())
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 130, err)
        self.assertIn("1 of 3 passed", out)
        root = xml.etree.ElementTree.fromstring(self.read("junit.xml"))
        self.assertEqual([s.get("skipped") for s in root], ["0", "1", "1"])

    def test_names_are_the_same_everywhere(self):
        good = self.file("good.yaml", SCENARIO + GOOD)
        self.run_isochron("run", good, "--journal", "x.mcap", "--quiet")
        names = self.run_isochron("journal", "names", "x.mcap").stdout.split()
        for name in ("prey.position.x", "predator.velocity.z", "prey/fx.command", "drift", "marks.what"):
            self.assertIn(name, names)
        rows = self.run_isochron("journal", "export", "x.mcap", "prey.position.x,predator.position.x,marks.seconds").stdout
        rows = rows.splitlines()
        self.assertEqual(rows[0], "time_ns,prey.position.x,predator.position.x,marks.seconds")
        self.assertEqual(rows[1], "0,5,-5,")
        self.assertTrue(any(row.endswith(",0.10000000000000001") for row in rows), rows[20:24])
        self.assertEqual(self.run_isochron("journal", "export", "x.mcap", "/world/state:bodies[26]").stdout.splitlines()[1], "0,5")
        wrong = self.run_isochron("journal", "export", "x.mcap", "pray.position.x")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("did you mean `prey.position.x`?", wrong.stderr)
        for plot in ("prey.position.z", "/world/state:bodies[28]"):
            self.assertEqual(self.run_isochron("report", "x.mcap", "-o", "r.html", "--plot", plot).returncode, 0, plot)
        self.assertIn("did you mean `prey.position.x`?",
                      self.run_isochron("report", "x.mcap", "-o", "r.html", "--plot", "pray.position.x").stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
