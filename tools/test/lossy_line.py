#!/usr/bin/env python3
"""A serial line that is not good: two ptys, and what one end writes the other reads, but for what gets lost on the way.

    lossy_line.py [--drop N]      every Nth byte in each direction is lost; prints the names of both ends
"""
import argparse
import os
import select
import sys
import tty

parser = argparse.ArgumentParser()
parser.add_argument("--drop", type=int, default=0)
flags = parser.parse_args()

masters, names, keep = [], [], []
for _ in range(2):
    master, slave = os.openpty()
    tty.setraw(slave)
    masters.append(master)
    keep.append(slave)  # open on our side, so that an end may close and open it again
    names.append(os.ttyname(slave))
print(*names, flush=True)

counts = [0, 0]
while True:
    for master in select.select(masters, [], [])[0]:
        which = masters.index(master)
        out = bytearray()
        for byte in os.read(master, 4096):
            counts[which] += 1
            if flags.drop == 0 or counts[which] % flags.drop != 0:
                out.append(byte)
        if out:
            os.write(masters[1 - which], out)
