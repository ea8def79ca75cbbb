#!/usr/bin/env python3
"""`launch` on engines that exist: mpirun, and a Slurm of our own on this machine (three nodes, in a folder of its own). Each
part is left out where its engine, or the right to start it, is missing; exits with 77 where both are. Usage: engines_test.py
ISOCHRON SOURCE_DIR"""
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
NBODY = os.path.join(SOURCE, "examples/nbody/nbody.yaml")
HAS_MPI = shutil.which("mpirun") is not None
HAS_SLURM = all(map(shutil.which, ["slurmctld", "slurmd", "srun", "salloc", "munged"])) and os.geteuid() == 0


def report_of(done):
    if not done.stdout.strip().startswith("{"):
        raise AssertionError(f"code {done.returncode}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


class Engines(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_here(self, *words, **kwargs):
        return subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=120, **kwargs)

    def alone(self, duration):
        return report_of(self.run_here(ISOCHRON, "run", NBODY, "--duration", duration, "--json", "--quiet"))["digest"]

    def check(self, done, duration="500s"):
        report = report_of(done)
        self.assertEqual(report["end"], "finished", report["why"] + done.stderr)
        self.assertEqual(report["digest"], self.alone(duration))
        self.assertTrue(report["digest_complete"])
        return report

    def words(self, engine, duration="500s"):
        return [ISOCHRON, "launch", NBODY, "--duration", duration, "--json", "--journal", "out.mcap", "--on", engine,
                "--remote", ISOCHRON]

    def check_that_lost_nodes_catch_up(self, *words, **kwargs):
        """Kills two nodes, one after the other, while they run."""
        launch = subprocess.Popen([*words, "--restarts", "5", "--remote-folder", self.folder, "--set",
                                   "time.pace=2500x"], cwd=self.folder,  # else a fast machine is done before the second
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kwargs)
        for node in ["red", "blue"]:
            for _ in range(20):  # what is found first may be a process of the engine, which is over by now
                try:
                    os.kill(self.process_of(node), signal.SIGKILL)
                    break
                except ProcessLookupError:
                    time.sleep(0.1)
            time.sleep(0.5)
        out, err = launch.communicate(timeout=120)
        report = self.check(subprocess.CompletedProcess(words, launch.returncode, out, err), "20000s")
        self.assertEqual([one["node"] for one in report["restarts"]], ["red", "blue"], err)
        return report

    def process_of(self, node):
        """That runs it in our folder, and has begun to."""
        for _ in range(3000):
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    with open(f"/proc/{pid}/cmdline") as file:
                        words = file.read().split("\0")
                except OSError:
                    continue
                journal = next((word for word in words if word.startswith(self.folder + "/isochron-")), None)
                if "run" in words and node in words and journal and os.path.exists(journal):
                    time.sleep(0.7)
                    return int(pid)
            time.sleep(0.01)
        raise AssertionError(f"{node} does not begin")

    @unittest.skipUnless(HAS_MPI, "there is no mpirun")
    def test_mpirun_starts_the_nodes_and_they_find_each_other(self):
        self.check(self.run_here(*self.words("mpirun")))

    @unittest.skipUnless(HAS_MPI, "there is no mpirun")
    def test_nodes_that_mpirun_lost_are_started_again(self):
        self.check_that_lost_nodes_catch_up(*self.words("mpirun", "20000s"))

    def test_without_an_allocation_it_says_what_to_do(self):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SLURM_")}
        done = self.run_here(*self.words("slurm"), env=environment)
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no allocation here", done.stderr)
        done = self.run_here(*self.words("condor"))
        self.assertIn("write ssh, slurm or mpirun", done.stderr)

    @unittest.skipUnless(HAS_SLURM, "needs Slurm, munge and root")
    def test_slurm_starts_the_nodes_on_the_hosts_of_an_allocation(self):
        with Slurm() as slurm:
            self.check(self.run_here("salloc", "--quiet", "-N", "3", *self.words("slurm"), env=slurm.environment))
            report = self.check_that_lost_nodes_catch_up("salloc", "--quiet", "-N", "3", *self.words("slurm", "20000s"),
                                                         env=slurm.environment)
            # yellow, red, green and blue are dealt out to n1, n2, n3 and n1: the lost ones are now on the next ones.
            self.assertEqual([one["host"] for one in report["restarts"]], ["n3", "n2"])


class Slurm:
    """A controller and three nodes of this machine, with a munge of their own."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="slurm")
        os.chmod(self.folder, 0o755)
        self.started = []
        name = socket.gethostname().split(".")[0]
        ports = [self.free_port() for _ in range(4)]
        key = os.path.join(self.folder, "munge.key")
        with open(key, "wb") as file:
            file.write(os.urandom(1024))
        os.chmod(key, 0o400)
        munge = os.path.join(self.folder, "munge.socket")
        with open(os.path.join(self.folder, "slurm.conf"), "w") as file:
            file.write(f"""ClusterName=test
SlurmctldHost={name}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={munge}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmctldPidFile={self.folder}/ctld.pid
SlurmdPidFile={self.folder}/slurmd.%n.pid
SlurmdSpoolDir={self.folder}/spool.%n
StateSaveLocation={self.folder}/state
SlurmctldLogFile={self.folder}/ctld.log
SlurmdLogFile={self.folder}/slurmd.%n.log
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1
MpiDefault=none
""")
            for i in range(3):
                file.write(f"NodeName=n{i + 1} NodeHostname={name} NodeAddr=127.0.0.1 Port={ports[i + 1]} "
                           f"CPUs={os.cpu_count()} RealMemory=500\n")
            file.write("PartitionName=all Nodes=n[1-3] Default=YES OverSubscribe=YES State=UP\n")
        self.environment = {**os.environ, "SLURM_CONF": os.path.join(self.folder, "slurm.conf")}
        self.start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={munge}",
                   f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munged.log",
                   f"--seed-file={self.folder}/munged.seed")
        time.sleep(1)
        self.start("slurmctld", "-D")
        for i in range(3):
            self.start("slurmd", "-D", "-N", f"n{i + 1}")
        for _ in range(60):
            states = subprocess.run(["sinfo", "-h", "-o", "%t %D"], env=self.environment, capture_output=True, text=True)
            if states.stdout.strip() == "idle 3":
                return self
            time.sleep(0.5)
        self.__exit__()
        raise unittest.SkipTest("Slurm did not come up here: " + states.stdout + states.stderr)

    def start(self, *words):
        self.started.append(subprocess.Popen(words, env=self.environment, stdout=subprocess.DEVNULL,
                                             stderr=subprocess.DEVNULL))

    @staticmethod
    def free_port():
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            return one.getsockname()[1]

    def __exit__(self, *_):
        for process in reversed(self.started):
            process.terminate()
        for process in self.started:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


if __name__ == "__main__":
    if not HAS_MPI and not HAS_SLURM:
        sys.exit(77)
    unittest.main()
