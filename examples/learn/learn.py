#!/usr/bin/env python3
"""Learns to follow: two gains of a spring and a damper that keep the predator near the prey, found by random search in 16
worlds at once (isochron.Env). Prints the mean distance before and after.

    PYTHONPATH=client/python python3 examples/learn/learn.py
"""
import os
import sys

import numpy

import isochron

SCENARIO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "follow.yaml")
AXES = "xyz"
SEEN = [f"{ship}.{what}.{axis}" for ship in ("prey", "predator") for what in ("position", "velocity") for axis in AXES]
WORLDS = 16


def force(seen, gains):
    """A spring and a damper between the two, for each world its own."""
    prey, prey_speed, own, own_speed = (seen[:, i:i + 3] for i in (0, 3, 6, 9))
    return numpy.clip(gains[:, :1] * (prey - own) + gains[:, 1:] * (prey_speed - own_speed), -20, 20)


def mean_distance(env, gains):
    seen, _ = env.reset(seed=1)
    total, steps = numpy.zeros(WORLDS), 0
    ended = numpy.zeros(WORLDS, dtype=bool)
    while not ended.any():
        seen, _, _, ended, info = env.step(force(seen, gains))
        last = info.get("final_observation", seen)
        total += numpy.linalg.norm(last[:, 0:3] - last[:, 6:9], axis=1)
        steps += 1
    return total / steps


def main(rounds: int = 6) -> None:
    chance = numpy.random.default_rng(1)
    best = numpy.array([0.0, 0.0])
    with isochron.Env(SCENARIO, observe=SEEN, act=[f"predator/f{axis}" for axis in AXES], steps=5, worlds=WORLDS) as env:
        before = least = float(mean_distance(env, numpy.tile(best, (WORLDS, 1)))[0])
        for _ in range(rounds):
            tries = numpy.abs(best + chance.normal(0, 2, (WORLDS, 2)))
            tries[0] = best
            found = mean_distance(env, tries)
            if found.min() < least:
                best, least = tries[found.argmin()], float(found.min())
    print(f"mean distance {before:.2f} m before, {least:.2f} m after: spring {best[0]:.2f}, damper {best[1]:.2f}")
    if least > before / 2:
        sys.exit("it has not learned")


if __name__ == "__main__":
    main()
