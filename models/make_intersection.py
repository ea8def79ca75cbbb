#!/usr/bin/env python3
"""Writes intersection_cars.xml: thirty cars, queued on the four arms of intersection.xml.

Cars are alike, and MJCF has no loops; this is the loop. Run it in this folder after changing a car."""

CARS_ON_A_LANE = [4, 4, 4, 4, 4, 4, 3, 3]  # thirty in all
COLOURS = ["0.7 0.1 0.1", "0.1 0.2 0.6", "0.85 0.85 0.85", "0.15 0.15 0.15", "0.2 0.45 0.2", "0.75 0.6 0.2"]
LANE, FIRST, SPACING = 3.5, 24.0, 9.0
ARMS = {"south": (0, -1), "east": (1, 0), "north": (0, 1), "west": (-1, 0)}  # where the arm lies; traffic drives inwards


def car(number, x, y, heading, colour):
    half = heading / 2
    import math
    turn = f"{math.cos(half):.6g} 0 0 {math.sin(half):.6g}"
    name = f"car{number:02d}"
    c, s = math.cos(heading), math.sin(heading)
    out = [f'  <body name="{name}" pos="{x:g} {y:g} 0.54" quat="{turn}">',
           f'    <freejoint name="{name}"/>',
           '    <inertial pos="0 0 0" mass="1500" diaginertia="560 2300 2600"/>',
           f'    <geom name="{name}/hull" class="hull" rgba="{colour} 1"/>',
           f'    <geom name="{name}/cabin" class="cabin" rgba="{colour} 1"/>',
           f'    <site name="{name}/gps" pos="0 0 0.95"/>',
           '  </body>']
    for wheel, (wx, wy) in {"fl": (1.25, .77), "fr": (1.25, -.77), "rl": (-1.4, .77), "rr": (-1.4, -.77)}.items():
        px, py = x + c * wx - s * wy, y + s * wx + c * wy
        out.append(f'  <body name="{name}/wheel_{wheel}" mocap="true" pos="{px:.3f} {py:.3f} 0.29" quat="{turn}">'
                   '<geom class="wheel"/></body>')
    return out


def main():
    import math
    lines = ["<!-- Written by make_intersection.py; included by intersection.xml. -->", "<mujocoinclude>"]
    number, lane_number = 1, 0
    for ax, ay in ARMS.values():
        heading = math.atan2(-ay, -ax)
        right = (-ay, ax)  # of one who drives inwards: its own side of the road
        for lane in (0, 1):
            aside = (0.5 + lane) * LANE
            for i in range(CARS_ON_A_LANE[lane_number]):
                away = FIRST + i * SPACING
                x, y = ax * away + right[0] * aside, ay * away + right[1] * aside
                lines += car(number, x, y, heading, COLOURS[number % len(COLOURS)])
                number += 1
            lane_number += 1
    lines.append("</mujocoinclude>")
    open("intersection_cars.xml", "w").write("\n".join(lines) + "\n")


main()
