#!/usr/bin/env python3
"""Writes the intersection with its traffic: a model (cars on the arms) and a scenario.

    make.py [--seed N] [--out FOLDER]

Roads, buildings and signals are those of models/intersection.xml: four arms, two lanes in and two out on each, after
University Avenue and Park Street in Madison (paper 004). The mesh of the real one is not public; this is one in kind.
Thirty cars: sixteen go straight on, six turn right, six turn left and give way to who comes towards them, two are late
and drive over the red. Distances and speeds are drawn."""
import argparse
import math
import os
import random

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "models")
LANE, STOP = 3.5, 13.0
ARMS = {"south": (0, -1), "east": (1, 0), "north": (0, 1), "west": (-1, 0)}  # where the arm lies; traffic drives inwards
OPPOSITE = {"south": "north", "north": "south", "east": "west", "west": "east"}
CLIENTS = {"south": "one", "north": "one", "east": "two", "west": "two"}
CARS_ON_A_LANE = [4, 4, 4, 4, 4, 4, 3, 3]
COLOURS = ["0.7 0.1 0.1", "0.1 0.2 0.6", "0.85 0.85 0.85", "0.15 0.15 0.15", "0.2 0.45 0.2", "0.75 0.6 0.2"]
PHASES = """      phases:
        - {lasts: 12s, green: [south, north]}
        - {lasts: 2s, yellow: [south, north]}
        - {lasts: 2s}
        - {lasts: 12s, green: [east, west]}
        - {lasts: 2s, yellow: [east, west]}
        - {lasts: 2s}
"""


def on_arm(arm, lane, away, outwards=False):
    """A point of a lane; 0 is next to the middle line. Driving on the right."""
    ax, ay = ARMS[arm]
    aside = (0.5 + lane) * LANE * (-1 if outwards else 1)
    return ax * away - ay * aside, ay * away + ax * aside


def right_of(arm):
    """The arm that a right turn leads to."""
    ax, ay = ARMS[arm]
    for name, (bx, by) in ARMS.items():
        if (bx, by) == (-ay, ax):
            return name


def goal_of(arm, route):
    return {"straight": OPPOSITE[arm], "right": right_of(arm), "left": OPPOSITE[right_of(arm)]}[route]


def on_turn(arm, lane, to, s):
    """A quadratic curve from stop line to stop line, by the corner where the two lanes would meet; s from 0 to 1."""
    entry, leave = on_arm(arm, lane, STOP), on_arm(to, lane, STOP, outwards=True)
    corner = (entry[0], leave[1]) if ARMS[arm][0] == 0 else (leave[0], entry[1])
    return tuple((1 - s) ** 2 * e + 2 * s * (1 - s) * c + s * s * l for e, c, l in zip(entry, corner, leave))


def path_of(arm, lane, away, route, end):
    to = goal_of(arm, route)
    ends = [on_arm(arm, lane, away), on_arm(to, lane, end, outwards=True)]
    return ends if route == "straight" else [ends[0], *(on_turn(arm, lane, to, i / 8) for i in range(9)), ends[1]]


def gives_way(arm, lane):
    """Who turns left waits within the crossing for both lanes of those who come towards it."""
    to, other = goal_of(arm, "left"), OPPOSITE[arm]
    wait = on_turn(arm, lane, to, 0.2)
    lanes = []
    for oncoming in (0, 1):
        line = on_arm(other, oncoming, STOP)
        across = 0 if ARMS[arm][0] == 0 else 1  # the coordinate in which the two ways differ
        s = min((i / 200 for i in range(201)), key=lambda i: abs(on_turn(arm, lane, to, i)[across] - line[across]))
        meets = list(line)
        meets[1 - across] = on_turn(arm, lane, to, s)[1 - across]
        lanes.append(f"{{from: [{line[0]:g}, {line[1]:g}], meets: [{meets[0]:.2f}, {meets[1]:.2f}]}}")
    return f"{{before: [{wait[0]:.2f}, {wait[1]:.2f}], to: [{', '.join(lanes)}]}}"


def car(name, x, y, heading, colour):
    c, s = math.cos(heading), math.sin(heading)
    turn = f"{math.cos(heading / 2):.6g} 0 0 {math.sin(heading / 2):.6g}"
    out = [f'  <body name="{name}" pos="{x:.3f} {y:.3f} 0.54" quat="{turn}">', f'    <freejoint name="{name}"/>',
           '    <inertial pos="0 0 0" mass="1500" diaginertia="560 2300 2600"/>',
           f'    <geom name="{name}/hull" class="hull" rgba="{colour} 1"/>',
           f'    <geom name="{name}/cabin" class="cabin" rgba="{colour} 1"/>', '  </body>']
    for wheel, (wx, wy) in {"fl": (1.25, .77), "fr": (1.25, -.77), "rl": (-1.4, .77), "rr": (-1.4, -.77)}.items():
        px, py = x + c * wx - s * wy, y + s * wx + c * wy
        out.append(f'  <body name="{name}/wheel_{wheel}" mocap="true" pos="{px:.3f} {py:.3f} 0.29" quat="{turn}">'
                   '<geom class="wheel"/></body>')
    return out


