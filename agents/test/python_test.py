"""Two Python clients and a server: each sees the other's agent where it is."""
import os
import subprocess
import sys
import threading

command, library, module = sys.argv[1:4]
os.environ["ISOCHRON_AGENTS"] = library
sys.path.insert(0, module)
from isochron import agents  # noqa: E402

KEY = "00112233445566778899aabbccddeeff"
server = subprocess.Popen([command, "serve", "agents", "--at", "127.0.0.1:0", "--wait-for", "2", "--quiet"],
                          env=dict(os.environ, ISOCHRON_KEY=KEY), stdout=subprocess.PIPE, text=True)
address = server.stdout.readline().split(" at ")[1].split(",")[0]
seen = {}


def drive(name, other, speed):
    with agents.join(address, KEY, name, 60) as world:
        car = world.add(name + "_car")
        note = world.add(name + "_note", type_url="/my.Note")
        t = world.start
        while t < 0.5:
            world.publish(car, t, (speed * t, 0, 0), linear=(speed, 0, 0))
            world.publish_state(note, t, (0, 0, 0), "/my.Note", f"{t:.3f}".encode())
            later = world.pass_(t)
            if later > t:
                t = later
                continue
            for one in world.others(t):
                seen[name, one.name] = (one, t)
            t += world.heartbeat
        # The last heartbeats of the other are still to come; wait for them.
        while t < 0.52:
            world.publish(car, t, (speed * t, 0, 0), linear=(speed, 0, 0))
            world.publish_state(note, t, (0, 0, 0), "/my.Note", b"end")
            world.pass_(t)
            t += world.heartbeat


try:
    threads = [threading.Thread(target=drive, args=a) for a in (("a", "b", 3.0), ("b", "a", -2.0))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    for me, other, speed in (("a", "b", -2.0), ("b", "a", 3.0)):
        one, t = seen[me, other + "_car"]
        assert abs(one.position[0] - speed * t) < 1e-6, (one, t)
        assert one.age < 3 * 0.005 + 1e-9, one
        note, _ = seen[me, other + "_note"]
        assert note.type_url == "/my.Note" and note.state and note.position is None, note
    try:
        agents.join(address, "ff" * 16, "c", 20)
        raise SystemExit("a wrong key was taken")
    except ConnectionError as error:
        assert "key" in str(error), error
finally:
    server.kill()
print("fine")
