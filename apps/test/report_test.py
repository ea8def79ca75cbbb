#!/usr/bin/env python3
"""A report as a person gets it, from real runs. Usage: report_test.py PATH_OF_ISOCHRON SOURCE_FOLDER"""
import html.parser
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

ISOCHRON = sys.argv.pop(1)
SOURCE = sys.argv.pop(1)
VOID = {"meta", "line", "rect", "path", "circle"}


def isochron(*args):
    return subprocess.run([ISOCHRON, *args], capture_output=True, text=True, timeout=120)


class Page(html.parser.HTMLParser):
    """Collects tags, and fails on one that is closed without having been opened."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        opened = self.open.pop()
        assert opened == tag, f"</{tag}> closes <{opened}>"

    def handle_data(self, data):
        self.text += data


class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.digests = []
        for name, seed in (("first", 1), ("second", 2)):
            run = isochron("run", os.path.join(SOURCE, "examples/ships/ships.yaml"), "--duration", "2s",
                           "--set", f"seed={seed}", "--journal", cls.path(name + ".mcap"), "--json")
            assert run.returncode == 0, run.stderr
            cls.digests.append(json.loads(run.stdout.strip().splitlines()[-1])["digest"])
        made = isochron("report", cls.path("first.mcap"), cls.path("second.mcap"), "-o", cls.path("both.html"))
        assert made.returncode == 0, made.stderr
        cls.page = cls.read("both.html")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    @classmethod
    def read(cls, name):
        with open(cls.path(name), encoding="utf-8") as file:
            return file.read()

    def make(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)

    def journal(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_summary_json_and_report_give_one_verdict(self):
        scenario = os.path.join(SOURCE, "examples/ships/ships.yaml")
        for more, coherence in (("callback", "computing was free"), ("repeatable", "coherent")):
            flags = ["--duration", "1s", "--set", f"time.mode={more}", "--journal", self.path("judged.mcap")]
            if more == "repeatable":
                flags += ["--set", "time.compute={modelled: {fixed: 1ms}}"]
            verdict = json.loads(isochron("run", scenario, *flags, "--json").stdout.splitlines()[-1])["verdict"]
            self.assertEqual(verdict["coherence"], coherence, verdict)
            self.assertTrue(verdict["line"].startswith(coherence), verdict)
            self.assertTrue(verdict["line"].endswith("repeats"), verdict)
            self.assertIn(verdict["line"], isochron("run", scenario, *flags, "--quiet").stdout)
            made = isochron("report", self.path("judged.mcap"), "-o", self.path("judged.html"))
            self.assertEqual(made.returncode, 0, made.stderr)
            with open(self.path("judged.html"), encoding="utf-8") as file:
                self.assertIn(verdict["line"], Page(file.read()).text)

    def test_it_names_both_runs_and_their_digests(self):
        self.assertNotEqual(self.digests[0], self.digests[1])
        for text in [*self.digests, "first.mcap", "second.mcap", "finished"]:
            self.assertIn(text, self.page)
        self.assertNotIn('class="banner"', self.page)

    def test_the_distance_of_the_robots_is_shown_over_time_and_as_a_histogram_of_both(self):
        self.assertIn('aria-label="distance of predator and prey over simulated time"', self.page)
        self.assertEqual(self.page.count('class="histogram curve'), 2)
        self.assertIn("drift over simulated time", self.page)

    def test_the_first_distance_is_that_of_the_model(self):
        chart = self.page.split('aria-label="distance of predator and prey over simulated time"')[1].split("</svg>")[0]
        self.assertEqual(len(re.findall(r'class="curve c\d" d="M', chart)), 2)
        for least, mean, most in re.findall(r"<td class=\"n\">([\d.]+) m</td>" * 3, self.page):
            self.assertLessEqual(float(least), 10.0)  # the ships start ten metres apart
            self.assertLessEqual(float(least), float(mean))
            self.assertGreaterEqual(float(most), 10.0)

    def test_it_asks_no_other_host_for_anything(self):
        self.assertNotIn("http", self.page)
        self.assertNotIn("@import", self.page)
        for tag, attributes in Page(self.page).attributes:
            self.assertFalse({"src", "href"} & attributes.keys(), tag)

    def test_its_tags_are_balanced_and_its_pictures_have_names(self):
        page = Page(self.page)
        self.assertEqual(page.open, [])
        for tag, attributes in page.attributes:
            if tag in ("svg", "canvas"):
                self.assertTrue(attributes.get("aria-label"), tag)

    def test_any_variable_is_shown_over_time_and_as_a_histogram(self):
        both, page = (self.path("first.mcap"), self.path("second.mcap")), self.path("plot.html")
        done = isochron("report", *both, "-o", page, "--plot", "/prey/imu:angular_velocity.z")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("how often prey/imu.angular_velocity.z had each value", self.read("plot.html"))
        bad = isochron("report", both[0], "-o", page, "--plot", "/prey/imu:nothing")
        self.assertEqual(bad.returncode, 2)

    def test_a_cut_journal_gives_a_report_with_a_banner(self):
        whole = self.journal("first.mcap")
        cut = self.make("cut.mcap", whole[: len(whole) * 2 // 3])
        made = isochron("report", cut, self.path("second.mcap"), "-o", self.path("cut.html"))
        self.assertEqual(made.returncode, 0, made.stderr)
        page = self.read("cut.html")
        self.assertIn('class="banner"', page)
        self.assertIn("This journal was cut", page)
        self.assertIn(self.digests[1], page)
        self.assertEqual(Page(page).open, [])

    def test_a_damaged_journal_gives_a_report_with_a_banner(self):
        damaged = bytearray(self.journal("first.mcap"))
        damaged[len(damaged) // 2] ^= 0xFF
        made = isochron("report", self.make("damaged.mcap", bytes(damaged)), "-o", self.path("damaged.html"))
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn('class="banner"', self.read("damaged.html"))

    def test_what_is_no_journal_is_bad_input(self):
        for bad in (self.make("text.mcap", b"hello"), self.path("none.mcap"), self.folder.name):
            made = isochron("report", bad, "-o", self.path("bad.html"))
            self.assertEqual(made.returncode, 2, bad)
            self.assertIn(bad, made.stderr)
            self.assertFalse(os.path.exists(self.path("bad.html")))
        self.assertEqual(isochron("report").returncode, 2)

    def test_an_output_that_cannot_be_written_is_bad_input(self):
        for bad in ("/nowhere/report.html", "/dev/full", self.folder.name):
            made = isochron("report", self.path("first.mcap"), "-o", bad)
            self.assertEqual(made.returncode, 2, bad)
            self.assertIn(bad, made.stderr)

    def test_a_journal_is_never_overwritten_by_its_report(self):
        before = self.journal("first.mcap")
        made = isochron("report", self.path("first.mcap"), "-o", self.path("first.mcap"))
        self.assertEqual(made.returncode, 2)
        self.assertEqual(self.journal("first.mcap"), before)

    def test_names_are_escaped(self):
        name = self.make("<b onclick='x'>&.mcap", self.journal("first.mcap"))
        made = isochron("report", name, "-o", self.path("escaped.html"))
        self.assertEqual(made.returncode, 0, made.stderr)
        page = self.read("escaped.html")
        self.assertNotIn("<b ", page)
        self.assertIn("&lt;b onclick=&#39;x&#39;&gt;&amp;.mcap", page)


class ScatterTest(unittest.TestCase):
    """Runs with time management beside free runs of the same scenario."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.journals = []
        for number, sets in enumerate((["flows.executor=thread"], ["flows.executor=threads", "flows.disturb=5"],
                                       ["flows.executor=free", "time.pace=20x"], ["flows.executor=free", "time.pace=20x"])):
            cls.journals.append(os.path.join(cls.folder.name, f"{number}.mcap"))
            args = [arg for entry in sets for arg in ("--set", entry)]
            run = isochron("run", os.path.join(SOURCE, "examples/uav/uav.yaml"), "--duration", "4s", "--journal",
                           cls.journals[-1], "--json", *args)
            assert run.returncode == 0, run.stderr

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def page_of(self, *args):
        output = os.path.join(self.folder.name, "page.html")
        made = isochron("report", *args, "-o", output)
        self.assertEqual(made.returncode, 0, made.stderr)
        with open(output) as file:
            return Page(file.read()), made.stderr

    def test_one_digest_with_time_management_beside_the_scatter_without(self):
        page, said = self.page_of("--scatter", *self.journals)
        self.assertEqual(page.open, [])
        self.assertIn("with time management: 2 runs, 1 different", said)
        self.assertIn("free-running: 2 runs, 2 different", said)
        self.assertIn("Do the runs repeat?", page.text)
        self.assertEqual(page.tags.count("circle"), 4, "a dot for each run")

    def test_the_signal_can_be_chosen(self):
        page, _ = self.page_of("--scatter", "--signal", "dynamics.state.position.z", *self.journals)
        self.assertIn("dynamics.state.position.z", page.text)
        refused = isochron("report", "--scatter", "--signal", "/dynamics.state:height", *self.journals, "-o",
                           os.path.join(self.folder.name, "no.html"))
        self.assertEqual(refused.returncode, 2)
        self.assertIn("height", refused.stderr)

    def test_a_report_of_few_runs_has_it_too(self):
        page, _ = self.page_of(self.journals[0], self.journals[2])
        self.assertIn("Do the runs repeat?", page.text)


if __name__ == "__main__":
    unittest.main()
