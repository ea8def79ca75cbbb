"""SUMO beside a world: one digest, who is handed over when, signals from either side, radios, roads."""
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

command, here = sys.argv[1:3]
if not os.access(os.path.join(os.path.dirname(command), "isochron_sumo"), os.X_OK):
    print("SUMO was not there when Isochron was built: skipped")
    sys.exit(77)
sys.path.insert(0, os.path.join(here, "../../client/python"))
os.environ["ISOCHRON"] = command
import isochron  # noqa: E402

folder = tempfile.mkdtemp()
GREEN, RED = 3, 1


def run(*words, code=0):
    done = subprocess.run([command, *words], capture_output=True, text=True)
    assert done.returncode == code, (words, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done


def play(scenario, duration, *sets):
    """The report, and the journal."""
    journal = os.path.join(folder, "run.mcap")
    words = [word for one in sets for word in ("--set", one)]
    file = scenario if scenario.startswith("/") else os.path.join(here, scenario)
    out = run("run", file, "--json", "--duration", duration, "--journal", journal, *words).stdout
    return json.loads(out), isochron.load(journal)


def made(text):
    file = os.path.join(folder, "made.yaml")
    with open(file, "w") as out:
        out.write(text.replace("HERE", here))
    return file


def lists(table, field, key):
    """A list of messages over time, as dictionaries; those that are there have a text for `key`."""
    rows = [{} for _ in table.time]
    for column in table:
        match = re.fullmatch(field + r"\[(\d+)\]\.(.*)", column)
        if not match:
            continue
        for row, value in zip(rows, table[column]):
            row.setdefault(int(match[1]), {})[match[2]] = value
    return [[row[i] for i in sorted(row) if isinstance(row[i].get(key), str)] for row in rows]


def one_digest():
    digests = {}
    for executor in ("thread", "threads", "processes"):
        report, _ = play("traffic.yaml", "6s", f"flows.executor={executor}")
        digests[executor] = report["digest"]
    assert len(set(digests.values())) == 1, digests
    other, _ = play("traffic.yaml", "6s", "seed=2")
    assert other["digest"] != digests["thread"], "SUMO does not get the seed"


def hand_over():
    """Who has a body is near; one that drives along the border is handed over once."""
    _, journal = play("traffic.yaml", "25s")
    states, traffic = journal["/traffic.states"], journal["/traffic.traffic"]
    assert max(traffic["running"]) >= 10, traffic["running"]
    numbers = journal.numbers("ego.position.x", "ego.position.y", "traffic_00.position.x", "traffic_00.position.y")
    apart = [math.dist(two[:2], two[2:]) for two in zip(*(numbers[name] for name in numbers))]
    shown = [distance for distance in apart if distance < 5000]
    assert shown and max(shown) < 80 * 1.2 + 3, (len(shown), max(shown))
    assert max(apart) > 5000, "a body that shows nobody stands far away"
    came = []
    before = set()
    for near in lists(traffic, "near", "vehicle"):
        now = {car["vehicle"] for car in near}
        came += sorted(now - before)
        before = now
    assert len(came) >= 5, came
    assert len(came) - len(set(came)) <= 2, ("handed over again and again", came)
    assert len(states.time) == len(traffic.time) == 250


def ours_is_a_vehicle_in_sumo():
    """A car of ours that stands in the lane: SUMO's queue up behind it, none gets past."""
    _, journal = play(made(open(os.path.join(here, "traffic.yaml")).read()
                           .replace("model: town", f"model: {here}/town").replace("network: ", f"network: {here}/")
                           .replace("[crossing.rou", f"[{here}/crossing.rou")
                           .replace("speed: 8}, driver: {path: [[-180, -1.6], [190, -1.6]], speed: 12}", "speed: 0}, driver: program")),
                      "30s")
    last = lists(journal["/traffic.states"], "agents", "name")[-1]
    lane = [car for car in last if car["kind"] == 0 and abs(car["position"][1] + 1.6) < 0.5]
    assert len(lane) >= 2, last
    assert all(car["position"][0] < -153 for car in lane), [car["position"][0] for car in lane]
    assert all(abs(car["linear"][0]) < 1 for car in lane if car["position"][0] > -165), lane


def ours_keeps_its_distance():
    """Our driver does not run into SUMO's."""
    _, journal = play("traffic.yaml", "25s")
    numbers = journal.numbers("ego.position.x", "ego.position.y", "traffic_00.position.x", "traffic_00.position.y",
                              "traffic_01.position.x", "traffic_01.position.y")
    columns = [numbers[name] for name in numbers]
    for ex, ey, ax, ay, bx, by in zip(*columns):
        for x, y in ((ax, ay), (bx, by)):
            assert abs(x - ex) > 3.5 or abs(y - ey) > 1.5, (ex, ey, x, y)


def signals_of_sumo_are_obeyed():
    report, journal = play("radio.yaml", "14s")
    assert report["end"] == "finished", report
    agents_of = lists(journal["/agents/ours"], "agents", "name")
    signals = journal["/traffic.signals"]
    ego = [next(agent for agent in agents if agent["name"] == "ego") for agents in agents_of]
    lamps = dict(zip(signals["heads"][50], signals["lamps"][50]))
    assert lamps["J/10"] == RED and lamps["J/1"] == GREEN, lamps
    waits = [e["position"][0] for e, t in zip(ego, journal["/agents/ours"].time) if 9 < t < 11.5]
    assert max(waits) < -8, ("it ran the red light", max(waits))


def radios_by_share():
    talk = {}
    for share in ("0%", "50%", "100%"):
        _, journal = play("radio.yaml", "20s", f"nodes.traffic.sumo.equipped={share}")
        cars = [car for near in lists(journal["/traffic.traffic"], "near", "vehicle") for car in near]
        equipped = {car["vehicle"] for car in cars if car["equipped"]}
        said = lists(journal["/v2x/said/traffic"], "sends", "from")
        talk[share] = (len(equipped), len({car["vehicle"] for car in cars}), sum(len(sends) for sends in said))
    assert talk["0%"][0] == 0 and talk["0%"][2] == 0, talk
    assert talk["100%"][0] == talk["100%"][1] > 0 and talk["100%"][2] > 50, talk
    assert 0 < talk["50%"][0] < talk["50%"][1], talk
    assert 0 < talk["50%"][2] < talk["100%"][2], talk


def signals_of_ours_are_obeyed():
    """Lights of ours that are called like SUMO's: all red, and nobody crosses."""
    text = open(os.path.join(here, "radio.yaml")).read()
    heads = "[" + ", ".join(f'"{i}"' for i in range(12)) + "]"
    lights = f"    J: {{kind: lights, client: ours, phases: [{{lasts: 100s}}, {{lasts: 1s, green: {heads}}}]}}\n"
    text = text.replace("  members:\n", "  members:\n" + lights)
    text = text.replace("model: town", f"model: {here}/town").replace("network: ", f"network: {here}/")
    text = text.replace("[crossing.rou", f"[{here}/crossing.rou")
    _, journal = play(made(text), "30s", "nodes.traffic.sumo.equipped=0%")
    assert set(journal["/traffic.signals"]["lamps"][-1]) == {RED}, journal["/traffic.signals"]["lamps"][-1]
    assert journal["/traffic.traffic"]["arrived"][-1] == 0, journal["/traffic.traffic"]["arrived"]


def mistakes_have_places():
    def refused(*sets):
        words = [word for one in sets for word in ("--set", one)]
        return run("check", os.path.join(here, "traffic.yaml"), *words, code=2).stderr
    assert "must not be less than `near`" in refused("nodes.traffic.sumo.leave=10")
    assert "no movable body `bus_*`" in refused("nodes.traffic.sumo.bodies=[bus_*]")
    assert "has no body `egg`" in refused("nodes.traffic.sumo.ours=[egg]")
    assert "is not of nodes that are SUMO's" in refused("nodes.traffic.type=x")
    bad = os.path.join(folder, "bad.net.xml")
    with open(bad, "w") as out:
        out.write("<net><edge")
    said = refused(f"nodes.traffic.sumo.network={bad}")
    assert "SUMO cannot be started" in said and "traffic.yaml" in said, said
    said = run("check", os.path.join(here, "radio.yaml"), "--set", "agents.members.ego.obeys=J/99", code=2).stderr
    assert "there is no signal `J/99`" in said, said


def roads():
    model = os.path.join(folder, "road.xml")
    said = run("import", "road", os.path.join(here, "crossing.net.xml"), "-o", model, "--cars", "20").stdout
    assert "12 connections, 1 signals" in said, said
    with open(model) as one, open(os.path.join(here, "road.xml")) as other:
        assert one.read() == other.read(), "examples/sumo/road.xml is not what `import road` makes"
    lanes = open(os.path.join(folder, "road.lanes.yaml")).read()
    assert "W_in_0: {nodes: [[-7.2, -1.6]" in lanes, lanes
    # The lanes and lights that it writes are a scenario's.
    text = (f"name: lanes\nduration: 1s\nworld: {{model: {here}/town.xml, step: 5ms}}\ntime: {{mode: repeatable}}\n" +
            lanes.replace("  members:\n", "  members:\n    ego: {kind: car, client: ours, path: [[-150, -1.6], [190, -1.6]]}\n"))
    report, journal = play(made(text), "1s")
    assert report["end"] == "finished" and "/v2x/air" in journal.topics
    if shutil.which("netconvert"):
        drive = os.path.join(folder, "crossing.xodr")
        subprocess.run(["netconvert", "-s", os.path.join(here, "crossing.net.xml"), "--opendrive-output", drive],
                       check=True, capture_output=True)
        said = run("import", "road", drive, "-o", model, "--network", os.path.join(folder, "again.net.xml")).stdout
        assert "signals" in said and os.path.exists(os.path.join(folder, "again.net.xml")), said
        assert 'name="ground"' in open(model).read()
    said = run("import", "road", os.path.join(here, "traffic.yaml"), "-o", model, code=2).stderr
    assert "is neither a .net.xml" in said, said
    environment = dict(os.environ, PATH="/nowhere")
    nowhere = os.path.join(folder, "x.xodr")
    open(nowhere, "w").close()
    done = subprocess.run([command, "import", "road", nowhere, "-o", model], capture_output=True, text=True, env=environment)
    assert done.returncode == 2 and "which is not installed" in done.stderr, done.stderr


for test in (roads, mistakes_have_places, one_digest, hand_over, ours_is_a_vehicle_in_sumo, ours_keeps_its_distance,
             signals_of_sumo_are_obeyed, radios_by_share, signals_of_ours_are_obeyed):
    test()
    print(test.__name__, flush=True)
shutil.rmtree(folder)
