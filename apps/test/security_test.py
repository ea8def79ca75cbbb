#!/usr/bin/env python3
"""Files from elsewhere, bad days and bad words, through the command. Usage: security_test.py ISOCHRON SOURCE_DIR"""
import json
import os
import pty
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ISOCHRON, SOURCE = sys.argv.pop(1), sys.argv.pop(1)
SHIPS = os.path.join(SOURCE, "examples/ships/ships.yaml")
WORLD = f"world: {{model: {SOURCE}/models/ships.xml, step: 10ms}}\n"


class SecurityTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment = {**os.environ, "XDG_STATE_HOME": self.path("state")}

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text, mode=0o644):
        with open(self.path(name), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        os.chmod(self.path(name), mode)
        return self.path(name)

    def run_it(self, *args, **kwargs):
        kwargs.setdefault("env", self.environment)
        return subprocess.run([ISOCHRON, *args], capture_output=True, timeout=100, cwd=self.folder, **kwargs)

    def touching(self, name="run.yaml"):
        """A scenario with a program that leaves a file behind."""
        self.write("touch_it", "#!/bin/sh\ntouch ran\nprintf 'caf\\351 \\033[2J\\n'\nexit 3\n", 0o755)
        return self.write(name, "name: t\nduration: 100ms\n" + WORLD +
                          "robots: {prey: {programs: {p: {run: [./touch_it]}}}}\ntime: {mode: consistent}\n")

    def ran(self):
        there = os.path.exists(self.path("ran"))
        if there:
            os.remove(self.path("ran"))
        return there

    # ---- a scenario is a program ----

    def test_a_journal_of_somebody_else_is_replayed_only_with_trust_and_says_what_it_would_execute(self):
        recorded = self.run_it("run", SHIPS, "--duration", "100ms", "--quiet", "--journal", "a.mcap")
        self.assertEqual(recorded.returncode, 0, recorded.stderr)
        self.assertEqual(self.run_it("replay", "a.mcap", "--quiet").returncode, 0)
        elsewhere = {**self.environment, "XDG_STATE_HOME": self.path("somebody_else")}
        refused = self.run_it("replay", "a.mcap", "--quiet", env=elsewhere)
        self.assertEqual(refused.returncode, 2)
        self.assertIn(b"was not recorded by this user", refused.stderr)
        self.assertIn(b"ships_controllers", refused.stderr)
        self.assertIn(b"--trust", refused.stderr)
        self.assertEqual(self.run_it("replay", "a.mcap", "--quiet", "--trust", env=elsewhere).returncode, 0)

    def test_a_scenario_that_everybody_can_write_is_run_only_with_trust(self):
        file = self.touching()
        os.chmod(file, 0o666)
        refused = self.run_it("run", file, "--quiet")
        self.assertEqual(refused.returncode, 2)
        self.assertIn(b"can be written by every user", refused.stderr)
        self.assertIn(b"./touch_it", refused.stderr)
        self.assertFalse(self.ran())
        self.assertEqual(self.run_it("launch", file).returncode, 2)
        self.assertFalse(self.ran())
        self.run_it("run", file, "--quiet", "--trust")
        self.assertTrue(self.ran())

    def test_check_executes_nothing(self):
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("needs a C compiler")
        self.write("own.c", '#include <stdio.h>\n__attribute__((constructor)) static void run(void) { fopen("ran", "w"); }\n')
        subprocess.run([compiler, "-shared", "-fPIC", "-o", self.path("own.so"), self.path("own.c")], check=True)
        file = self.write("s.yaml", "name: s\nnodes: {n: {library: own.so, type: T}}\ntime: {mode: repeatable}\n")
        checked = self.run_it("check", file)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertIn(b"not loaded", checked.stdout)
        self.assertFalse(self.ran())
        self.run_it("check", file, "--trust")
        self.assertTrue(self.ran())

    def test_a_host_that_is_an_option_is_refused(self):
        for host in ("-oProxyCommand=touch ran", "a b", "$(touch ran)"):
            result = self.run_it("launch", os.path.join(SOURCE, "examples/nbody/nbody.yaml"), "--set",
                                 f"nodes.blue.host={json.dumps(host)}")
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(b"is not a host's name", result.stderr)
            self.assertFalse(self.ran())

    # ---- bad words ----

    def test_output_that_is_no_text_leaves_a_verdict(self):
        result = self.run_it("run", self.touching(), "--json", "--quiet")
        report = json.loads(result.stdout)
        self.assertEqual(report["end"], "failed")
        self.assertIn("caf\ufffd", report["why"])
        self.assertNotIn("\x1b", report["why"])

    def test_a_scenario_that_is_no_text_is_refused_with_its_place(self):
        result = self.run_it("check", self.write("s.yaml", b"name: caf\xe9\n"))
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"s.yaml:1:10: this is not UTF-8 text", result.stderr)

    def test_durations_at_the_end_of_the_range_are_refused_with_their_place(self):
        for key in ("duration: 290000000000s", "duration: 8000000000s", "duration: 9223372036854775807ns", "time: {quantum: 100000000h}"):
            text = "name: s\n" + WORLD + key + "\nrobots: {prey: {programs: {p: {run: [/bin/true]}}}}\n"
            result = self.run_it("run", self.write("s.yaml", text), "--quiet")
            self.assertEqual(result.returncode, 2, (key, result.stderr))
            self.assertIn(b"s.yaml:3:", result.stderr)

    def test_what_a_terminal_would_obey_does_not_get_there(self):
        front, back = pty.openpty()
        child = subprocess.Popen([ISOCHRON, "check", "/nowhere/\x1b]0;gone\x07\x1b[2J.yaml"], stdout=back, stderr=back)
        os.close(back)
        said = b""
        try:
            while part := os.read(front, 4096):
                said += part
        except OSError:
            pass
        child.wait(60)
        os.close(front)
        self.assertIn(b"nowhere", said)
        self.assertNotIn(b"\x1b]", said)
        self.assertNotIn(b"\x1b[2J", said)

    def test_programs_are_not_handed_the_key(self):
        self.write("tell", "#!/bin/sh\nenv > told\n", 0o755)
        file = self.write("s.yaml", "name: s\nduration: 100ms\n" + WORLD +
                          "robots: {prey: {programs: {p: {run: [./tell]}}}}\ntime: {mode: consistent}\n")
        self.run_it("run", file, "--quiet", env={**self.environment, "ISOCHRON_KEY": "ab" * 32})
        with open(self.path("told")) as told:
            self.assertNotIn("abab", told.read())

    # ---- bad days ----

    def long_run(self, *args, **kwargs):
        child = subprocess.Popen([ISOCHRON, "run", SHIPS, "--duration", "100000s", "--json", "--quiet", "--journal",
                                  self.path("long.mcap"), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env=self.environment, cwd=self.folder, **kwargs)
        self.addCleanup(child.kill)
        return child

    def verdict(self, child):
        out, err = child.communicate(timeout=60)
        return json.loads(out), err

    def test_a_file_that_may_not_grow_ends_the_run_at_once(self):
        child = self.long_run(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
        report, _ = self.verdict(child)
        self.assertEqual(child.returncode, 3)
        self.assertEqual(report["end"], "failed")
        self.assertIn("File too large", report["why"])

    def test_a_journal_that_is_deleted_meanwhile_ends_the_run_at_once(self):
        child = self.long_run("--pace", "1x")
        deadline = time.time() + 30
        while not os.path.exists(self.path("long.mcap")) and time.time() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        os.remove(self.path("long.mcap"))
        report, _ = self.verdict(child)
        self.assertEqual(child.returncode, 3)
        self.assertIn("was deleted", report["why"])

    def test_a_terminal_that_hangs_up_leaves_a_whole_journal(self):
        child = self.long_run("--pace", "1x")
        time.sleep(2)
        child.send_signal(signal.SIGHUP)
        report, _ = self.verdict(child)
        self.assertEqual(report["end"], "interrupted")
        info = json.loads(self.run_it("journal", "info", "long.mcap", "--json").stdout)
        self.assertTrue(info["whole"])

    def test_launch_does_not_keep_a_core_busy_when_a_node_has_ended(self):
        launch = subprocess.Popen([ISOCHRON, "launch", os.path.join(SOURCE, "examples/nbody/nbody.yaml"), "--duration",
                                   "10000000s", "--journal", self.path("n.mcap")], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, env=self.environment, cwd=self.folder)
        self.addCleanup(launch.kill)

        def children():
            with open(f"/proc/{launch.pid}/task/{launch.pid}/children") as file:
                return [int(pid) for pid in file.read().split()]

        def executed():
            with open(f"/proc/{launch.pid}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

        deadline = time.time() + 30
        while len(children()) < 4 and time.time() < deadline:
            time.sleep(0.1)
        time.sleep(1)
        os.kill(children()[0], signal.SIGKILL)
        before = executed()
        time.sleep(4)
        self.assertLess(executed() - before, 0.5)
        launch.send_signal(signal.SIGINT)
        launch.wait(60)

    def test_few_descriptors_are_told_as_such(self):
        for allowed in (8, 14):
            result = self.run_it("run", os.path.join(SOURCE, "examples/agents/crossing.yaml"), "--duration", "20ms", "--quiet",
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, allowed)))
            self.assertGreater(result.returncode, 0, (allowed, result.stderr))
            self.assertIn(b"Too many open files", result.stderr + result.stdout)


if __name__ == "__main__":
    unittest.main()
