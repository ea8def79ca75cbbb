#!/usr/bin/env python3
"""Drives a car and knows nothing of Isochron: it gets its car's state as JSON over UDP and what its radio hears on another port,
and sends steer, throttle and brake back. Usage: stranger.py SIGNAL_GROUP LANE_X"""
import json
import math
import select
import socket
import sys


class Bits:
    """Reads unaligned packed numbers (UPER)."""

    def __init__(self, octets):
        self.value, self.left = int.from_bytes(octets, "big"), 8 * len(octets)

    def take(self, count):
        self.left -= count
        if self.left < 0:
            raise ValueError("the frame ends early")
        return self.value >> self.left & (1 << count) - 1


def signal(octets, group):
    """What SPaT says of a signal group: its eventState. None: it is another message, or says nothing of it."""
    bits = Bits(octets)
    if bits.take(1) or bits.take(15) != 19:
        return None
    if bits.take(1):  # length of the open type
        bits.take(15)
    else:
        bits.take(7)
    bits.take(1)  # extension
    minute, name, regional = bits.take(1), bits.take(1), bits.take(1)
    if minute:
        bits.take(20)
    if name or regional:
        return None
    for _ in range(bits.take(5) + 1):
        bits.take(1)
        named, moy, stamp, lanes, assist, more = (bits.take(1) for _ in range(6))
        region = bits.take(1)
        if named or lanes or assist or more:
            return None
        bits.take(16 + (16 if region else 0))
        bits.take(7 + 16)
        bits.take((20 if moy else 0) + (16 if stamp else 0))
        for _ in range(bits.take(8) + 1):
            bits.take(1)
            if bits.take(3):
                return None
            of, state = bits.take(8), None
            for _ in range(bits.take(4) + 1):
                bits.take(1)
                timing, speeds, more = bits.take(1), bits.take(1), bits.take(1)
                shows = bits.take(4)
                state = shows if state is None else state
                if timing:
                    there = [bits.take(1) for _ in range(5)]
                    bits.take(16)
                    for given, size in zip(there, (16, 16, 16, 4, 16)):
                        bits.take(size if given else 0)
                if speeds or more:
                    return None
            if of == group:
                return state
    return None


group, lane = int(sys.argv[1]), float(sys.argv[2])
car = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
car.connect(("127.0.0.1", 5005))
radio = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
radio.bind(("0.0.0.0", 4041))
car.send(json.dumps({"brake": 1.0}).encode())
green, frames = False, 0
while True:
    ready, _, _ = select.select([car, radio], [], [])
    if radio in ready:
        frames += 1
        try:
            state = signal(radio.recv(2048), group)
        except ValueError:
            continue
        green = state in (5, 6) if state is not None else green
    if car not in ready:
        continue
    seen = json.loads(car.recv(65536))
    w, x, y, z = seen["turned"]
    heading = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    aside, turned = lane - seen["at"][0], math.remainder(heading + math.pi / 2, 2 * math.pi)  # it drives south
    target, left = 8.0, seen["at"][1] - 16.5
    if not green and -1 < left and seen["speed"] ** 2 / 10 < left + 1:
        target = min(target, math.sqrt(max(0.0, 4 * (left - 0.5))))
    more = target - seen["speed"]
    car.send(json.dumps({"steer": max(-1, min(1, 0.12 * aside - 1.2 * turned)), "throttle": max(0, min(0.8, 0.35 * more)),
                         "brake": max(0, min(1, -0.3 * more)) if more < -0.1 else 0.4 if target < 0.1 else 0}).encode())
