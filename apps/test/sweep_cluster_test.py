#!/usr/bin/env python3
"""Sweeps with many workers: one that is killed, points drawn at random, early stop, tables, and a real Slurm of our own
where it is installed. Usage: sweep_cluster_test.py PATH_OF_ISOCHRON SOURCE_FOLDER"""
import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ISOCHRON, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
CHECK = os.path.join(SOURCE, "tools", "npm", "parquet_check.mjs")
SCENARIO = f"""name: ships
duration: 500ms
seed: 1
world: {{model: {SOURCE}/models/ships.xml, step: 10ms, walls: {{half_width: 25, reach: 5, stiffness: 20}}}}
robots: {{prey: {{}}, predator: {{}}}}
faults: [{{between: [0s, 400ms], push: prey, force: [0, 0, 9], for: 100ms}}]
expect:
  low: always prey.position.z < 0.3
"""


class Case(unittest.TestCase):
    def setUp(self):
        keep = tempfile.TemporaryDirectory()
        self.addCleanup(keep.cleanup)
        self.folder = pathlib.Path(keep.name)
        (self.folder / "ships.yaml").write_text(SCENARIO)

    def sweep(self, *args, code=0, environment=None):
        done = subprocess.run([ISOCHRON, "sweep", "ships.yaml", "-o", "out", "--json", *args], capture_output=True,
                              text=True, cwd=self.folder, timeout=280, env={**os.environ, **(environment or {})})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def table(self, name="sweep"):
        with open(self.folder / "out" / f"{name}.csv", newline="") as file:
            return list(csv.DictReader(file))


class LocalTest(Case):
    def test_a_killed_worker_loses_nothing(self):
        (self.folder / "ships.yaml").write_text(SCENARIO.replace("500ms", "20s").replace("400ms", "399ms"))
        sweep = subprocess.Popen([ISOCHRON, "sweep", "ships.yaml", "-o", "out", "--json", "--over",
                                  "world.walls.stiffness=10..30/3", "--trials", "20", "--jobs", "2"], cwd=self.folder,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        killed = 0
        until = time.monotonic() + 60
        while killed < 2 and time.monotonic() < until and sweep.poll() is None:
            time.sleep(0.2)
            children = subprocess.run(["pgrep", "-P", str(sweep.pid)], capture_output=True, text=True).stdout.split()
            if children:
                os.kill(int(children[0]), signal.SIGKILL)
                killed += 1
        out, err = sweep.communicate(timeout=250)
        self.assertEqual(sweep.returncode, 0, err)
        self.assertEqual(killed, 2)
        self.assertIn("done again", err)
        rows = self.table()
        self.assertEqual(len(rows), 60)
        self.assertEqual(len({(row["world.walls.stiffness"], row["seed"]) for row in rows}), 60)
        self.assertTrue(all(row["end"] == "finished" for row in rows))

    def test_a_latin_hypercube_has_each_piece_of_each_range_once(self):
        self.sweep("--over", "world.walls.stiffness=0..10", "--over", "world.walls.reach=0..1", "--latin", "10", "--trials",
                   "1", "--keep", "none")
        for key, scale in (("world.walls.stiffness", 1), ("world.walls.reach", 10)):
            self.assertEqual(sorted(int(float(row[key]) * scale) for row in self.table()), list(range(10)))
        self.assertEqual(list((self.folder / "out").glob("*.mcap")), [])

    def test_summaries_have_intervals_and_tables_are_parquet_too(self):
        self.sweep("--over", "world.walls.stiffness=10,20", "--trials", "10", "--figure", "simulated,wall")
        summary = self.table("summary")
        self.assertEqual(len(summary), 2)
        for row in summary:
            self.assertEqual(row["finished"], "10")
            self.assertLessEqual(float(row["held_ci95_low"]), float(row["held_share"]))
            self.assertLessEqual(float(row["held_share"]), float(row["held_ci95_high"]))
            self.assertLessEqual(float(row["mean_distance_m_ci95_low"]), float(row["mean_distance_m_mean"]))
            self.assertLessEqual(float(row["mean_distance_m_p5"]), float(row["mean_distance_m_p95"]))
            self.assertAlmostEqual(float(row["simulated_mean"]), 0.5)
        self.assertIn("<polyline", (self.folder / "out" / "sweep.svg").read_text())
        if shutil.which("node") and os.path.exists(os.path.join(SOURCE, "tools/npm/node_modules/parquet-wasm")):
            for name in ("sweep", "summary"):
                done = subprocess.run(["node", CHECK, str(self.folder / "out" / f"{name}.parquet"), "100"],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                read, rows = json.loads(done.stdout), self.table(name)
                self.assertEqual(read["rows"], len(rows))
                self.assertEqual(list(read["columns"]), list(rows[0]))
                if name == "sweep":
                    self.assertEqual(read["columns"]["digest"], [row["digest"] for row in rows])
                    self.assertEqual(read["columns"]["seed"], [int(row["seed"]) for row in rows])

    def test_enough_is_enough(self):
        (self.folder / "ships.yaml").write_text(SCENARIO.replace("0.3", "-1"))
        done = self.sweep("--over", "world.walls.stiffness=10..30/200", "--trials", "1", "--stop-after", "3")
        self.assertIn("enough", done.stderr)
        self.assertLess(len(self.table()), 200)
        done = self.sweep("--over", "world.walls.stiffness=10..30/200", "--trials", "1", "--stop-within", "0.1")
        self.assertLess(len(self.table()), 200)

    def test_mistakes_are_said(self):
        for args, said in [(("--on", "cloud"), "local, slurm or ssh"), (("--on", "ssh"), "--hosts"),
                           (("--partition", "x"), "--on slurm"), (("--latin", "3"), "--over"),
                           (("--keep", "some"), "all, failed or none"), (("--stop-within", "3"), "between 0 and 0.5")]:
            self.assertIn(said, self.sweep(*args, code=2).stderr, args)
        if shutil.which("sbatch") is None:
            self.assertIn("there is no sbatch here", self.sweep("--on", "slurm", code=2).stderr)

    def test_a_full_disk_is_said_and_the_sweep_goes_on_later(self):
        if os.geteuid() != 0:
            self.skipTest("needs to mount")
        disk = self.folder / "out"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "none", str(disk)]).returncode != 0:
            self.skipTest("cannot mount")
        try:
            done = subprocess.run([ISOCHRON, "sweep", "ships.yaml", "-o", "out", "--trials", "30", "--over",
                                   "world.walls.stiffness=10,20"], capture_output=True, text=True, cwd=self.folder)
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stderr, "(?i)no space left|full")
            subprocess.run(["mount", "-o", "remount,size=100m", str(disk)], check=True)
            self.sweep("--trials", "30", "--over", "world.walls.stiffness=10,20")
            self.assertEqual(len(self.table()), 60)
        finally:
            subprocess.run(["umount", "-l", str(disk)])


