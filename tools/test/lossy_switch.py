#!/usr/bin/env python3
"""A switch between network namespaces that delays and loses frames: what `tc netem` does, for kernels without it.

Every namespace gets a TAP device `lossy` with the address 10.77.0.N. Prints "ready" when all are up.
Usage: lossy_switch.py --delay MS --jitter MS --loss SHARE --seed N NAMESPACE...
"""
import argparse
import ctypes
import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import time

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
libc = ctypes.CDLL("libc.so.6", use_errno=True)


def enter(path):
    with open(path) as namespace:
        if libc.setns(namespace.fileno(), 0) != 0:
            raise OSError(ctypes.get_errno(), f"cannot enter {path}")


def tap(namespace, number):
    enter(f"/var/run/netns/{namespace}")
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", b"lossy", IFF_TAP | IFF_NO_PI))
    for command in (f"addr add 10.77.0.{number}/24 dev lossy", "link set lossy up", "link set lo up",
                    "route add 224.0.0.0/4 dev lossy"):
        subprocess.run(["ip", *command.split()], check=True)
    return device


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=1.0)
    parser.add_argument("--jitter", type=float, default=0.0)
    parser.add_argument("--loss", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("namespaces", nargs="+")
    args = parser.parse_args()
    chance = random.Random(args.seed)
    devices = [tap(name, i + 1) for i, name in enumerate(args.namespaces)]
    home = {}  # where each hardware address was seen
    flying, count = [], 0
    print("ready", flush=True)
    while True:
        wait = max(0.0, flying[0][0] - time.monotonic()) if flying else None
        for device in select.select(devices, [], [], wait)[0]:
            try:
                frame = os.read(device, 65536)
            except BlockingIOError:
                continue
            home[frame[6:12]] = device
            known = home.get(frame[:6])
            for to in [known] if known else [d for d in devices if d != device]:
                if to == device or chance.random() < args.loss:
                    continue
                due = time.monotonic() + (args.delay + chance.uniform(-args.jitter, args.jitter)) * 1e-3
                count += 1
                heapq.heappush(flying, (due, count, to, frame))
        while flying and flying[0][0] <= time.monotonic():
            _, _, to, frame = heapq.heappop(flying)
            try:
                os.write(to, frame)
            except OSError:
                pass  # a full queue loses frames, as switches do


main()
