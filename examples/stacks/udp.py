"""An echo server and a client that counts what comes back, and when."""
import socket
import sys
import time

link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if sys.argv[1] == "serve":
    link.bind(("", 9000))
    while True:
        data, sender = link.recvfrom(1000)
        link.sendto(data, sender)

link.settimeout(0.05)
got, longest = 0, 0.0
for i in range(100):
    begin = time.monotonic()
    link.sendto(b"%d" % i, ("predator", 9000))
    try:
        link.recvfrom(1000)
        got += 1
        longest = max(longest, time.monotonic() - begin)
    except TimeoutError:
        pass
print(f"{got} of 100 came back, the slowest after {longest * 1000:.1f} ms", flush=True)