def traffic(seed):
    """Who is where: (name, arm, lane, away, speed, route, runs the red)."""
    draw = random.Random(seed)
    cars, number, lane_number = [], 1, 0
    for arm in ARMS:
        for lane in (0, 1):
            away = 40 + draw.uniform(0, 25)
            for i in range(CARS_ON_A_LANE[lane_number]):
                runs = lane == 0 and i == 0 and arm in ("west", "north")
                turns = {0: "left", 1: "right"}[lane]
                if runs or i not in (1, 3) or (i == 3 and arm in ("north", "west")):
                    turns = "straight"
                # Who runs the red comes late, and is in a hurry.
                place = {"west": 125, "north": 330}[arm] + draw.uniform(-6, 6) if runs else away
                cars.append((f"car{number:02d}", arm, lane, place, 15 if runs else draw.uniform(11, 13.5), turns, runs))
                number += 1
                if not runs:
                    away += draw.uniform(16, 34)
                elif arm == "west":
                    away = 165 + draw.uniform(0, 10)
                else:
                    away = 375 + draw.uniform(0, 10)
            lane_number += 1
    return cars


def lanes():
    lines = []
    for arm in ARMS:
        for lane in (0, 1):
            def nodes(outwards):
                return "[" + ", ".join("[%g, %g]" % on_arm(arm, lane, d, outwards) for d in (STOP, 60, 250, 420)) + "]"
            to = [f"{OPPOSITE[arm]}_out_{lane + 1}", f"{goal_of(arm, ('left', 'right')[lane])}_out_{lane + 1}"]
            lines.append(f"        {arm}_in_{lane + 1}: {{nodes: {nodes(False)}, head: {arm}, to: [{', '.join(to)}]}}")
            lines.append(f"        {arm}_out_{lane + 1}: {{nodes: {nodes(True)}}}")
    return "\n".join(lines)


def scenario(seed, cars):
    members = ["    signals:", "      kind: lights", "      client: one", PHASES.rstrip()]
    ends = {}
    for number, (name, arm, lane, away, speed, route, runs) in enumerate(cars):
        # They come to rest one behind the other, far from the crossing.
        to = (goal_of(arm, route), lane)
        ends[to] = ends.get(to, 0) + 1
        path = path_of(arm, lane, away, route, 320 - 9 * ends[to])
        stop = on_arm(arm, lane, STOP + 3)
        obeys = "" if runs else f", obeys: signals/{arm}, stop: [{stop[0]:g}, {stop[1]:g}]"
        if route == "left":
            obeys += f", gives_way: {gives_way(arm, lane)}"
        model = ", model: kinematic" if number % 3 == 2 else ""
        points = ", ".join(f"[{x:.3f}, {y:.3f}]" for x, y in path)
        members.append(f"    {name}: {{kind: car, client: {CLIENTS[arm]}{model}, speed: {speed:.2f}, path: [{points}]{obeys}}}")
    deaf = ", ".join(c[0] for c in cars if c[6])
    return f"""# Thirty cars at a signalled intersection, on two clients, with radio. Written by make.py --seed {seed}.
# The two of `deaf` run the red. Their radios say where they are; their drivers listen to nobody.
#
#   isochron run experiments/intersection/intersection.yaml                                in one process
#   isochron run experiments/intersection/intersection.yaml --set time.mode=repeatable     exactly
#   experiments/intersection/run                                                          the experiment
name: intersection
duration: 50s
seed: {seed}
world: {{model: intersection.xml, step: 5ms}}
agents:
  heartbeat: 10ms
  vicinity: 150
  members:
""" + "\n".join(members) + f"""
v2x:
  medium: dsrc
  deaf: [{deaf}]
  intersections:
    signals:
      antenna: [9, 9, 5.5]
      lanes:
{lanes()}
robots:
  car01:
    sensors:
      gps: {{type: gps, every: 100ms, position: [0, 0, 0.95], gps: {{latitude: 43.0731, longitude: -89.4009, altitude: 260, horizontal_noise: 1}}}}
      imu: {{type: imu, every: 10ms}}
      lidar: {{type: lidar, every: 100ms, position: [0, 0, 1.2], lidar: {{max: 80}}}}
  car09:
    sensors:
      gps: {{type: gps, every: 100ms, position: [0, 0, 0.95], gps: {{latitude: 43.0731, longitude: -89.4009, altitude: 260, horizontal_noise: 1}}}}
      imu: {{type: imu, every: 10ms}}
time: {{mode: heartbeat}}
"""


def write(seed, folder):
    os.makedirs(folder, exist_ok=True)
    cars = traffic(seed)
    lines = ["<!-- Written by make.py; included by intersection.xml. -->", "<mujocoinclude>"]
    for i, (name, arm, lane, away, *_rest) in enumerate(cars):
        ax, ay = ARMS[arm]
        lines += car(name, *on_arm(arm, lane, away), math.atan2(-ay, -ax), COLOURS[i % len(COLOURS)])
    lines.append("</mujocoinclude>")
    with open(os.path.join(MODELS, "intersection.xml")) as file:
        model = file.read()
    texts = {"cars.xml": "\n".join(lines) + "\n",
             "intersection.xml": model.replace("intersection_cars.xml", "cars.xml"),
             "intersection.yaml": scenario(seed, cars)}
    for name, text in texts.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    return os.path.join(folder, "intersection.yaml")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default=HERE)
    options = parser.parse_args()
    print(write(options.seed, options.out))