class Slurm:
    """Three nodes on this machine, in a folder."""

    def __init__(self, folder):
        self.folder = folder
        host = subprocess.run(["hostname", "-s"], capture_output=True, text=True).stdout.strip()
        self.conf = folder / "slurm.conf"
        nodes = "".join(f"NodeName=n{i} NodeHostname={host} NodeAddr=127.0.0.1 Port=1710{i} CPUs=2 RealMemory=1000\n"
                        for i in (1, 2, 3))
        self.conf.write_text(
            f"ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort=17100\nSlurmUser=root\nSlurmdUser=root\n"
            "AuthType=auth/munge\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nReturnToService=2\n"
            "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSlurmdTimeout=10\n"
            f"SlurmctldPidFile={folder}/ctld.pid\nSlurmdPidFile={folder}/d.%n.pid\nSlurmdSpoolDir={folder}/spool.%n\n"
            f"StateSaveLocation={folder}/state\nSlurmctldLogFile={folder}/ctld.log\nSlurmdLogFile={folder}/d.%n.log\n"
            "SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1\nMinJobAge=300\n"
            + nodes + "PartitionName=all Nodes=n[1-3] Default=YES State=UP\n")
        (folder / "state").mkdir()
        self.environment = {"SLURM_CONF": str(self.conf)}
        self.munge = None
        if not os.path.exists("/run/munge/munge.socket.2"):
            subprocess.run(["install", "-d", "-o", "munge", "-g", "munge", "/run/munge"], check=True)
            self.munge = subprocess.Popen(["su", "-s", "/bin/sh", "munge", "-c", "exec munged --foreground"])
            time.sleep(1)
        environment = {**os.environ, **self.environment}
        self.processes = {"ctld": subprocess.Popen(["slurmctld", "-D"], env=environment, stderr=subprocess.DEVNULL)}
        for node in ("n1", "n2", "n3"):
            self.processes[node] = subprocess.Popen(["slurmd", "-D", "-N", node], env=environment, stderr=subprocess.DEVNULL)
        self.up = False
        for _ in range(60):
            time.sleep(0.5)
            said = subprocess.run(["sinfo", "-h", "-o", "%T %D"], capture_output=True, text=True, env=environment)
            if said.stdout.strip() == "idle 3":
                self.up = True
                return

    def stop(self):
        for process in [*self.processes.values(), *filter(None, [self.munge])]:
            process.terminate()
        for process in [*self.processes.values(), *filter(None, [self.munge])]:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


@unittest.skipUnless(shutil.which("slurmctld") and shutil.which("munged") and os.geteuid() == 0,
                     "there is no Slurm here (slurm-wlm, munge, as root)")
class SlurmTest(Case):
    def test_job_arrays_give_what_local_workers_give_and_a_lost_node_costs_nothing(self):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            slurm = Slurm(pathlib.Path(folder))
            try:
                if not slurm.up:
                    self.skipTest("Slurm does not come up here")
                points = ["--over", "world.walls.stiffness=10..30/6", "--trials", "5"]
                self.sweep(*points)
                local = {(row["world.walls.stiffness"], row["seed"]): row["digest"] for row in self.table()}
                shutil.rmtree(self.folder / "out")
                (self.folder / "ships.yaml").write_text(SCENARIO)
                sweep = subprocess.Popen([ISOCHRON, "sweep", "ships.yaml", "-o", "out", "--json", *points, "--on", "slurm",
                                          "--partition", "all", "--sbatch=--time=5"], cwd=self.folder,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                         env={**os.environ, **slurm.environment})
                time.sleep(2)
                slurm.processes["n3"].kill()  # with whatever it runs
                out, err = sweep.communicate(timeout=250)
                self.assertEqual(sweep.returncode, 0, out + err)
                self.assertIn("submitted job", err)
                found = {(row["world.walls.stiffness"], row["seed"]): row["digest"] for row in self.table()}
                self.assertEqual(found, local)
                self.assertTrue(list((self.folder / "out" / "staged").iterdir()))
                self.assertTrue(all("/parts/" in row["journal"] for row in self.table()))
                refused = self.sweep("--over", "world.walls.stiffness=1,2", "--on", "slurm", "--partition", "none", code=2,
                                     environment=slurm.environment)
                self.assertIn("sbatch refuses the job", refused.stderr)
            finally:
                slurm.stop()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
