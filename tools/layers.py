#!/usr/bin/env python3
"""Reads every #include and fails when a layer includes upwards or sideways.

The rule (docs/architecture.md): a file of layer L may include L itself and the layers listed for it below. Tests and
benchmarks of L may also use testing/ and bench/, and tests client/, whose other end they test. Nothing but tests and apps includes testing/ or bench/.
"""
import pathlib
import re
import sys

MAY_INCLUDE = {
    "core": set(),
    "rt": set(),  # usable on its own
    "flow": {"core", "rt"},
    "journal": {"core", "rt"},
    "link": {"core", "rt"},
    "client": {"core", "link"},
    "expect": {"core", "journal"},
    "coordinator": {"core", "rt", "flow", "journal", "link"},
    "hil": {"core", "rt", "flow", "journal", "link"},
    "agents": {"core", "rt", "flow", "journal", "link"},
    "v2x": {"core", "rt", "flow", "journal", "link"},
    "world": {"core", "rt", "flow", "journal", "link"},
    "bridge": {"core", "rt", "flow", "journal", "link", "client"},  # client: what stands in a process of its own
    "scenario": {"core", "rt", "flow", "journal", "link", "expect", "coordinator", "hil", "agents", "v2x", "world", "bridge"},
    "view": {"core", "rt", "journal", "expect", "world", "scenario"},
    "tasks": {"core", "client"},
    "bench": set(),
    "testing": {"core"},
    "apps": {"core", "rt", "flow", "journal", "link", "client", "expect", "coordinator", "hil", "agents", "v2x", "world",
             "bridge", "scenario", "view", "bench"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')
SOURCES = {".hpp", ".cpp", ".h", ".c"}


def allowed(path: pathlib.PurePath) -> set[str]:
    layer = path.parts[0]
    layers = MAY_INCLUDE[layer] | {layer}
    if {"test", "fuzz"} & set(path.parts[1:-1]):
        layers |= {"testing", "client"}
    if "bench" in path.parts[1:-1]:
        layers |= {"bench", "testing"}
    return layers


def violations(root: pathlib.Path) -> list[str]:
    found = []
    for layer in MAY_INCLUDE:
        for file in sorted((root / layer).rglob("*")):
            if file.suffix not in SOURCES:
                continue
            path = file.relative_to(root)
            for number, line in enumerate(file.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                if not match or "/" not in match[1]:
                    continue
                target = match[1].split("/")[0]
                if target in MAY_INCLUDE and target not in allowed(path):
                    found.append(f"{path}:{number}: {path.parts[0]}/ must not include {match[1]}")
    return found


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    found = violations(root)
    print("\n".join(found) or "layers: every include points down")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
