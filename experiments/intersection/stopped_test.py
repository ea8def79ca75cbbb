"""One of two clients stops in the middle, as with SIGSTOP: the other goes on, its radio too, and the report names who stood."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

command, scenario = sys.argv[1:3]
folder = tempfile.mkdtemp()
environment = dict(os.environ, ISOCHRON_KEY="00112233445566778899aabbccddeeff")


def start(*arguments):
    return subprocess.Popen([command, *arguments], env=environment, cwd=folder, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


server = start("serve", "agents", scenario, "--at", "127.0.0.1:0", "--wait-for", "2", "--quiet")
comm = start("serve", "comm", scenario, "--at", "127.0.0.1:0", "--json", "--quiet")
processes = [server, comm]
try:
    agents_at = server.stdout.readline().split(" at ")[1].split(",")[0].strip()
    comm_at = comm.stdout.readline().split(" at ")[1].strip()
    for client in ("one", "two"):
        processes.append(start("join", scenario, "--as", client, "--server", agents_at, "--comm", comm_at, "--quiet",
                               "--json", "--duration", "4s", "--pace", "1x"))
    one, two = processes[2:]
    while not os.path.exists(os.path.join(folder, "intersection_two.mcap")) and two.poll() is None:
        time.sleep(0.1)
    time.sleep(2)
    two.send_signal(signal.SIGSTOP)
    out, err = one.communicate(timeout=500)
    assert one.returncode == 0, err
    report = json.loads(out.splitlines()[-1])
    assert report["simulated_s"] >= 4, report
    comm.send_signal(signal.SIGINT)
    out, err = comm.communicate(timeout=60)
    radio = json.loads(out.splitlines()[-1])
    assert radio["simulated_s"] > 3.9, radio["simulated_s"]
    assert any("two stood still" in note for note in radio["notes"]), radio["notes"]
    print(radio["notes"])
finally:
    for process in processes:
        process.kill()
