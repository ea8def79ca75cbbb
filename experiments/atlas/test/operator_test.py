"""The operator's link and messages; and, with BUILD_DIR and a browser, the page itself.

Usage: operator_test.py [BUILD_DIR]"""
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import types
import unittest
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
BUILD = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 and os.path.isdir(sys.argv[1]) else None
sys.path[:0] = [os.path.join(ROOT, "experiments/atlas/operator"), os.path.join(ROOT, "client/python")]
import field  # noqa: E402
from isochron._seeing import Image, PointCloud2  # noqa: E402
from shaped_link import BurstLine, Line  # noqa: E402


class Links(unittest.TestCase):
    def test_a_message_takes_the_time_of_its_bits_and_the_latency(self):
        line = Line(9600, latency=0.1)
        line.put(1.0, bytes(120))  # 0.1 s
        self.assertEqual(line.take(1.19), [])
        self.assertEqual(line.take(1.2 + 1e-9), [bytes(120)])

    def test_messages_follow_one_another(self):
        line = Line(9600)
        for i in range(5):
            line.put(0.0, bytes([i]) * 120)
        arrived = []
        for tick in range(1, 60):
            arrived += [(round(tick * 0.01, 2), message[0]) for message in line.take(tick * 0.01 + 1e-9)]
        self.assertEqual(arrived, [(0.1, 0), (0.2, 1), (0.3, 2), (0.4, 3), (0.5, 4)])
        self.assertEqual(line.sent, 600)

    def test_how_often_one_looks_changes_nothing(self):
        def arrivals(step):
            line = BurstLine(8000, every=5, length=1, latency=0.05)
            at, seen, tick = {}, 0, 0
            while len(at) < 6:
                now = tick * step
                while seen < 6 and now >= 0.7 * seen:
                    line.put(now, bytes([seen]) * 400)
                    seen += 1
                for message in line.take(now):
                    at[message[0]] = now
                tick += 1
            return at
        fine, coarse = arrivals(0.001), arrivals(0.1)
        self.assertEqual(list(fine), list(coarse))
        for number, time in fine.items():
            self.assertLess(abs(time - coarse[number]), 0.2)

    def test_bursts_carry_only_while_they_last_and_go_on_in_the_next(self):
        line = BurstLine(8000, every=5, length=1)  # 1000 bytes a second
        line.put(0.5, bytes(1200))
        self.assertEqual(line.take(4.9), [])
        self.assertEqual(line.waiting(), 700)
        self.assertEqual(line.take(5.69), [])
        self.assertEqual(len(line.take(5.71)), 1)
        self.assertEqual(line.open_until(3.0), (False, 5.0))
        self.assertTrue(line.open_until(5.0)[0])

    def test_what_waits_too_long_gives_way_to_what_is_newer(self):
        line = Line(9600, most=300)
        for i in range(10):
            line.put(0.0, bytes([i]) * 100)
        self.assertEqual(line.dropped, 7)
        self.assertEqual([m[0] for m in line.take(10)], [7, 8, 9])


class Messages(unittest.TestCase):
    def test_an_order_is_what_the_controller_expects(self):
        number, data = field.order_of(b'{"number": 7, "steps": [[0, 0.2, 0.1], [1, 0.4, -0.1]]}')
        self.assertEqual((number, len(data)), (7, 232))
        values = struct.unpack("<Q28d", data)
        self.assertEqual(values[:12], (7, 0, 0, 0, 2, 0, 0.2, 0.1, 1, 0.4, -0.1, 0))

    def test_what_is_no_order_is_refused(self):
        for text in (b"", b"{}", b"nonsense", b'{"number": 1, "steps": [[0, 1]]}', b'{"number": -1}', b'[]',
                     b'{"number": 1, "steps": [[0, NaN, 1]]}', json.dumps({"number": 1, "steps": [[0, 0, 0]] * 9}).encode()):
            with self.assertRaises((ValueError, KeyError, TypeError, AttributeError, struct.error), msg=text):
                field.order_of(text)

    def test_points_are_turned_and_moved_into_the_world(self):
        pose = types.SimpleNamespace(position=[1, 2, 0.9], orientation=[math.sqrt(0.5), 0, 0, math.sqrt(0.5)])  # looks to +y
        fields = b"".join(struct.pack("<I2sxxIBxxxI", 2, name + b"\0", at, 7, 1) for at, name in ((0, b"x"), (4, b"y"), (8, b"z")))
        head = b"\0\1\0\0" + struct.pack("<iII4x", 3, 0, 1) + struct.pack("<III", 1, 2, 3) + fields + struct.pack("<BxxxII", 0, 12, 24)
        cloud = head + struct.pack("<I", 24) + struct.pack("<fff", 2, 0, -0.5) + struct.pack("<fff", math.nan, 0, 0) + b"\1"
        message = field.scan(PointCloud2(cloud), pose)
        self.assertEqual(struct.unpack_from("<fH", message, 1), (3.0, 1))
        x, y, z = struct.unpack_from("<hhh", message, 7)
        self.assertEqual((x, y, z), (100, 200 + 210, 90 - 50 + 70))

    def test_a_picture_keeps_its_pixels(self):
        rgb = bytes(range(12))
        image = (b"\0\1\0\0" + struct.pack("<iII4x", 1, 500000000, 1) + struct.pack("<II", 2, 2) +
                 struct.pack("<I5sB", 5, b"rgb8\0", 0) + b"\0\0" + struct.pack("<II", 6, 12) + rgb)
        message = field.picture(Image(image))
        self.assertEqual(struct.unpack_from("<fHH", message, 1), (1.5, 2, 2))
        self.assertEqual(zlib.decompress(message[9:]), rgb)


@unittest.skipIf(BUILD is None, "needs the build folder")
class InABrowser(unittest.TestCase):
    def test_an_operator_looks_places_footsteps_and_freezes_the_robot(self):
        if not shutil.which("node") or not os.path.isdir(os.path.join(ROOT, "tools/npm/node_modules")):
            self.skipTest("needs node and tools/npm/node_modules")
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder, True)
        operate = subprocess.Popen([os.path.join(ROOT, "experiments/atlas/operate"), "--build", BUILD, "--journal",
                                    os.path.join(folder, "run.mcap"), "--burst-every", "2"],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            address = re.search(r"http://\S+", operate.stdout.readline())[0]
            shot = os.environ.get("OPERATOR_SHOT", os.path.join(folder, "shot"))
            done = subprocess.run(["node", os.path.join(HERE, "operator_check.mjs"), address, shot],
                                  capture_output=True, text=True, timeout=280)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        finally:
            operate.terminate()
            operate.communicate(timeout=30)


if __name__ == "__main__":
    unittest.main()
