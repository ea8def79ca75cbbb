#!/usr/bin/env python3
"""The command as a person meets it: flags, exit codes, messages. Usage: cli_test.py PATH_OF_ISOCHRON"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

ISOCHRON = sys.argv.pop(1)


def run(*args, **kwargs):
    return subprocess.run([ISOCHRON, *args], capture_output=True, text=True, timeout=60, **kwargs)


class CheckTest(unittest.TestCase):
    def check(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.yaml")
            with open(path, "wb") as file:
                file.write(text if isinstance(text, bytes) else text.encode())
            return run("check", path)

    def test_version_and_doctor_say_which_parts_this_build_has(self):
        said = run("--version")
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertRegex(said.stdout.splitlines()[0], r"^isochron \d+\.\d+\.\d+")
        parts = ", ".join(line.split(" ", 1)[1] for line in said.stdout.splitlines()[1:]).split(", ")
        self.assertEqual(sorted(parts), sorted(["ROS 1", "DDS", "OpenSSL", "CVODE", "SUMO", "OpenCV", "Eigen", "OMPL"]))
        findings = {f["what"]: f for f in json.loads(run("doctor", "--json").stdout)["findings"]}
        for line in said.stdout.splitlines()[1:]:
            for part in line.split(" ", 1)[1].split(", "):
                if line.startswith("without"):
                    self.assertIn("build again", findings[part]["mend"])
                else:
                    self.assertIn(part, findings["this build has"]["found"])

    def test_mistakes_are_all_told_with_exit_code_2(self):
        result = self.check("name: x\nduratoin: 3s\nworld: {model: none.xml}\n")
        self.assertEqual(result.returncode, 2)
        self.assertIn("s.yaml:2:1: unknown key `duratoin`; did you mean `duration`?", result.stderr)
        self.assertIn("s.yaml:3:16: there is no file", result.stderr)

    def test_random_bytes_are_refused(self):
        self.assertEqual(self.check(bytes(range(256)) * 8).returncode, 2)

    def test_a_missing_file_is_named(self):
        result = run("check", "/nowhere/s.yaml")
        self.assertEqual(result.returncode, 2)
        self.assertIn("/nowhere/s.yaml: cannot be read: No such file", result.stderr)


class LogTest(unittest.TestCase):
    SCENARIO = """name: said
duration: 50ms
world: {model: %s}
robots: {prey: {programs: {quits: {run: [/bin/true], clock: virtual, on_exit: go-on}}}}
time: {mode: consistent}
"""

    def test_what_is_done_is_shown_on_wish_and_kept_in_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            scenario, log = os.path.join(folder, "s.yaml"), os.path.join(folder, "log.jsonl")
            ships = os.path.join(os.path.dirname(__file__), "..", "..", "models", "ships.xml")
            with open(scenario, "w") as file:
                file.write(self.SCENARIO % os.path.abspath(ships))
            command = ("run", scenario, "--journal", os.path.join(folder, "j.mcap"))
            silent = run(*command, "--log", log)
            self.assertEqual(silent.returncode, 0, silent.stderr)
            self.assertNotIn("is process", silent.stderr)
            with open(log) as file:
                lines = [json.loads(line) for line in file]
            self.assertEqual({line["level"] for line in lines}, {"info"}, lines)
            said = [(line["part"], line["text"]) for line in lines]
            self.assertEqual(said[0], ("run", "said begins, for 50ms, seed 1"))
            self.assertTrue(any(part == "programs" and "prey/quits is process" in text for part, text in said), said)
            self.assertEqual(said[-1], ("run", "said: finished, after 50ms"))
            self.assertIn("prey/quits is process", run("-v", *command).stderr)
            self.assertIn("said begins", run(*command, "-v").stderr)  # behind the verb as well
            refused = run(*command, "--log", os.path.join(folder, "no", "log"))
            self.assertEqual(refused.returncode, 2)
            self.assertIn("No such file", refused.stderr)
            full = run(*command, "--log", "/dev/full")
            self.assertEqual(full.returncode, 0, full.stderr)  # the run is what matters
            self.assertEqual(full.stderr.count("the log cannot be written: No space left on device"), 1, full.stderr)


class UsageTest(unittest.TestCase):
    def test_no_verb_and_unknown_verbs_are_bad_input(self):
        self.assertEqual(run().returncode, 2)
        self.assertEqual(run("fly").returncode, 2)
        self.assertEqual(run("check", "--no-such-flag").returncode, 2)

    def test_every_verb_has_help(self):
        listing = run("--help").stdout
        verbs = [line.split()[0] for line in listing.split("Subcommands:")[1].split("Exit codes")[0].splitlines() if line.strip()]
        self.assertGreaterEqual(len(verbs), 5)
        for verb in verbs:
            result = run(verb, "--help")
            self.assertEqual(result.returncode, 0, verb)
            self.assertIn("Usage", result.stdout, verb)

    def test_closed_stdout_is_an_error_not_a_crash(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([ISOCHRON, "reference"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(result.returncode, 3)
        self.assertIn("standard output cannot be written", result.stderr)

    def test_completion_is_a_shell_script(self):
        script = run("completion", "bash").stdout
        self.assertEqual(subprocess.run(["bash", "-n"], input=script, text=True, timeout=10).returncode, 0)
        self.assertIn("doctor", script)


class DoctorTest(unittest.TestCase):
    def test_json_names_what_the_machine_allows(self):
        result = run("doctor", "--json")
        self.assertEqual(result.returncode, 0)
        findings = {f["what"] for f in json.loads(result.stdout)["findings"]}
        self.assertIn("real-time scheduling (SCHED_FIFO)", findings)
        self.assertIn("cores", findings)

    def test_a_program_is_told_how_it_is_followed(self):
        told = json.loads(run("doctor", "--json", "/usr/bin/python3", "x.py").stdout)
        self.assertEqual(told["program"], ["/usr/bin/python3", "x.py"])
        findings = {f["what"]: f for f in told["findings"]}
        self.assertTrue(findings["followed"]["good"])
        self.assertIn("time stamp counter", findings)
        self.assertIn("followed", run("doctor", "bash").stdout)

    def test_a_program_that_cannot_be_followed_is_told_what_to_do(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program")
            with open(path, "wb") as file:
                file.write(b"\0nothing")
            os.chmod(path, 0o755)
            told = json.loads(run("doctor", "--json", path).stdout)["findings"]
            self.assertFalse(told[0]["good"])
            self.assertIn("neither a program of this system nor a script", told[0]["cost"])
            missing = run("doctor", os.path.join(folder, "none"))
            self.assertEqual(missing.returncode, 2)
            self.assertIn("there is no program", missing.stderr)


if __name__ == "__main__":
    unittest.main()
