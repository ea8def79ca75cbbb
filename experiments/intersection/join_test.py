"""The intersection on two client processes, with a dynamics server and a communication server of their own."""
import json
import os
import subprocess
import sys
import tempfile

command, scenario = sys.argv[1:3]
folder = tempfile.mkdtemp()
environment = dict(os.environ, ISOCHRON_KEY="00112233445566778899aabbccddeeff")


def start(*arguments, env=environment):
    return subprocess.Popen([command, *arguments], env=env, cwd=folder, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


server = start("serve", "agents", scenario, "--at", "127.0.0.1:0", "--wait-for", "2", "--json")
comm = start("serve", "comm", scenario, "--at", "127.0.0.1:0", "--json", "--quiet")
processes = [server, comm]
try:
    agents_at = server.stdout.readline().split(" at ")[1].split(",")[0].strip()
    comm_at = comm.stdout.readline().split(" at ")[1].strip()

    def join(client, env=environment):
        processes.append(start("join", scenario, "--as", client, "--server", agents_at, "--comm", comm_at, "--quiet",
                               "--json", "--duration", "1s", env=env))
        return processes[-1]

    clients = [join("one"), join("two")]
    for client in clients:
        out, err = client.communicate(timeout=500)
        assert client.returncode == 0, err
        report = json.loads(out.splitlines()[-1])
        assert report["simulated_s"] >= 1, report
        assert any("messages heard by radio" in note for note in report["notes"]), report["notes"]
    out, err = comm.communicate(timeout=60)  # it ends when all have left
    assert comm.returncode == 0, err
    radio = json.loads(out.splitlines()[-1])["v2x"]
    assert radio["messages"] > 200 and radio["receptions"]["delivered"] > 1000, radio
    assert os.path.exists(os.path.join(folder, "intersection_comm.mcap"))
    for name, what in (("intersection_one.mcap", ["/car01/gps", "/car01/imu", "/car01/lidar", "/v2x/said/one"]),
                       ("intersection_comm.mcap", ["/v2x/air"])):
        info = subprocess.run([command, "journal", "info", os.path.join(folder, name)], text=True, capture_output=True).stdout
        for topic in what:
            assert topic in info, (name, topic, info)
    print({key: radio[key] for key in ("messages", "by_type", "receptions", "latency_s", "busy")})
finally:
    for process in processes:
        process.kill()
