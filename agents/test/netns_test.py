"""Kill -9 of server and clients at random moments, each in a network namespace of its own.

The world goes on or comes back, and no agent is there twice. Needs root and ip(8); says so when it cannot run."""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

command, library, module = sys.argv[1:4]
SKIP = 77
KEY = "00112233445566778899aabbccddeeff"
CLIENTS = 3
tag = f"iso{os.getpid() % 10000}"
environment = dict(os.environ, ISOCHRON_KEY=KEY, ISOCHRON_AGENTS=library, PYTHONPATH=module)

CLIENT = """
import sys
from isochron import agents
name, server, log = sys.argv[1:4]
with agents.join(server, %r, name, 120) as world:
    cars = [world.add(f"{name}_{i}") for i in range(2)]
    t = world.start
    out = open(log, "a", buffering=1)
    while True:
        for car in cars:
            world.publish(car, t, (t, car, 0), linear=(1, 0, 0))
        later = world.pass_(t)
        if later > t:
            t = later
            continue
        names = [one.name for one in world.others(t)]
        if round(t / world.heartbeat) %% 20 == 0:
            out.write(f"{t:.3f} {' '.join(names)}\\n")
        t += world.heartbeat
""" % KEY


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False)


def make_network():
    run("ip", "link", "add", tag, "type", "bridge")
    run("ip", "link", "set", tag, "up")
    for i in range(CLIENTS + 1):
        space = f"{tag}n{i}"
        run("ip", "netns", "add", space)
        run("ip", "link", "add", f"{tag}v{i}", "type", "veth", "peer", "name", "eth0", "netns", space)
        run("ip", "link", "set", f"{tag}v{i}", "master", tag, "up")
        for words in (("link", "set", "lo", "up"), ("addr", "add", f"10.77.0.{i + 1}/24", "dev", "eth0"),
                      ("link", "set", "eth0", "up")):
            run("ip", "-n", space, *words)
    return run("ip", "netns", "exec", f"{tag}n1", "ip", "addr", "show", "eth0").returncode == 0


def remove_network():
    for i in range(CLIENTS + 1):
        run("ip", "netns", "del", f"{tag}n{i}")
    run("ip", "link", "del", tag)


def start(space, *words):
    return subprocess.Popen(["ip", "netns", "exec", f"{tag}n{space}", *words], env=environment,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def start_server():
    return start(0, command, "serve", "agents", "--at", "10.77.0.1:7420", "--quiet")


def progress(log):
    try:
        lines = open(log).read().splitlines()
    except FileNotFoundError:
        return 0, 0.0
    for line in lines:
        names = line.split()[1:]
        assert len(names) == len(set(names)), f"an agent is there twice: {line}"
    return len(lines), max((float(line.split()[0]) for line in lines if line.strip()), default=0.0)


if os.geteuid() != 0 or shutil.which("ip") is None:
    print("skipped: needs root and ip(8)")
    sys.exit(SKIP)
folder = tempfile.mkdtemp()
script = os.path.join(folder, "client.py")
open(script, "w").write(CLIENT)
logs = [os.path.join(folder, f"client{i}") for i in range(CLIENTS)]
processes = {}
try:
    if not make_network():
        print("skipped: network namespaces cannot be made here")
        sys.exit(SKIP)
    luck = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)

    def start_client(i):
        return start(i + 1, sys.executable, script, f"client{i}", "10.77.0.1:7420", logs[i])

    processes["server"] = start_server()
    for i in range(CLIENTS):
        processes[i] = start_client(i)
    time.sleep(3)
    for _ in range(6):
        who = luck.choice(["server", *range(CLIENTS)])
        processes[who].kill()
        processes[who].wait()
        time.sleep(luck.uniform(0, 1.5))
        processes[who] = start_server() if who == "server" else start_client(who)
        time.sleep(luck.uniform(0.2, 2))
    time.sleep(8)
    before = [progress(log) for log in logs]
    time.sleep(4)
    after = [progress(log) for log in logs]
    for i in range(CLIENTS):
        assert after[i][0] > before[i][0], f"client{i} stands still at {after[i][1]} s"
        last = open(logs[i]).read().splitlines()[-2].split()[1:]
        assert len(last) == 2 * (CLIENTS - 1), f"client{i} sees {last}"
    print("the world goes on:", after)
finally:
    for process in processes.values():
        process.kill()
        process.wait()
    remove_network()
    shutil.rmtree(folder)
