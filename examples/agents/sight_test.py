"""Two client processes: the LiDAR of one's car sees the other's car drive away, as far as that one says it is."""
import csv
import io
import os
import subprocess
import sys
import tempfile

command, models = sys.argv[1:3]
folder = tempfile.mkdtemp()
environment = dict(os.environ, ISOCHRON_KEY="00112233445566778899aabbccddeeff")
scenario = os.path.join(folder, "sight.yaml")
with open(scenario, "w") as file:
    file.write(f"""name: sight
world: {{model: {models}/crossing.xml, step: 5ms}}
time: {{mode: heartbeat}}
agents:
  members:
    car01: {{kind: car, client: ahead, path: [[1.75, -24], [1.75, 100]], speed: 8}}
    car02: {{kind: car, client: behind, path: [[1.75, -33], [1.75, 100]], speed: 0.001}}
robots:
  car02:
    sensors:
      scan: {{type: lidar, every: 100ms, position: [0, 0, 0.05],
             lidar: {{format: scan, channels: 1, lowest: 0, highest: 0, columns: 2, first: 0, last: 0.1, max: 60}}}}
""")


def start(*arguments):
    return subprocess.Popen([command, *arguments], env=environment, cwd=folder, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def column(journal, topic, field):
    done = subprocess.run([command, "journal", "export", os.path.join(folder, journal), topic, field, "--csv"], text=True,
                          stdout=subprocess.PIPE, check=True)
    return {int(row[0]): float(row[1]) for row in list(csv.reader(io.StringIO(done.stdout)))[1:]}


processes = [start("serve", "agents", scenario, "--at", "127.0.0.1:0", "--wait-for", "2", "--quiet")]
try:
    address = processes[0].stdout.readline().split(" at ")[1].split(",")[0]
    for client in ("ahead", "behind"):
        processes.append(start("join", scenario, "--as", client, "--server", address, "--quiet", "--duration", "3s"))
    for process in processes[1:]:
        _, err = process.communicate(timeout=240)
        assert process.returncode == 0, err
    seen = column("sight_behind.mcap", "/car02/scan", "ranges[0]")
    own = column("sight_behind.mcap", "/agents/behind", "agents[0].position[1]")
    there = column("sight_ahead.mcap", "/agents/ahead", "agents[0].position[1]")
    compared = 0
    for t, distance in seen.items():
        if t not in there or t not in own or t < 5e8:
            continue
        compared += 1
        assert abs(distance - (there[t] - own[t] - 2.25)) < 0.5, (t, distance, there[t], own[t])  # to its rear
    assert compared >= 20, (len(seen), compared)
    first, last = min(seen), max(seen)
    assert seen[last] > seen[first] + 5, seen
    print(f"seen {compared} times, from {seen[first]:.2f} m to {seen[last]:.2f} m away")
finally:
    for process in processes:
        process.kill()
