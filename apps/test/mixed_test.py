"""Random scenarios with every kind of program beside every other: each is checked and run, and where all its contracts
are known beforehand it is run again under load and must have the same digest.

ISOCHRON_MIXED=300 makes so many (24); ISOCHRON_SEED=17 makes that one alone.
Usage: mixed_test.py ISOCHRON SOURCE_DIR"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

ISOCHRON, ROOT = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
BUILD = os.path.dirname(os.path.dirname(ISOCHRON))
COUNT = int(os.environ.get("ISOCHRON_MIXED", "24"))

FILES = {
    # Attached: reads, writes, and tells the other what it heard.
    "flies.py": """\
        import isochron, sys
        robot = isochron.attach()
        other, heard = (sys.argv[1:] or [""])[0], 0
        while robot.wait() is not None:
            robot.read("pose")
            robot.write("fx", 0.1 + heard)
            if not other: continue
            robot.send(other, float(heard))
            while robot.receive() is not None: heard += 1
        """,
    # Knows nothing of us.
    "walks.py": """\
        import time
        for i in range(1000):
            time.sleep(0.01)
            print(i, f"{time.monotonic():.4f}", flush=True)
        """,
}
KINDS = ("library", "executable", "unmodified", "board")


class Draw:
    """One scenario, by its seed."""

    def __init__(self, seed, folder):
        self.chance, self.folder = random.Random(seed), folder
        self.mode = self.chance.choice(("callback", "consistent", "repeatable", "hil", "consistent", "realtime"))
        kinds = [k for k in KINDS if k != "board" or self.mode not in ("repeatable", "realtime")]
        self.programs = {}  # (robot, name) -> kind
        for robot in ("predator", "prey"):
            for n in range(self.chance.randint(0, 3)):
                self.programs[robot, f"p{n}"] = self.chance.choice(kinds)
        if not self.programs:
            self.programs["prey", "p0"] = "executable"
        if self.mode == "hil" and "board" not in self.programs.values():
            self.programs[next(iter(self.programs))] = "board"

    def contract(self, kind):
        if kind == "board":
            return "hardware"
        modelled = "{modelled: {fixed: %dus}}" % self.chance.randint(0, 3000)
        if self.mode == "repeatable":
            return self.chance.choice(("zero", modelled))
        if self.mode in ("consistent", "hil"):
            return self.chance.choice(("zero", "measured", modelled))
        return None

    def program(self, robot, name, kind):
        period = self.chance.choice((5, 10, 20, 50))
        talks = [f"{r}/{n}" for (r, n), k in self.programs.items() if k in ("executable", "board") and (r, n) != (robot, name)]
        whom = self.chance.choice(talks) if talks and self.chance.random() < 0.5 else ""
        python = "/usr/bin/python3"
        keys = {
            "library": f"library: ships_controllers, every: {period}ms",
            "executable": f"run: [{python}, flies.py{', ' + whom if whom else ''}], every: {period}ms",
            "board": f"run: [{python}, flies.py{', ' + whom if whom else ''}], every: {period}ms",
            "unmodified": f"run: [{python}, walks.py], clock: virtual",
        }[kind]
        if kind != "unmodified" and self.chance.random() < 0.3:
            keys += f", offset: {self.chance.randint(1, period - 1)}ms"
        if kind in ("library", "executable") and self.mode != "realtime" and self.chance.random() < 0.4:
            keys += f", priority: {self.chance.randint(1, 9)}"
        if (contract := self.contract(kind)) is not None:
            keys += f", compute: {contract}"
        return f"      {name}: {{{keys}}}\n"

    def text(self):
        robots = ""
        for robot in ("predator", "prey"):
            own = [(n, k) for (r, n), k in self.programs.items() if r == robot]
            if own:
                robots += f"  {robot}:\n    programs:\n" + "".join(self.program(robot, n, k) for n, k in own)
        step = self.chance.choice((1, 5, 10))
        return (f"name: mixed\nduration: {self.chance.choice((100, 200, 300))}ms\nseed: {self.chance.randint(1, 99)}\n"
                f"world: {{model: {ROOT}/models/ships.xml, step: {step}ms}}\nrobots:\n{robots}"
                f"time: {{mode: {self.mode}}}\n")


class Mixed(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        for name, text in FILES.items():
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(textwrap.dedent(text))
        self.environment = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "client/python"),
                            "ISOCHRON_CLIENT": os.path.join(BUILD, "lib/libisochron_client.so")}

    def command(self, *words):
        return subprocess.run([ISOCHRON, *words], capture_output=True, text=True, timeout=180, cwd=self.folder,
                              env=self.environment)

    def play(self, where):
        done = self.command("run", "mixed.yaml", "--json", "--journal", "mixed.mcap")
        self.assertEqual(done.returncode, 0, where + done.stdout + done.stderr)
        return json.loads(done.stdout.strip().splitlines()[-1])

    def one(self, seed):
        draw = Draw(seed, self.folder)
        text = draw.text()
        with open(os.path.join(self.folder, "mixed.yaml"), "w") as file:
            file.write(text)
        where = f"ISOCHRON_SEED={seed} repeats it\n{text}\n"
        check = self.command("check", "--trust", "mixed.yaml")
        self.assertEqual(check.returncode, 0, where + check.stdout + check.stderr)
        report = self.play(where)
        self.assertEqual(report["end"], "finished", where)
        ran = {p["name"]: p for p in report["programs"]}
        for (robot, name), kind in draw.programs.items():
            self.assertIn(f"{robot}/{name}", ran, where)
            if kind != "unmodified" and draw.mode != "realtime":
                self.assertGreater(ran[f"{robot}/{name}"]["activations"], 0, where + robot + "/" + name)
        self.assertEqual(report["repeatable"], draw.mode in ("repeatable", "callback") and
                         "board" not in draw.programs.values() or
                         (draw.mode == "consistent" and "measured" not in text and "hardware" not in text), where)
        if not report["repeatable"]:
            return
        load = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
        try:
            self.assertEqual(self.play(where)["digest"], report["digest"], where)
        finally:
            for process in load:
                process.kill()
                process.wait()

    def test_random_mixes(self):
        only = os.environ.get("ISOCHRON_SEED")
        for seed in [int(only)] if only else range(COUNT):
            with self.subTest(seed=seed):
                self.one(seed)


if __name__ == "__main__":
    unittest.main()
