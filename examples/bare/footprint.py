"""What a board's program takes: flash, RAM and the worst stack, of the client alone and of the whole; fails beyond its limits.

    footprint.py SIZE IMAGE PARTS     as examples/bare/build calls it; PARTS has objects and GCC's call graphs (*.ci)

The worst stack is the deepest way through the call graph. Calls through pointers are those of transports: the client calls the
serial line's functions, and these the board's. Functions without a figure (libgcc's) are counted with 64 bytes.
"""
import pathlib
import re
import subprocess
import sys

FLASH_MOST, RAM_MOST = 16 * 1024, 4 * 1024
CLIENT = ("isochron_bare", "isochron_serial", "keyed", "serial_line")
CALLED = {"isochron_bare.c": ("serial_send", "serial_receive", "serial_clock"),
          "isochron_serial.c": ("uart_send", "uart_receive", "uart_clock")}
UNKNOWN = 64


def sizes(tool, files):
    lines = subprocess.run([tool, *files], capture_output=True, text=True, check=True).stdout.splitlines()[1:]
    return [[int(n) for n in line.split()[:3]] for line in lines]


def call_graph(parts):
    frames, calls = {}, {}
    for file in parts.glob("*.ci"):
        text = file.read_text()
        for title, label in re.findall(r'node: \{ title: "([^"]+)" label: "([^"]+)"', text):
            frame = re.search(r"(\d+) bytes", label)
            if frame:
                frames[title] = int(frame[1])
        for source, target in re.findall(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', text):
            calls.setdefault(source, set()).add((target, file.stem + ".c"))
    return frames, calls


def deepest(function, frames, calls, above=()):
    """(bytes, functions) of the deepest way from it."""
    if function in above:
        sys.exit(f"{function} calls itself: its stack has no bound")
    best = (0, [])
    for target, unit in calls.get(function, ()):
        if target == "__indirect_call":
            targets = [t for t in frames if t.split(":")[-1] in CALLED.get(unit, ())]
            if not targets:
                sys.exit(f"{function} calls through a pointer that footprint.py does not know")
        else:
            targets = [target]
        best = max([best, *(deepest(t, frames, calls, (*above, function)) for t in targets)], key=lambda way: way[0])
    return frames.get(function, UNKNOWN) + best[0], [function.split(":")[-1], *best[1]]


def main():
    tool, image, parts = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    client = sizes(tool, [str(parts / f"{name}.o") for name in CLIENT])
    flash = sum(text + data for text, data, _ in client)
    (text, data, bss), = sizes(tool, [image])
    stack, way = deepest("main", *call_graph(parts))
    print(f"client: {flash} bytes of flash")
    print(f"whole program: {text + data} bytes of flash, {data + bss} of RAM and {stack} of stack at worst: {data + bss + stack}")
    print("deepest: " + " > ".join(way))
    if text + data > FLASH_MOST or data + bss + stack > RAM_MOST:
        sys.exit(f"more than {FLASH_MOST} bytes of flash or {RAM_MOST} of RAM")


main()
