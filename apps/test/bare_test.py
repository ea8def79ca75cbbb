"""Boards without an operating system, over serial lines: on an emulated Cortex-M3 and on Linux, with keys, over lines that lose bytes."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ISOCHRON, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
BUILD = os.path.dirname(os.path.dirname(ISOCHRON))
SCENARIO = os.path.join(ROOT, "examples/hil/hil.yaml")
KEY = "00112233445566778899aabbccddeeff" * 2
PATIENCE = 90


class Bare(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def line(self, drop=0):
        """Both ends of a serial line."""
        line = subprocess.Popen([sys.executable, os.path.join(ROOT, "tools/test/lossy_line.py"), "--drop", str(drop)],
                                stdout=subprocess.PIPE, text=True)
        self.addCleanup(line.wait)
        self.addCleanup(line.kill)
        return line.stdout.readline().split()

    def serve(self, device, *args, duration="1s", **env):
        host = subprocess.Popen([ISOCHRON, "serve", SCENARIO, "--listen", "127.0.0.1:0", "--serial", f"{device}:921600", "--json",
                                 "--duration", duration, "--journal", os.path.join(self.folder, "run.mcap"), *args],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **env},
                                cwd=self.folder)
        self.addCleanup(host.kill)
        self.assertIn("listening on", host.stderr.readline())
        return host

    def finish(self, host):
        out, err = host.communicate(timeout=PATIENCE)
        self.assertEqual(host.returncode, 0, out + err)
        return json.loads(next(line for line in out.splitlines() if line.startswith("{")))

    def on_linux(self, device, kind="", *words):
        program = os.path.join(BUILD, "test/bare_linux_pilot" + kind)
        pilot = subprocess.Popen([program, device, *words], stderr=subprocess.PIPE, text=True)
        self.addCleanup(pilot.kill)
        return pilot

    def on_board(self, kind=""):
        """An emulated board, and the device that its UART is."""
        qemu, image = shutil.which("qemu-system-arm"), os.path.join(BUILD, f"test/bare_pilot{kind}.elf")
        if not qemu or not os.path.exists(image):
            self.skipTest("needs Debian's qemu-system-arm and gcc-arm-none-eabi")
        board = subprocess.Popen([qemu, "-M", "mps2-an385", "-display", "none", "-monitor", "none", "-kernel", image,
                                  "-semihosting-config", "enable=on,target=native", "-chardev", "pty,id=line", "-serial",
                                  "chardev:line"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(board.wait)
        self.addCleanup(board.kill)
        return board, re.search(r"/dev/pts/\d+", board.stdout.readline())[0]

    def expect_flown(self, report):
        self.assertEqual(report["end"], "finished")
        self.assertAlmostEqual(report["simulated_s"], 1.0)
        target, = report["hil"]["targets"]
        self.assertGreater(report["hil"]["requests"], 100, report["hil"])
        self.assertEqual(target["clock_faults"], 0, target)
        self.assertEqual(target["clock_jumps"], 0, target)
        self.assertEqual(target["losses"], 0, target)
        return target

    def test_a_pilot_flies_over_a_serial_line(self):
        ours, theirs = self.line()
        host = self.serve(ours)
        pilot = self.on_linux(theirs)
        self.expect_flown(self.finish(host))
        self.assertEqual(pilot.wait(PATIENCE), 0, pilot.stderr.read())

    def test_the_large_client_speaks_over_a_serial_line_too(self):
        for drop in (0, 200):
            ours, theirs = self.line(drop)
            host = self.serve(ours, ISOCHRON_KEY=KEY)
            pilot = subprocess.Popen([os.path.join(BUILD, "bin/hil_pilot")], stderr=subprocess.PIPE, text=True,
                                     env={**os.environ, "ISOCHRON": f"serial://{theirs}:921600/prey/pilot", "ISOCHRON_KEY": KEY})
            self.addCleanup(pilot.kill)
            self.expect_flown(self.finish(host))
            self.assertEqual(pilot.wait(PATIENCE), 0, pilot.stderr.read())

    def test_a_wrong_serial_address_is_refused_with_what_would_be_right(self):
        _, theirs = self.line()
        for address, why in (("serial:///dev/null:9600/prey/pilot", "is no serial line"),
                             ("serial://dev/ttyS0:9600/prey/pilot", "it is written as"),
                             (f"serial://{theirs}:fast/prey/pilot", "it is written as"),
                             (f"serial://{theirs}:9600", "which target this is, is missing")):
            pilot = subprocess.run([os.path.join(BUILD, "bin/hil_pilot")], capture_output=True, text=True, timeout=PATIENCE,
                                   env={**os.environ, "ISOCHRON": address})
            self.assertNotEqual(pilot.returncode, 0)
            self.assertIn(why, pilot.stderr)

    def test_a_line_that_drops_every_hundredth_byte_still_carries_it(self):
        ours, theirs = self.line(drop=100)
        host = self.serve(ours)
        pilot = self.on_linux(theirs)
        self.expect_flown(self.finish(host))
        self.assertEqual(pilot.wait(PATIENCE), 0)
        resent = int(re.search(r"sent again: (\d+)", pilot.stderr.read())[1])
        self.assertGreater(resent, 10, "the line did lose bytes")

    def test_over_a_serial_line_the_same_keys_count(self):
        ours, theirs = self.line()
        host = self.serve(ours, ISOCHRON_KEY=KEY)
        stranger = self.on_linux(theirs)
        self.assertEqual(stranger.wait(PATIENCE), 1)
        self.assertIn("the host asks for a key", stranger.stderr.read())
        pilot = self.on_linux(theirs, "_keyed")
        report = self.finish(host)
        self.expect_flown(report)
        self.assertEqual(pilot.wait(PATIENCE), 0, pilot.stderr.read())

    def test_a_pilot_that_is_killed_comes_back_on_the_same_line(self):
        ours, theirs = self.line()
        host = self.serve(ours, "--pace", "1x", duration="3s")
        first = self.on_linux(theirs)
        time.sleep(1.5)
        first.kill()
        first.wait()
        second = self.on_linux(theirs)
        report = self.finish(host)
        self.assertEqual(report["hil"]["targets"][0]["losses"], 1, report["hil"])
        self.assertEqual(second.wait(PATIENCE), 0, second.stderr.read())

    def test_a_clock_at_a_tenth_of_the_true_rate_is_found_out_and_the_hosts_counts(self):
        ours, theirs = self.line()
        host = self.serve(ours)
        pilot = self.on_linux(theirs, "", "0.1")
        report = self.finish(host)
        target, = report["hil"]["targets"]
        self.assertGreater(target["clock_faults"], 5, target)
        self.assertAlmostEqual(target["clock_rate"], 0.1, delta=0.02)
        self.assertTrue(any("of the true rate" in note for note in report["notes"]), report["notes"])
        self.assertEqual(pilot.wait(PATIENCE), 0, pilot.stderr.read())

    def test_a_wrong_clock_is_fenced_off_where_the_scenario_says_so(self):
        ours, theirs = self.line()
        host = self.serve(ours, "--set", "hil.wrong_clock=fenced", duration="20s")
        pilot = self.on_linux(theirs, "", "0.1")
        self.assertEqual(pilot.wait(PATIENCE), 1)
        self.assertRegex(pilot.stderr.read(), r"its clock is wrong: it runs at 0\.(09|1)")
        self.finish(host)

    def test_what_is_no_serial_line_is_refused_with_its_place(self):
        for line, why in (("/dev/null:9600", "is not a serial line"), ("/dev/none:9600", "No such file"),
                          ("/dev/ttyS0", "is not DEVICE:BAUD")):
            host = subprocess.run([ISOCHRON, "serve", SCENARIO, "--listen", "127.0.0.1:0", "--serial", line], capture_output=True,
                                  text=True, timeout=PATIENCE, cwd=self.folder)
            self.assertEqual(host.returncode, 2, host.stderr)
            self.assertIn(why, host.stderr)

    def test_a_board_without_an_operating_system_flies(self):
        board, device = self.on_board()
        self.expect_flown(self.finish(self.serve(device)))
        self.assertEqual(board.wait(PATIENCE), 0)

    def test_a_board_without_an_operating_system_holds_a_key(self):
        board, device = self.on_board("_keyed")
        self.expect_flown(self.finish(self.serve(device, ISOCHRON_KEY=KEY)))
        self.assertEqual(board.wait(PATIENCE), 0)


if __name__ == "__main__":
    import warnings
    warnings.simplefilter("ignore", ResourceWarning)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2, warnings="ignore")
