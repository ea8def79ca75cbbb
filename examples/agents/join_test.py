"""A server and two clients, each a process of its own; one over a bad link, one killed and started again."""
import json
import os
import subprocess
import sys
import tempfile
import time

command, scenario = sys.argv[1:3]
folder = tempfile.mkdtemp()
environment = dict(os.environ, ISOCHRON_KEY="00112233445566778899aabbccddeeff")


def start(*arguments, env=environment):
    return subprocess.Popen([command, *arguments], env=env, cwd=folder, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def join(client, *more, env=environment):
    return start("join", scenario, "--as", client, "--server", address, "--quiet", "--json", "--duration", "2s", *more,
                 env=env)


server = start("serve", "agents", scenario, "--at", "127.0.0.1:0", "--wait-for", "2", "--json")
try:
    address = server.stdout.readline().split(" at ")[1].split(",")[0]

    stranger = join("east_west", env=dict(environment, ISOCHRON_KEY="ff" * 16))
    assert stranger.wait(60) == 2, "a wrong key is bad input"
    assert "key" in stranger.stderr.read()

    victim = join("north_south")
    time.sleep(2)
    victim.kill()
    victim.wait()
    clients = [join("north_south"), join("east_west", "--loss", "5%", "--delay", "2ms±1", "--reorder")]
    for client in clients:
        out, err = client.communicate(timeout=240)
        assert client.returncode == 0, err
        report = json.loads(out)
        assert report["simulated_s"] >= 2, report
    server.terminate()
    out, err = server.communicate(timeout=60)
    report = json.loads(out.splitlines()[-1])
    assert report["strangers"] == 1 and report["joined"] >= 3 and report["fenced"] == 0, report
    print(report)
finally:
    server.kill()
