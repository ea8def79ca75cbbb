#!/usr/bin/env python3
"""A script that knows nothing of Isochron: it looks at the clock, sleeps, and waits with time limits."""
import queue
import threading
import time

start = time.monotonic()
for lap in range(5):
    time.sleep(0.1)
    print(f"lap {lap + 1} after {time.monotonic() - start:.3f} s")

answers = queue.Queue()
threading.Timer(0.25, answers.put, ["found"]).start()
try:
    answers.get(timeout=0.2)
except queue.Empty:
    print(f"no answer after {time.monotonic() - start:.3f} s")
print(f"{answers.get(timeout=1)} after {time.monotonic() - start:.3f} s", flush=True)
