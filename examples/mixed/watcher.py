"""Knows nothing of Isochron: it looks at its clock and sleeps, both on the robot's time."""
import time

begin = time.monotonic()
while True:
    time.sleep(1)
    print(f"{time.monotonic() - begin:.1f} s", flush=True)
