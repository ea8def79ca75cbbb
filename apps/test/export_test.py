#!/usr/bin/env python3
"""`isochron journal export` to Parquet and HDF5, and `run --metrics`, judged by other people's readers.
Usage: export_test.py PATH_OF_ISOCHRON SOURCE_FOLDER"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

ISOCHRON, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SHIPS = os.path.join(SOURCE, "examples", "ships", "ships.yaml")
CHECK = os.path.join(SOURCE, "tools", "npm", "parquet_check.mjs")
PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's h5py
NAMES = "prey.position.x,prey.velocity.z,prey/imu.angular_velocity.z"


def read_parquet(file, rows=10**9):
    for last in (False, False, True):  # node itself hangs now and then; what is tested is the file
        try:
            done = subprocess.run(["node", CHECK, file, str(rows)], capture_output=True, text=True, timeout=30)
            break
        except subprocess.TimeoutExpired:
            if last:
                raise
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def has_parquet_reader():
    return shutil.which("node") is not None and os.path.exists(
        os.path.join(SOURCE, "tools", "npm", "node_modules", "parquet-wasm"))


def has_h5py():
    return subprocess.run([PYTHON, "-c", "import h5py"], capture_output=True).returncode == 0


class ExportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keep = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.keep.name)
        cls.journal = str(cls.folder / "run.mcap")
        subprocess.run([ISOCHRON, "run", SHIPS, "--duration", "2s", "--journal", cls.journal, "--quiet"], check=True,
                       capture_output=True)
        csv = subprocess.run([ISOCHRON, "journal", "export", cls.journal, NAMES], check=True, capture_output=True,
                             text=True).stdout.splitlines()
        cls.names = csv[0].split(",")
        cls.rows = [[float(cell) if cell else None for cell in line.split(",")] for line in csv[1:]]

    @classmethod
    def tearDownClass(cls):
        cls.keep.cleanup()

    def export(self, *args):
        done = subprocess.run([ISOCHRON, "journal", "export", self.journal, *args], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_parquet_has_what_the_csv_has(self):
        if not has_parquet_reader():
            self.skipTest("parquet-wasm is not installed in tools/npm")
        file = str(self.folder / "a.parquet")
        self.export(NAMES, "--parquet", file)
        table = read_parquet(file)
        self.assertEqual(table["rows"], len(self.rows))
        self.assertEqual(list(table["columns"]), self.names)
        for i, name in enumerate(self.names):
            self.assertEqual(table["columns"][name], [row[i] for row in self.rows], name)

    def test_all_numbers_go_into_a_file_without_names(self):
        if not has_parquet_reader():
            self.skipTest("parquet-wasm is not installed in tools/npm")
        file = str(self.folder / "all.parquet")
        self.export("--parquet", file)
        self.assertIn("predator.orientation.w", read_parquet(file, 1)["columns"])

    def test_hdf5_has_what_the_csv_has(self):
        if not has_h5py():
            self.skipTest("there is no h5py")
        file = str(self.folder / "a.h5")
        self.export(NAMES, "--hdf5", file)
        script = ("import h5py, json, sys, math\nf = h5py.File(sys.argv[1])\n"
                  "print(json.dumps({n: [None if isinstance(v, float) and math.isnan(v) else v for v in f[n][()].tolist()]"
                  " for n in sys.argv[2:]}))")
        done = subprocess.run([PYTHON, "-c", script, file, *self.names], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        table = json.loads(done.stdout)
        for i, name in enumerate(self.names):
            self.assertEqual(table[name], [row[i] for row in self.rows], name)

    def test_all_numbers_as_hdf5(self):
        if not has_h5py():
            self.skipTest("there is no h5py")
        file = str(self.folder / "all.h5")
        self.export("--hdf5", file)
        script = ("import h5py, sys\nf = h5py.File(sys.argv[1])\nfound = []\n"
                  "f.visititems(lambda n, o: found.append(o.shape) if hasattr(o, 'shape') else None)\n"
                  "print(len(found), len(set(found)))")
        out = subprocess.run([PYTHON, "-c", script, file], capture_output=True, text=True)
        self.assertEqual(out.returncode, 0, out.stderr)
        count, shapes = map(int, out.stdout.split())
        self.assertGreater(count, 40)
        self.assertEqual(shapes, 1)

    def test_mistakes_are_said(self):
        for args, said in [(("prey.positon.x", "--parquet", "x"), "prey.position.x"),
                           (("prey.position.x", "--parquet", "/proc/none/x"), "cannot be written"),
                           (("--trace", "--hdf5", "x"), "leave --trace")]:
            done = subprocess.run([ISOCHRON, "journal", "export", self.journal, *args], capture_output=True, text=True,
                                  cwd=self.folder)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn(said, done.stderr)


class MetricsTest(unittest.TestCase):
    def test_a_run_under_way_tells_prometheus_how_far_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.Popen([ISOCHRON, "run", SHIPS, "--pace", "1x", "--metrics", "0", "--quiet", "--journal",
                                    os.path.join(folder, "x.mcap")], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   text=True)
            try:
                address = re.search(r"http://\S+", run.stderr.readline())[0]
                seen = []
                for _ in range(2):
                    time.sleep(0.5)
                    with urllib.request.urlopen(address, timeout=5) as answer:
                        self.assertIn("text/plain", answer.headers["Content-Type"])
                        text = answer.read().decode()
                    seen.append(float(re.search(r"^isochron_simulated_seconds\{.*\} (\S+)$", text, re.M)[1]))
                self.assertLess(seen[0], seen[1])
                with self.assertRaises(urllib.error.HTTPError):
                    urllib.request.urlopen(address.replace("/metrics", "/other"), timeout=5)
                if shutil.which("promtool"):
                    judged = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
                    self.assertEqual((judged.returncode, judged.stdout + judged.stderr), (0, ""))
            finally:
                run.terminate()
                run.wait(30)
                run.stderr.close()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
