#!/usr/bin/env python3
"""`isochron launch` through a real sshd: one of our own, on a port of this machine, with its own keys. Exits with 77 where
there is no sshd. Usage: ssh_test.py ISOCHRON SOURCE_DIR"""
import contextlib
import csv
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ISOCHRON, SOURCE = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
SSHD = "/usr/sbin/sshd"  # it wants to be called by its whole path
NODES = ["yellow", "red", "green", "blue"]
ON_ROBOT = ["red", "blue"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def make_key(path):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
    with open(path + ".pub") as file:
        return file.read()


class Sshd:
    """Knows one user by one key. Hosts for its clients: `robot` is it, `stranger` is it with a host key that nobody has
    seen, `locked` has another user key, `gone` is not there."""

    def __init__(self, folder):
        self.folder = folder
        port = free_port()
        host_key, user_key = make_key(self.path("host_key")), make_key(self.path("user_key"))
        make_key(self.path("other_key"))
        self.write("authorized", user_key)
        self.write("known", f"[127.0.0.1]:{port} {host_key}")
        self.write("sshd_config", f"Port {port}\nListenAddress 127.0.0.1\nHostKey {self.path('host_key')}\n"
                                  f"AuthorizedKeysFile {self.path('authorized')}\nPidFile none\nUsePAM no\n"
                                  "PasswordAuthentication no\nStrictModes no\nPermitRootLogin prohibit-password\n")
        common = f"  HostName 127.0.0.1\n  IdentitiesOnly yes\n  GlobalKnownHostsFile /dev/null\n"
        known, nobody = (f"  UserKnownHostsFile {name}\n" for name in (self.path("known"), "/dev/null"))
        user, other = (f"  IdentityFile {self.path(name)}\n" for name in ("user_key", "other_key"))
        self.write("ssh_config", f"Host robot\n{common}  Port {port}\n{known}{user}"
                                 f"Host stranger\n{common}  Port {port}\n{nobody}{user}"
                                 f"Host locked\n{common}  Port {port}\n{known}{other}"
                                 f"Host gone\n{common}  Port {free_port()}\n{known}{user}")
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", 0o755, exist_ok=True)  # where it has nothing, on purpose
        self.log = open(self.path("sshd.log"), "w")
        self.process = subprocess.Popen([SSHD, "-D", "-e", "-f", self.path("sshd_config")], stderr=self.log)
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return
            time.sleep(0.1)
        raise RuntimeError("sshd does not answer: " + open(self.path("sshd.log")).read())

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

    def shell(self):
        return f"ssh -F {self.path('ssh_config')} -o BatchMode=yes"

    def sessions(self):
        return [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and self.is_session(pid)]

    def is_session(self, pid):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat") as file:
            return int(file.read().rsplit(")", 1)[1].split()[1]) == self.process.pid
        return False

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()


class SshTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keys = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.keys.cleanup)
        cls.sshd = Sshd(cls.keys.name)
        cls.addClassCleanup(cls.sshd.stop)

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="two words' ")
        self.addCleanup(self.folder.cleanup)
        self.there = tempfile.TemporaryDirectory(prefix="robot's ")
        self.addCleanup(self.there.cleanup)
        self.file = self.path("nbody.yaml")
        shutil.copy(os.path.join(SOURCE, "examples/nbody/nbody.yaml"), self.file)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def command(self, *args, host="robot", remote=ISOCHRON):
        """For the scenario's folder, as people do."""
        ports = [free_port() for _ in NODES]
        sets = []
        for node, port in zip(NODES, ports):
            sets += ["--set", f"nodes.{node}.at=127.0.0.1:{port}"]
        for node in ON_ROBOT:
            sets += ["--set", f"nodes.{node}.host={host}"]
        return [ISOCHRON, "launch", "nbody.yaml", "--json", "--journal", "out.mcap", "--shell", self.sshd.shell(),
                "--remote", remote, "--remote-folder", self.there.name, *sets, *args]

    def launch(self, *args, **kwargs):
        environment = {**os.environ, "ISOCHRON_KEY": "0123456789abcdef" * 4}
        return subprocess.Popen(self.command(*args, **kwargs), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                cwd=self.folder.name, env=environment)

    def launched(self, *args, **kwargs):
        run = self.launch(*args, **kwargs)
        out, err = run.communicate(timeout=100)
        return run.returncode, json.loads(out), err

    def remote_processes(self):
        found = []
        for pid in os.listdir("/proc"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline") as file:
                words = file.read()
                if "--until-stdin-ends" in words and self.there.name in words:
                    found.append(int(pid))
        return found

    def until(self, what, condition, seconds=30):
        for _ in range(seconds * 20):
            if condition():
                return
            time.sleep(0.05)
        self.fail(what)

    def wait_for_robot(self):
        self.until("the robot's nodes never began", lambda: len(self.remote_processes()) == len(ON_ROBOT) and
                   len(self.journals_there()) == len(ON_ROBOT))
        time.sleep(1)

    def journals_there(self):
        return [name for name in os.listdir(self.there.name) if name.endswith(".mcap")]

    def check_nothing_is_left_there(self):
        self.until("processes are left there", lambda: not self.remote_processes())
        self.assertEqual(os.listdir(self.there.name), [])

    def test_nodes_on_another_host_give_the_same_digest_whatever_the_words_are(self):
        odd = ["--duration", "500s", "--set", "nodes.red.with={mass: 100, x: 0.7, y: 0.5, vy: 4e-4, period: 3s, "
               "pulled_by: 1}", "--set", "network.federation=it's $HOME; \"two\" `words` \\ & *"]
        alone = subprocess.run([ISOCHRON, "run", "nbody.yaml", "--json", "--journal", "alone.mcap", *odd],
                               cwd=self.folder.name, capture_output=True, text=True, timeout=60)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        code, report, err = self.launched(*odd)
        self.assertEqual(code, 0, report["why"] + err)
        self.assertTrue(report["digest_complete"])
        self.assertEqual(report["digest"], json.loads(alone.stdout)["digest"])
        self.check_nothing_is_left_there()
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["alone.mcap", "nbody.yaml", "out.mcap"])

    def test_ctrl_c_stops_the_nodes_there_and_brings_their_journals(self):
        run = self.launch("--set", "time.pace=100x")
        self.wait_for_robot()
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, out + err)
        report = json.loads(out)
        self.assertEqual({node["end"] for node in report["nodes"]}, {"interrupted"}, report)
        self.assertGreater(report["journal"]["records"], 20)
        self.check_nothing_is_left_there()

    def test_nodes_there_do_not_outlive_a_launch_that_is_killed(self):
        run = self.launch("--set", "time.pace=100x")
        self.wait_for_robot()
        run.kill()
        run.communicate()
        self.until("processes are left there", lambda: not self.remote_processes())
        for journal in self.journals_there():
            info = subprocess.run([ISOCHRON, "journal", "info", os.path.join(self.there.name, journal), "--json"],
                                  capture_output=True, text=True)
            self.assertTrue(json.loads(info.stdout)["whole"], journal)

    def test_a_connection_that_is_cut_ends_the_run_with_its_reason_and_all_journals(self):
        run = self.launch("--set", "time.pace=100x", "--set", "network.lost_after=3s")
        self.wait_for_robot()
        for pid in self.sshd.sessions():
            os.kill(pid, signal.SIGKILL)
        out, err = run.communicate(timeout=100)
        self.assertEqual(run.returncode, 3, out + err)
        report = json.loads(out)
        self.assertIn("red: `ssh robot` failed", report["why"])
        self.assertGreater(report["journal"]["records"], 20)
        self.check_nothing_is_left_there()

    def test_nodes_that_are_killed_there_or_cut_off_are_started_again_and_catch_up(self):
        words = ["--duration", "20000s"]
        alone = subprocess.run([ISOCHRON, "run", "nbody.yaml", "--json", "--journal", "alone.mcap", *words],
                               cwd=self.folder.name, capture_output=True, text=True, timeout=60)
        for what in ["killed", "cut off"]:
            with self.subTest(what):
                run = self.launch(*words, "--restarts", "4")
                self.wait_for_robot()
                for pid in self.remote_processes()[:1] if what == "killed" else self.sshd.sessions():
                    os.kill(pid, signal.SIGKILL)
                out, err = run.communicate(timeout=100)
                report = json.loads(out)
                self.assertEqual(run.returncode, 0, report["why"] + err)
                self.assertTrue(report["digest_complete"])
                self.assertEqual(report["digest"], json.loads(alone.stdout)["digest"])
                self.assertEqual({one["host"] for one in report["restarts"]}, {"robot"})
                self.assertEqual(len(report["restarts"]), 1 if what == "killed" else 2, err)
                self.check_nothing_is_left_there()

    def test_a_host_that_does_not_let_us_in_is_named_at_once_with_what_to_do(self):
        for host, said, hint in [("stranger", "Host key verification failed", "connect to stranger by hand once"),
                                 ("locked", "Permission denied", "give locked your public key"),
                                 ("gone", "Connection refused", "")]:
            with self.subTest(host):
                start = time.monotonic()
                code, report, err = self.launched(host=host)
                self.assertLess(time.monotonic() - start, 10)  # lost_after is not waited for
                self.assertEqual(code, 3, report)
                self.assertIn(f"red: `ssh {host}` failed", report["why"])
                self.assertIn(said, report["why"])
                self.assertIn(hint, report["why"])
                self.assertIn(said, err)

    def test_what_goes_wrong_there_comes_back_with_its_code(self):
        for remote, why in [("no-isochron-here", "say with --remote where isochron is there"),
                            ("sh -c 'echo it broke >&2; exit 7' --", "its process on robot ended with code 7: it broke"),
                            ("sh -c 'kill -9 $$' --", "`ssh robot` failed: its process there was killed")]:
            with self.subTest(remote):
                code, report, err = self.launched("--set", "network.lost_after=1s", remote=remote)
                self.assertEqual(code, 3, report)
                self.assertIn("red: ", report["why"])
                self.assertIn(why, report["why"])
        code, report, err = self.launched(remote=f"env -u ISOCHRON_KEY {ISOCHRON} check nowhere.yaml; exec {ISOCHRON}")
        self.assertEqual(code, 3, report)
        self.assertIn("nowhere.yaml", report["why"])

    @unittest.skipUnless(os.geteuid() == 0, "mounting a small disk needs root")
    def test_a_full_disk_there_is_named_and_all_other_journals_are_whole(self):
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", self.there.name], check=True)
        try:
            code, report, err = self.launched("--keep", "--set", "network.lost_after=3s")
        finally:
            subprocess.run(["umount", self.there.name], check=True)
        self.assertEqual(code, 3, report)
        self.assertRegex(report["why"], "(?s)(red|blue): .*cannot write to .*robot's .*(red|blue).mcap: No space left")
        for node in ["yellow", "green"]:
            info = subprocess.run([ISOCHRON, "journal", "info", self.path(f"out.{node}.mcap"), "--json"],
                                  capture_output=True, text=True)
            self.assertTrue(json.loads(info.stdout)["whole"], node)
            self.assertGreater(json.loads(info.stdout)["records"], 20)

    def sweep(self, *args):
        with open(self.path("ships.yaml"), "w") as file:
            file.write(f"name: ships\nduration: 300ms\nworld: {{model: {SOURCE}/models/ships.xml, step: 10ms, "
                       "walls: {half_width: 25, reach: 5, stiffness: 20}}\n")
        done = subprocess.run([ISOCHRON, "sweep", "ships.yaml", "--over", "world.walls.stiffness=10..30/5", "--trials", "4",
                               "--json", *args], capture_output=True, text=True, cwd=self.folder.name, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path(args[args.index("-o") + 1] + "/sweep.csv"), newline="") as file:
            return {(row["world.walls.stiffness"], row["seed"]): row for row in csv.DictReader(file)}, done.stderr

    def test_a_sweep_on_hosts_gives_what_this_machine_gives_and_leaves_out_who_is_not_there(self):
        here, _ = self.sweep("-o", "here")
        there, said = self.sweep("-o", "there", "--on", "ssh", "--hosts", "robot,gone", "--shell", self.sshd.shell(),
                                 "--remote", ISOCHRON, "--remote-folder", self.there.name)
        self.assertEqual({key: row["digest"] for key, row in here.items()},
                         {key: row["digest"] for key, row in there.items()})
        self.assertEqual(len(there), 20)
        self.assertIn("gone", said)
        self.assertTrue(all(row["journal"].startswith("robot:" + self.there.name) for row in there.values()))


if not os.access(SSHD, os.X_OK):
    print("skipped: there is no sshd; install openssh-server")
    sys.exit(77)
if __name__ == "__main__":
    unittest.main(warnings="ignore")
