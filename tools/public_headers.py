#!/usr/bin/env python3
"""Prints the headers that are installed: those of cmake/public_headers.txt and what they include, one a line.
Usage: public_headers.py SOURCE_DIR"""
import os
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def main(top):
    with open(os.path.join(top, "cmake/public_headers.txt"), encoding="utf-8") as file:
        wanted = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    found = set()
    while wanted:
        header = wanted.pop()
        if header in found:
            continue
        path = os.path.join(top, header)
        if not os.path.exists(path):
            sys.exit(f"{header} does not exist; see cmake/public_headers.txt")
        found.add(header)
        with open(path, encoding="utf-8") as file:
            for included in INCLUDE.findall(file.read()):
                beside = os.path.join(os.path.dirname(header), included)
                for place in (included, beside):
                    if os.path.exists(os.path.join(top, place)):
                        wanted.append(place)
                        break  # generated ones are installed by those who make them
    print("\n".join(sorted(found)))


main(sys.argv[1])
