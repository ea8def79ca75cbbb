#!/usr/bin/env python3
"""The field computer that talks to the operator: a robot program. It reads camera, LiDAR and pose, sends them down the
shaped link, and hands the controller the orders that come up it. At the other end of the link is the operator's page
(operate), over a socket of this machine; the link itself is in simulated time.

    with: {up_bps: 9600, down_bps: 9600, burst_bps: 3e6, burst_every: 5, burst_for: 1, latency: 0.1, socket: PATH}

Messages down: one letter, then its content, little endian.
    S  16 float32: time, pelvis x y z, yaw, left sole x y, right sole x y, walking, frozen, obeyed, refused, fallen,
       bytes of orders on their way up, time of the next burst
    C  time float32, width, height uint16, then RGB, deflated
    L  time float32, count uint16, then x y z of each point in the world, int16, cm
Messages up: JSON {"number": n, "steps": [[side, x, y], …]} or {"number": n, "freeze": seconds}, side 0 = left."""
import json
import math
import os
import socket
import struct
import sys
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import isochron  # noqa: E402
from shaped_link import BurstLine, Line  # noqa: E402

EYES = (0.10, 0.0, 0.70)  # of the LiDAR, from the pelvis, upright
FALLEN_BELOW = 0.6
ORDER, STANDING = "atlas_msgs/msg/Order", "atlas_msgs/msg/Standing"


def wish(name, otherwise):
    return float(os.environ.get("ISOCHRON_WITH_" + name, otherwise))


def picture(image):
    return b"C" + struct.pack("<fHH", 1e-9 * image.stamp, image.width, image.height) + zlib.compress(image.data, 1)


def points(cloud):
    """The finite points of a cloud, in the sensor's frame."""
    steps = range(0, len(cloud.data) - cloud.point_step + 1, cloud.point_step)
    found = (struct.unpack_from("<fff", cloud.data, at) for at in steps)
    return [p for p in found if all(map(math.isfinite, p)) and any(p)]


def rotate(q, v):
    w, x, y, z = q
    t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])]
    return [v[0] + w * t[0] + y * t[2] - z * t[1], v[1] + w * t[1] + z * t[0] - x * t[2], v[2] + w * t[2] + x * t[1] - y * t[0]]


def scan(cloud, pose):
    packed = []
    for p in points(cloud)[:10000]:
        r = rotate(pose.orientation, [a + b for a, b in zip(p, EYES)])
        world = [round(100 * (a + b)) for a, b in zip(r, pose.position)]
        if all(-32768 < c < 32768 for c in world):
            packed.append(struct.pack("<hhh", *world))
    return b"L" + struct.pack("<fH", 1e-9 * cloud.stamp, len(packed)) + b"".join(packed)


def yaw(q):
    w, x, y, z = q
    return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def order_of(text):
    """The bytes of an Order. Whatever somebody sends, it is an order or ValueError."""
    wanted = json.loads(text)
    steps = wanted.get("steps", [])
    numbers = [float(v) for step in steps for v in step]
    if len(steps) > 8 or any(len(step) != 3 for step in steps) or not all(map(math.isfinite, numbers)):
        raise ValueError("an order has at most 8 footsteps of side, x and y")
    freeze = max(0.0, min(float(wanted.get("freeze", 0)), 30.0))
    return int(wanted["number"]), struct.pack("<Q28d", int(wanted["number"]), 0, 0, freeze, len(steps),
                                              *numbers, *[0.0] * (24 - len(numbers)))


class Field:
    def __init__(self, robot):
        self.robot = robot
        latency = wish("latency", 0.1)
        self.up = Line(wish("up_bps", 9600), latency)
        self.down = Line(wish("down_bps", 9600), latency, most=600)
        self.bursts = BurstLine(wish("burst_bps", 3e6), wish("burst_every", 5), wish("burst_for", 1), latency, most=120_000)
        self.page = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.page.connect(os.environ["ISOCHRON_WITH_socket"])
        self.page.setblocking(False)
        self.page.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        self.order = struct.pack("<Q28d", 0, *[0.0] * 28)
        self.standing = (0, 0, 0.0, 0.0, *[0.0] * 6)

    def run(self):
        tick = 0
        while (now := self.robot.wait(0.02)) is not None:
            self.hear(now)
            if tick % 10 == 0:
                self.robot.send("controller", self.order, ORDER)  # the same again: how does it stand?
            while (message := self.robot.receive("controller", STANDING)) is not None:
                self.standing = struct.unpack("<QQdd6d", message.value)
            pose = self.robot.read("pose")
            if tick % 10 == 5:
                self.down.put(now, self.state(now, pose))
            if tick % 25 == 0:
                self.look(now)
            for line in (self.down, self.bursts):
                for message in line.take(now):
                    self.tell(message)
            tick += 1

    def state(self, now, pose):
        obeyed, refused, walking, frozen, _, lx, ly, _, rx, ry = self.standing
        is_open, until = self.bursts.open_until(now)
        return b"S" + struct.pack("<16f", now, *pose.position, yaw(pose.orientation), lx, ly, rx, ry, walking, frozen,
                                  obeyed, refused, pose.position[2] < FALLEN_BELOW, self.up.waiting(), now if is_open else until)

    def look(self, now):
        """What the robot sees, both of one time."""
        seen = self.robot.read_all(["camera/image", "lidar", "pose"])
        if seen["camera/image"] is not None:
            self.bursts.put(now, picture(seen["camera/image"]))
        if seen["lidar"] is not None:
            self.bursts.put(now, scan(seen["lidar"], seen["pose"]))

    def hear(self, now):
        while True:
            try:
                message = self.page.recv(4096)
            except BlockingIOError:
                break
            if not message:
                break  # the page is gone; the robot stays
            self.up.put(now, message)
        for message in self.up.take(now):
            try:
                number, order = order_of(message)
            except (ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
                self.robot.log(f"an order that is none: {error}")
                continue
            self.order = order
            self.robot.send("controller", order, ORDER)
            self.robot.log(f"order {number}: {message.decode(errors='replace')}")

    def tell(self, message):
        try:
            self.page.send(message)
        except OSError:
            pass  # nobody looks


if __name__ == "__main__":
    Field(isochron.attach()).run()
