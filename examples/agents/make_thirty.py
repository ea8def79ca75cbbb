#!/usr/bin/env python3
"""Writes thirty_cars.yaml: all cars of the intersection with full dynamics, split between two clients."""

CARS_ON_A_LANE = [4, 4, 4, 4, 4, 4, 3, 3]  # as models/make_intersection.py places them
ARMS = {"south": (0, -1), "east": (1, 0), "north": (0, 1), "west": (-1, 0)}


def main():
    lines = ["# Thirty cars with full dynamics at one crossing, two clients. Written by make_thirty.py.",
             "name: thirty_cars", "duration: 20s", "seed: 1",
             "world: {model: ../../models/intersection.xml, step: 5ms}",
             "agents:", "  heartbeat: 10ms", "  members:",
             "    signals: {kind: lights, client: one, phases: [{lasts: 8s, green: [south, north]}, "
             "{lasts: 2s, yellow: [south, north]}, {lasts: 8s, green: [east, west]}, {lasts: 2s, yellow: [east, west]}]}"]
    number, lane_number = 1, 0
    for arm, (ax, ay) in ARMS.items():
        for lane in (0, 1):
            aside = (0.5 + lane) * 3.5
            right = (-ay * aside, ax * aside)
            for i in range(CARS_ON_A_LANE[lane_number]):
                away = 24 + 9 * i
                x, y = ax * away + right[0], ay * away + right[1]
                # They come to rest one behind the other.
                tx, ty = -ax * (115 - 9 * i) + right[0], -ay * (115 - 9 * i) + right[1]
                sx, sy = ax * 16 + right[0], ay * 16 + right[1]
                client = "one" if arm in ("south", "north") else "two"
                lines.append(f"    car{number:02d}: {{kind: car, client: {client}, path: [[{x:g}, {y:g}], [{tx:g}, {ty:g}]], "
                             f"speed: 12, obeys: signals/{arm}, stop: [{sx:g}, {sy:g}]}}")
                number += 1
            lane_number += 1
    lines.append("time: {mode: heartbeat}")
    open("thirty_cars.yaml", "w").write("\n".join(lines) + "\n")


main()
