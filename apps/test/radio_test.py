"""Programs that talk by radio: send("v2x", frame), receive("v2x"), in both modes of agents.
Usage: radio_test.py ISOCHRON SOURCE_DIR"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

ISOCHRON, ROOT = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
BUILD = os.path.dirname(os.path.dirname(ISOCHRON))
sys.path.insert(0, os.path.join(ROOT, "client/python"))
os.environ["ISOCHRON"] = ISOCHRON
import isochron  # noqa: E402

# Sends a frame of a type of its own every fifth time: number 240 of J2735, two octets.
TALKS = textwrap.dedent("""\
    import isochron
    robot, n = isochron.attach(), 0
    while robot.wait() is not None:
        if n % 5 == 0: robot.send("v2x", bytes([0, 240, 2, n // 5, 77]), "octets")
        n += 1
    """)
# Prints what it hears of them, and when.
LISTENS = textwrap.dedent("""\
    import isochron
    robot = isochron.attach()
    robot.receive("v2x", "octets")
    while (now := robot.now) < 0.9:
        heard = robot.receive("v2x", "octets", until=0.95)
        if heard is None: break
        if heard.value[:2] == bytes([0, 240]):
            print(heard.value[3], heard.sent_ns, robot.now_ns, flush=True)
    while robot.wait() is not None: pass
    """)


class Radio(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.environment = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "client/python"),
                            "ISOCHRON_CLIENT": os.path.join(BUILD, "lib/libisochron_client.so")}

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    def scenario(self, mode, one=TALKS, two=LISTENS, v2x="{medium: fixed, delay: 2ms}", clients=("one", "two"), compute="zero"):
        self.write("one.py", one)
        self.write("two.py", two)
        self.write("radio.yaml", textwrap.dedent(f"""\
            name: radio
            duration: 1s
            world: {{model: {ROOT}/models/crossing.xml, step: 5ms}}
            agents:
              heartbeat: 10ms
              members:
                car01: {{kind: car, client: {clients[0]}}}
                car02: {{kind: car, client: {clients[1]}}}
            v2x: {v2x}
            robots:
              car01: {{programs: {{pilot: {{run: [/usr/bin/python3, one.py], every: 20ms, compute: {compute}}}}}}}
              car02: {{programs: {{pilot: {{run: [/usr/bin/python3, two.py], every: 20ms, compute: {compute}}}}}}}
            time: {{mode: {mode}}}
            """))
        return os.path.join(self.folder, "radio.yaml")

    def run_it(self, scenario, *words):
        journal = scenario[:-5] + ".mcap"
        done = subprocess.run([ISOCHRON, "run", scenario, "--json", "--journal", journal, *words], capture_output=True,
                              text=True, timeout=120, cwd=self.folder, env=self.environment)
        self.assertTrue(done.stdout.strip(), done.stderr)
        return json.loads(done.stdout.strip().splitlines()[-1]), isochron.load(journal)

    def heard(self, journal, who="car02/pilot"):
        """(number, sent, received), as the journal has it."""
        events = journal[f"/programs/{who}"]
        found = []
        for what, about, value, s, ns, sent_s, sent_ns in zip(
                events["what"], events["about"], events["value"], events["at.sec"], events["at.nanosec"],
                events["stamp.sec"], events["stamp.nanosec"]):
            if what == "receive" and about == "car02/v2x" and bytes(value)[:2] == bytes([0, 240]):
                found.append((value[3], int(sent_s) * 10**9 + int(sent_ns), int(s) * 10**9 + int(ns)))
        return found

    def test_a_frame_arrives_when_the_medium_delivers_it(self):
        for clients in (("one", "two"), ("one", "one")):
            report, journal = self.run_it(self.scenario("repeatable", clients=clients))
            self.assertEqual(report["end"], "finished", report)
            heard = self.heard(journal)
            self.assertGreaterEqual(len(heard), 8, heard)
            for number, sent, received in heard:
                self.assertEqual(sent, number * 100_000_000 + 10_000_000, "one heartbeat after the program said so")
                self.assertEqual(received, sent + 2_000_000, "the medium's delay, to the nanosecond")

    def test_it_repeats_on_every_executor(self):
        digests = set()
        for executor in ("thread", "threads", "processes"):
            report, _ = self.run_it(self.scenario("repeatable", compute="{modelled: {fixed: 3ms}}"), "--set",
                                    f"flows.executor={executor}")
            self.assertEqual(report["end"], "finished", report)
            digests.add(report["digest"])
        self.assertEqual(len(digests), 1)

    def test_it_works_between_heartbeats_too(self):
        report, journal = self.run_it(self.scenario("heartbeat"))
        self.assertEqual(report["end"], "finished", report)
        heard = self.heard(journal)
        self.assertGreaterEqual(len(heard), 7, heard)
        for _, sent, received in heard:
            self.assertGreaterEqual(received, sent)

    def test_messages_of_the_units_are_heard_unless_they_are_quiet(self):
        hears_all = LISTENS.replace("if heard.value[:2] == bytes([0, 240]):", "if True:")
        counts = {}
        for quiet in ("[]", "[car01]"):
            report, journal = self.run_it(self.scenario("repeatable", two=hears_all, v2x=f"{{medium: ideal, quiet: {quiet}}}"))
            events = journal["/programs/car02/pilot"]
            values = [bytes(v)[:2] for v, w in zip(events["value"], events["what"]) if w == "receive"]
            counts[quiet] = (values.count(bytes([0, 20])), values.count(bytes([0, 240])))
        self.assertGreaterEqual(counts["[]"][0], 5, counts)
        self.assertEqual(counts["[car01]"][0], 0, counts)
        self.assertAlmostEqual(counts["[]"][1], counts["[car01]"][1], delta=1, msg=str(counts))  # it ends with one or the other

    def faults(self, program):
        report, _ = self.run_it(self.scenario("repeatable", one=program, clients=("one", "one")))
        return "\n".join(report["notes"]), report

    def test_what_is_no_frame_is_refused_with_a_sentence(self):
        begin = "import isochron\nrobot = isochron.attach()\n"
        end = "\nwhile robot.wait() is not None: pass\n"
        cases = {
            "robot.send('v2x', 1.0)": "sends float64 by radio; a frame is sent as `octets`",
            "robot.send('v2x', b'', 'octets')": "a frame of 0 octets",
            "robot.send('v2x', bytes(5000), 'octets')": "a frame of 5000 octets",
            "[robot.send('v2x', bytes(9), 'octets') for _ in range(200)]": "sends more than its radio can",
            "try: robot.send('car02/v2x', bytes(9), 'octets')\nexcept isochron.Error: pass":
                "sends to car02/v2x, which belongs to another robot",
        }
        for statement, sentence in cases.items():
            with self.subTest(statement):
                notes, report = self.faults(begin + statement + end)
                self.assertIn(sentence, notes)
                self.assertEqual(report["end"], "finished")

    def robots(self, mode="repeatable", v2x="{medium: fixed, delay: 2ms}", one=TALKS, two=LISTENS, compute="zero"):
        """The same without `agents`: a pedestrian who talks, a car that listens."""
        self.write("one.py", one)
        self.write("two.py", two)
        self.write("robots.yaml", textwrap.dedent(f"""\
            name: robots
            duration: 1s
            world: {{model: {ROOT}/models/crossing.xml, step: 5ms}}
            v2x: {v2x}
            robots:
              anna: {{programs: {{phone: {{run: [/usr/bin/python3, one.py], every: 20ms, compute: {compute}}}}}}}
              car02: {{programs: {{pilot: {{run: [/usr/bin/python3, two.py], every: 20ms, compute: {compute}}}}}}}
            time: {{mode: {mode}}}
            """))
        return os.path.join(self.folder, "robots.yaml")

    def test_robots_have_radios_without_agents(self):
        digests = set()
        for _ in range(2):
            report, journal = self.run_it(self.robots())
            self.assertEqual(report["end"], "finished", report)
            heard = self.heard(journal)
            self.assertGreaterEqual(len(heard), 8, heard)
            for number, sent, received in heard:
                self.assertEqual(sent, number * 100_000_000 + 5_000_000, "with the step after the program said so")
                self.assertEqual(received, sent + 2_000_000)
            self.assertGreater(report["v2x"]["by_type"]["20"], 15, "and units say where they are")
            digests.add(report["digest"])
        self.assertEqual(len(digests), 1)

    def test_robots_have_radios_in_every_mode(self):
        for mode, compute in (("callback", "zero"), ("consistent", "measured")):
            report, journal = self.run_it(self.robots(mode, compute=compute))
            self.assertEqual(report["end"], "finished", report)
            self.assertGreaterEqual(len(self.heard(journal)), 7, mode)
        report, _ = self.run_it(self.robots("realtime"))
        self.assertEqual(report["end"], "finished", report)
        self.assertGreater(report["v2x"]["by_type"]["240"], 5, report["v2x"])

    def test_units_of_robots_are_set(self):
        report, _ = self.run_it(self.robots(v2x="{medium: ideal, units: {anna: {says: psm, every: 50ms}, car02: {says: nothing}}}"))
        self.assertAlmostEqual(report["v2x"]["by_type"]["32"], 20, delta=2)
        self.assertNotIn("20", report["v2x"]["by_type"])

    def test_keys_without_effect_are_said(self):
        report, _ = self.run_it(self.robots(v2x="{medium: ideal, delay: 3ms, deaf: [anna]}"))
        notes = "\n".join(report["notes"])
        self.assertIn("`delay` has no effect here: it is for `medium: fixed`", notes)
        self.assertIn("`deaf` has no effect here", notes)

    def test_what_is_signed_reaches_programs_without_its_envelope(self):
        for scenario in (self.robots(v2x="{medium: fixed, delay: 2ms, security: {}}"),
                         self.scenario("repeatable", v2x="{medium: fixed, delay: 2ms, security: {}}")):
            report, journal = self.run_it(scenario)
            self.assertEqual(report["end"], "finished", report)
            self.assertGreaterEqual(len(self.heard(journal)), 7)
            self.assertEqual(report["v2x"]["refused"]["unreadable"], 0)
        report, journal = self.run_it(self.robots(v2x="{medium: fixed, delay: 2ms, security: {without: [anna]}}"))
        self.assertEqual(self.heard(journal), [])
        self.assertGreater(report["v2x"]["refused"]["untrusted"], 15)

    def test_attacks_on_robots(self):
        attacks = "[{kind: ghosts, at: [0, 0], count: 2}, {kind: falsify, victims: [anna], offset: [9, 0], speed: 3}]"
        report, _ = self.run_it(self.robots(v2x=f"{{medium: ideal, attacks: {attacks}}}"))
        self.assertGreaterEqual(report["v2x"]["tampered"]["invented"], 18)  # told every 100 ms
        self.assertGreater(report["v2x"]["tampered"]["altered"], 8)

    def test_without_v2x_there_is_nobody_to_talk_to(self):
        path = self.scenario("repeatable")
        with open(path) as file:
            text = file.read()
        with open(path, "w") as file:
            file.write("\n".join(line for line in text.splitlines() if not line.startswith("v2x")) + "\n")
        report, _ = self.run_it(path)
        self.assertEqual(report["end"], "failed")
        self.assertRegex("\n".join(report["notes"]) + report["why"],
                         "(sends to|receives from) v2x, which is no program of this run")


class Messages(unittest.TestCase):
    """`isochron v2x decode`, `import map`, `export map` and `export certificates`."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        with open(os.path.join(ROOT, "v2x/test/data/v2x_vectors.json")) as file:
            self.vectors = json.load(file)

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def command(self, *words, code=0):
        done = subprocess.run([ISOCHRON, *words], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code < 2 else done.stderr

    def test_every_frame_has_its_type(self):
        for number, name in ((21, "CSR"), (23, "ICA"), (33, "RSM"), (41, "SDSM"), (37, "TAM"), (241, "test message")):
            shown = json.loads(self.command("v2x", "decode", f"{number:04X}020102"))
            self.assertEqual((shown["messageId"], shown["type"], shown["value"]), (number, name, "0102"))

    def test_what_cannot_be_read_is_said_and_the_rest_shown(self):
        bsm = next(v for v in self.vectors if v["type"] == "BSM" and len(v["hex"]) > 200)["hex"]
        octets = bytearray(bytes.fromhex(bsm))
        body = octets[4:60] if octets[2] & 0x80 else octets[3:60]
        shown = json.loads(self.command("v2x", "decode", (bytes([0, 20, len(body)]) + body).hex(), code=1))
        self.assertEqual(shown["type"], "BSM")
        self.assertRegex(shown["unreadable"], "^BSM\\..*: the message ends here")
        self.assertIn("lat_deg", shown["BSM"]["coreData"])
        self.assertIn("BSM: the message ends here", self.command("v2x", "decode", bsm[:60], code=2))

    def signed(self):
        """A scenario that signs, and a frame of it."""
        scenario = self.file("signs.yaml", textwrap.dedent(f"""\
            name: signs
            duration: 300ms
            world: {{model: {ROOT}/models/crossing.xml, step: 5ms}}
            v2x: {{medium: ideal, security: {{}}}}
            robots: {{anna: {{}}, car02: {{}}}}
            time: {{mode: callback}}
            """))
        journal = os.path.join(self.folder, "signs.mcap")
        self.command("run", scenario, "--journal", journal, "--quiet")
        with open(journal, "rb") as file:
            self.assertIn(b"/v2x/said/robots", file.read())
        said = isochron.load(journal)["/v2x/said/robots"]
        frames = [bytes(octets).hex() for octets in said["sends[0].octets"]]
        return scenario, frames

    def test_envelopes_are_opened_and_verified(self):
        scenario, frames = self.signed()
        whole = next(f for f in frames if len(f) > 500)
        shown = json.loads(self.command("v2x", "decode", whole))
        self.assertEqual(shown["envelope"]["content"], "signedData")
        self.assertEqual(shown["envelope"]["header"]["for"], "BSM")
        self.assertIsNone(shown["envelope"]["verified"])
        self.assertIn("coreData", shown["BSM"])
        trusted = self.file("trusted.txt", self.command("export", "certificates", scenario))
        self.assertTrue(json.loads(self.command("v2x", "decode", whole, "--trust", trusted))["envelope"]["verified"])
        changed = whole[:40] + ("0" if whole[40] != "0" else "1") + whole[41:]
        doubted = json.loads(self.command("v2x", "decode", changed, "--trust", trusted))["envelope"]
        self.assertEqual((doubted["verified"], doubted["doubts"]), (False, "its signature is wrong"))
        self.assertIn("has no certificate", self.command("v2x", "decode", whole, "--trust", self.file("none", "# \n"), code=2))
        self.assertIn("none:2: certificate", self.command("v2x", "decode", whole, "--trust", self.file("none", "\n00\n"), code=2))

    def test_maps_come_and_go(self):
        maps = [v["hex"] for v in self.vectors if v["type"] == "MAP"]
        lanes = self.command("import", "map", self.file("map.hex", maps[0]))
        self.assertIn("intersection12110:", lanes)
        self.assertIn("head: group4, to: [lane19]", lanes)
        begin = textwrap.dedent(f"""\
            name: mapped
            world: {{model: {ROOT}/models/crossing.xml, step: 5ms}}
            time: {{mode: heartbeat}}
            """)
        members = "    car01: {kind: car, client: lights, path: [[1.75, -60], [1.75, 90]]}\n"
        scenario = self.file("mapped.yaml", begin + lanes.replace("  members:\n", "  members:\n" + members))
        again = self.command("export", "map", scenario)
        back = self.command("import", "map", self.file("again.hex", again))
        self.assertEqual(back.count("nodes:"), lanes.count("nodes:"))
        self.assertIn("signals:", self.command("import", "map", self.file(
            "own.json", self.command("export", "map", os.path.join(ROOT, "experiments/intersection/intersection.yaml"), "--j2735"))))

    def test_phases_come_from_spat(self):
        spat = json.loads(self.command("v2x", "decode", "--j2735", next(v["hex"] for v in self.vectors if v["type"] == "SPaT")))
        state = spat["SPAT"]["intersections"][0]
        lines = []
        for second, shows in ((0, "stop-And-Remain"), (5, "protected-Movement-Allowed"), (30, "protected-clearance"),
                              (34, "stop-And-Remain"), (60, "protected-Movement-Allowed")):
            state["moy"], state["timeStamp"] = 100 + second // 60, second % 60 * 1000
            state["states"] = [{"signalGroup": 4, "state-time-speed": [{"eventState": shows}]}]
            lines.append(self.command("v2x", "encode", self.file("spat.json", json.dumps(spat))))
        made = json.loads(self.command("v2x", "decode", "--j2735", next(v["hex"] for v in self.vectors if v["type"] == "MAP")))
        made["MAP"]["intersections"][0]["id"] = state["id"]
        phases = self.command("import", "map", self.file("map.json", json.dumps(made)), "--spat", self.file("spat.txt", "".join(lines)))
        for line in ("lasts: 25.00s, green: [group4], yellow: []", "lasts: 4.00s, green: [], yellow: [group4]",
                     "lasts: 26.00s, green: [], yellow: []"):
            self.assertIn(line, phases)
        wrong = self.file("wrong.txt", lines[1] + lines[0])
        self.assertIn("wrong.txt:2: is older", self.command("import", "map", os.path.join(self.folder, "map.json"), "--spat", wrong, code=2))

    def test_files_that_are_no_maps_are_refused(self):
        spat = next(v["hex"] for v in self.vectors if v["type"] == "SPaT")
        for text, sentence in ((spat, "is not a MAP message"), ("<a>", "not XML"), ("hello", "neither JSON nor XML")):
            self.assertIn(sentence, self.command("import", "map", self.file("bad", text), code=2))
        self.assertIn("has no intersections", self.command("export", "map", os.path.join(ROOT, "examples/pilots/pilots.yaml"), code=2))
        self.assertIn("signs no messages",
                      self.command("export", "certificates", os.path.join(ROOT, "examples/pilots/pilots.yaml"), code=2))


if __name__ == "__main__":
    unittest.main()
