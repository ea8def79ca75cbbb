#!/usr/bin/env python3
"""Reads every #include and fails when a layer includes upwards or sideways.

EDGES is the architecture (docs/architecture.md): for each layer those that its code includes, no more and no fewer. An
include that is not listed fails, and so does an edge that no include needs any more. Tests, fuzzers and benchmarks of a
layer may also use what lies below it, testing/, bench/, client/, whose other end they test, and the ground floors. Nothing but tests and
apps includes testing/ or bench/.
"""
import pathlib
import re
import sys

EDGES = {
    "core": set(),
    "rt": set(),  # usable on its own
    "msg": {"core"},
    "protocol": set(),  # usable on a board
    "flow": {"core", "rt"},
    "journal": {"core"},
    "link": {"core", "msg", "protocol"},
    "client": {"core", "protocol"},
    "expect": {"core", "journal"},
    "agents": {"core", "rt", "link"},
    "v2x": {"core", "link"},
    "world": {"core", "msg"},
    "programs": {"core", "rt", "protocol", "link"},
    "road": {"core"},
    "bridge": {"core", "rt", "msg", "flow", "journal", "link", "client"},
    "scenario": {"core", "msg", "flow", "journal", "link", "expect", "v2x", "world", "programs", "bridge"},
    "traffic": {"core", "msg", "flow", "v2x", "world", "scenario"},
    "run": {"core", "rt", "msg", "protocol", "flow", "journal", "link", "expect", "agents", "v2x", "world",
            "programs", "road", "bridge", "scenario", "traffic"},
    "view": {"core", "journal", "run"},
    "tasks": {"msg", "client"},
    "bench": set(),
    "testing": {"core"},
    "apps": {"core", "rt", "flow", "journal", "link", "expect", "agents", "v2x", "world", "programs", "road",
             "bridge", "scenario", "run", "view", "bench"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')
SOURCES = {".hpp", ".cpp", ".h", ".c"}
BESIDE = {"test", "fuzz", "bench", "example"}
BESIDE_TOO = {"testing", "bench", "client", "rt", "msg", "link"}


def below(layer: str) -> set[str]:
    found: set[str] = set()
    open_edges = set(EDGES[layer])
    while open_edges:
        one = open_edges.pop()
        if one not in found:
            found.add(one)
            open_edges |= EDGES[one]
    return found


def includes(root: pathlib.Path):
    """(file, line, layer, included layer, included file, whether it stands beside the layer's own code)."""
    for layer in EDGES:
        for file in sorted((root / layer).rglob("*")):
            if file.suffix not in SOURCES:
                continue
            path = file.relative_to(root)
            beside = bool(BESIDE & set(path.parts[1:-1]))
            for number, line in enumerate(file.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                target = match[1].split("/")[0] if match and "/" in match[1] else ""
                if target in EDGES and target != layer:
                    yield path, number, layer, target, match[1], beside


def violations(root: pathlib.Path) -> list[str]:
    found = []
    for path, number, layer, target, included, beside in includes(root):
        allowed = below(layer) | BESIDE_TOO if beside else EDGES[layer]
        if target not in allowed:
            found.append(f"{path}:{number}: {layer}/ must not include {included}")
    return found


def needless(root: pathlib.Path) -> list[str]:
    """Edges that are listed though no include needs them."""
    needed = {(layer, target) for _, _, layer, target, _, beside in includes(root) if not beside}
    return [f"tools/layers.py: {layer}/ does not include {edge}/ any more; take the edge out"
            for layer, edges in EDGES.items() for edge in sorted(edges) if (layer, edge) not in needed]


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    found = violations(root) + needless(root)
    print("\n".join(found) or "layers: every include points down")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
