// FMUs in scenarios: wired by name, checked when the scenario is loaded, one digest however they run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "bridge/fmi/ssp.hpp"
#include "bridge/fmi/test/fmu_maker.hpp"
#include "journal/decode.hpp"
#include "journal/disk.hpp"
#include "run/run.hpp"
#include "run/wall_clock.hpp"

namespace isochron {
namespace {

using fmi::test::description2;
using fmi::test::description3;
#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

class FmuNodesTest : public testing::Test {
 protected:
  FmuNodesTest() {
    shop_.fmu2("gain2.fmu", description2(fmi::test::gain2, fmi::test::step_flags, fmi::test::angles));
    shop_.fmu3("gain3.fmu", description3(fmi::test::gain3 + fmi::test::ball3,
                                         fmi::test::step_flags + " hasEventMode='true'", fmi::test::angles));
    shop_.fmu2("ball.fmu",
               description2(fmi::test::ball2 + fmi::test::trouble2, fmi::test::step_flags, fmi::test::angles));
    shop_.fmu2("once.fmu", description2(fmi::test::ball2, "canBeInstantiatedOnlyOncePerProcess='true'"));
  }

  Scenario scenario(const std::string& nodes, const std::vector<Override>& sets = {}) {
    return read_scenario("name: fmus\nduration: 200ms\ntime: {mode: repeatable}\nnodes:\n" + nodes, "s.yaml",
                         shop_.folder(), sets);
  }
  RunReport run(const Scenario& scenario, const std::string& journal = "run.mcap") {
    RunWatch watch;
    return run_scenario(scenario, {shop_.path(journal)}, clock_, disk_, watch);
  }
  std::string mistake(const std::string& nodes) {
    try {
      check_scenario(scenario(nodes));
    } catch (const InputError& error) {
      return error.what();
    }
    return "no mistake";
  }
  std::size_t count(const std::string& topic, const std::string& journal = "run.mcap") {
    McapReader reader = std::move(McapReader::open(disk_, shop_.path(journal)).value());
    std::size_t all = 0;
    auto cursor = reader.messages({.topics = {topic}});
    while (cursor.next()) ++all;
    return all;
  }
  /// What is wrong about a run in which one of two FMUs crashes; nothing if all is well.
  std::string why_it_crashes(const std::string& where) {
    const std::string nodes =
        "  a: {fmu: ball.fmu, every: 10ms, parameters: {trouble: 2}}\n  b: {fmu: gain2.fmu, every: 10ms}\n";
    const Override how = where == "own" ? Override{"nodes.a.process", "own"} : Override{"flows.executor", where};
    const RunReport report = run(scenario(nodes, {how}), where + ".mcap");
    const bool told = report.why.find("node a failed: ") != std::string::npos &&
                      report.why.find("Segmentation fault") != std::string::npos;
    if (report.end != RunReport::End::failed || !told) return "it says: " + report.why;
    return count("/a.out", where + ".mcap") == 6 ? "" : "the journal is not whole";
  }
  std::vector<double> series(const std::string& topic, const std::string& field) {
    McapReader reader = std::move(McapReader::open(disk_, shop_.path("run.mcap")).value());
    return read_series(reader, topic, field).value().values;
  }

  fmi::test::Workshop shop_;
  PosixDisk disk_;
  WallClock clock_;
};

TEST_F(FmuNodesTest, AStepThatCostsTimeGivesTheSameValuesLater) {
  const std::string free = "  a: {fmu: gain3.fmu, every: 10ms}\n";
  const std::string dear = "  a: {fmu: gain3.fmu, every: 10ms, compute: {modelled: {fixed: 3ms}}}\n";
  const auto series = [&](const std::string& nodes, const std::string& journal) {
    const RunReport report = run(scenario(nodes), journal);
    EXPECT_EQ(report.end, RunReport::End::finished) << report.why;
    McapReader reader = std::move(McapReader::open(disk_, shop_.path(journal)).value());
    return read_series(reader, "/a.out", "h").value();
  };
  const Series now = series(free, "free.mcap"), later = series(dear, "dear.mcap");
  ASSERT_EQ(now.values.size(), later.values.size());
  EXPECT_EQ(now.values, later.values);
  for (std::size_t i = 0; i < now.times.size(); ++i) {
    EXPECT_EQ(later.times[i] - now.times[i], SimSpan::from_ns(3'000'000)) << i;
  }
}

TEST_F(FmuNodesTest, WhatAStepCannotCostIsRefused) {
  EXPECT_SAYS(mistake("  a: {fmu: gain3.fmu, every: 10ms, compute: {modelled: {fixed: 10ms}}}\n"),
              "a step must cost less than its `every`, 10ms");
  EXPECT_SAYS(mistake("  a: {fmu: gain3.fmu, every: 10ms, compute: measured}\n"),
              "node `a` is measured, and a measured run is not the same twice");
  EXPECT_SAYS(mistake("  a: {fmu: gain3.fmu, every: 10ms, compute: hardware}\n"), "a node does not run on a board");
  EXPECT_SAYS(mistake("  a: {fmu: gain3.fmu, every: 10ms, compute: {modelled: {fixed: 1ms, per_call: 1us}}}\n"),
              "`per_call` is not of nodes");
  EXPECT_SAYS(mistake("  a: {fmu: gain3.fmu, every: 10ms, compute: {recorded: none.mcap}}\n"), "none.mcap");
}

TEST_F(FmuNodesTest, AMeasuredStepIsThereWhenItWasComputedAndItsRecordRepeatsIt) {
  const auto nodes = [](const std::string& compute, const std::string& process) {
    return "  a: {fmu: gain3.fmu, every: 10ms, process: " + process + ", compute: " + compute +
           ", inputs: {u: b.out.y}}\n  b: {fmu: gain2.fmu, every: 5ms, inputs: {u: a.out.h}}\n";
  };
  const auto read = [&](const std::string& journal, const std::string& topic, const std::string& field) {
    McapReader reader = std::move(McapReader::open(disk_, shop_.path(journal)).value());
    return read_series(reader, topic, field).value();
  };
  for (const std::string process : {"shared", "own"}) {
    SCOPED_TRACE(process);
    const Scenario measured = scenario(nodes("measured", process), {{"time.mode", "consistent"}});
    const RunReport first = run(measured, "measured.mcap");
    ASSERT_EQ(first.end, RunReport::End::finished) << first.why;
    EXPECT_THAT(first.not_repeatable, testing::Contains("a: its computing is measured"));
    const Series values = read("measured.mcap", "/a.out", "h"), costs = read("measured.mcap", "/a.cost", "cost_ns");
    ASSERT_GT(values.times.size(), 10U);
    ASSERT_EQ(costs.times, values.times) << "with each message the cost of the step that is made then";
    for (std::size_t i = 1; i < values.times.size(); ++i) {
      EXPECT_GT(costs.values[i - 1], 0);
      const SimTime point = SimTime::zero() + std::chrono::milliseconds(10 * i);
      EXPECT_GE((values.times[i] - point).ns(), static_cast<std::int64_t>(costs.values[i - 1]));
    }
    const std::string tape = "{recorded: " + shop_.path("measured.mcap") + "}";
    const RunReport again = run(scenario(nodes(tape, process)), "again.mcap");
    ASSERT_EQ(again.end, RunReport::End::finished) << again.why;
    EXPECT_EQ(again.record.digest.hex, first.record.digest.hex);
    EXPECT_TRUE(again.not_repeatable.empty());
    EXPECT_EQ(read("again.mcap", "/a.out", "h").times, values.times);
  }
}

TEST_F(FmuNodesTest, AStepThatTakesLongerThanItsTimeFallsBehindAndSaysSo) {
  const RunReport report =
      run(scenario("  a: {fmu: gain3.fmu, every: 10ms, compute: {modelled: {fixed: 12ms, deviation: 1us}}}\n"));
  ASSERT_EQ(report.end, RunReport::End::finished) << report.why;
  const std::vector<double> late = series("/a.cost", "late_ns");
  ASSERT_GT(late.size(), 5U);
  EXPECT_NEAR(late.back(), 2e6 * static_cast<double>(late.size() - 1), 1e5);
}

TEST_F(FmuNodesTest, HaveOneDigestHoweverTheyRun) {
  const std::string nodes =
      "  first: {fmu: gain2.fmu, every: 10ms, parameters: {k: 2}, inputs: {u: second.out.h}}\n"
      "  second: {fmu: gain3.fmu, every: 5ms, parameters: {k: 0.75}, inputs: {u: first.out.y}}\n"
      "  third: {fmu: gain2.fmu, every: 20ms, inputs: {u: second.out.y}, outputs: {angle: y}}\n";
  const RunReport thread = run(scenario(nodes));
  ASSERT_EQ(thread.end, RunReport::End::finished) << thread.why;
  EXPECT_EQ(count("/first.out"), 20U);
  EXPECT_EQ(count("/second.out"), 40U);
  EXPECT_EQ(count("/third.angle"), 10U);
  EXPECT_NE(series("/second.out", "y").back(), 0);
  for (const std::string how : {"pool", "threads", "processes", "tcp"}) {
    const RunReport other = run(scenario(nodes, {{"flows.executor", how}, {"flows.disturb", "3"}}), how + ".mcap");
    ASSERT_EQ(other.end, RunReport::End::finished) << how << other.why;
    EXPECT_EQ(other.record.digest.hex, thread.record.digest.hex) << how;
  }
  const RunReport own =
      run(scenario(nodes, {{"nodes.first.process", "own"}, {"nodes.second.process", "own"}}), "own.mcap");
  ASSERT_EQ(own.end, RunReport::End::finished) << own.why;
  EXPECT_EQ(own.record.digest.hex, thread.record.digest.hex);
}

TEST_F(FmuNodesTest, UnitsBetweenFmusAreConverted) {
  const RunReport report =
      run(scenario("  source: {fmu: gain3.fmu, every: 10ms, parameters: {u: 180}}\n"
                   "  sink: {fmu: gain2.fmu, every: 10ms, inputs: {u: source.out.y}}\n"));
  ASSERT_EQ(report.end, RunReport::End::finished) << report.why;
  EXPECT_NEAR(series("/sink.out", "y").back(), 3.14159265358979, 1e-12) << "degrees became radians";
}

TEST_F(FmuNodesTest, MistakesArePlaced) {
  EXPECT_SAYS(mistake("  a: {fmu: none.fmu, every: 1ms}\n"), "s.yaml:5:12: node `a`: ");
  EXPECT_SAYS(mistake("  a: {fmu: none.fmu, every: 1ms}\n"), "none.fmu: there is no such file");
  EXPECT_SAYS(mistake("  a: {fmu: gain2.fmu}\n"), "give `every`");
  EXPECT_SAYS(mistake("  a: {fmu: gain2.fmu, every: 0s}\n"), "`every` must be positive");
  EXPECT_SAYS(mistake("  a: {fmu: gain2.fmu, every: 1ms, with: {k: 1}}\n"), "stand under `parameters`");
  EXPECT_SAYS(mistake("  a: {library: x, every: 1ms}\n"), "`every` is of nodes that are an `fmu`");
  EXPECT_SAYS(mistake("  a: {fmu: gain2.fmu, library: x}\n"), "needs either `library`, `run`, `fmu`, `sumo` or `play`");
  EXPECT_SAYS(mistake("  a: {fmu: gain2.fmu, every: 1ms, parameters: {q: 1}}\n"),
              "s.yaml:5:51: node `a`: the FMU has no variable `q`; it has u, k");
  EXPECT_SAYS(mistake("  a: {fmu: gain2.fmu, every: 1ms, inputs: {u: b.out.y}}\n"),
              "s.yaml:5:47: node `a`: there is no node `b`");
  EXPECT_SAYS(mistake("  a: {fmu: gain2.fmu, every: 1ms, inputs: {u: a.other.y}}\n"), "node a has no output `other`");
  EXPECT_SAYS(mistake("  a: {fmu: gain2.fmu, every: 1ms, inputs: {u: a.out.z}}\n"),
              "carries fmu_msgs/msg/kit, in which `z` is no number or text; it has y");
  EXPECT_SAYS(mistake("  a: {fmu: gain2.fmu, every: 1ms, inputs: {u: b.out.h}}\n  b: {fmu: ball.fmu, every: 1ms}\n"),
              "`u` is in rad, and b.out.h in m");
  EXPECT_SAYS(mistake("  a: {fmu: gain2.fmu, every: 1ms, process: other}\n"), "`other` is not one of the words");
}

TEST_F(FmuNodesTest, OneThatMayBeThereOnceInAProcessGetsProcessesOfItsOwn) {
  const std::string two = "  a: {fmu: once.fmu, every: 10ms}\n  b: {fmu: once.fmu, every: 10ms}\n";
  const RunReport report = run(scenario(two));
  ASSERT_EQ(report.end, RunReport::End::finished) << report.why;
  EXPECT_EQ(series("/a.out", "h"), series("/b.out", "h"));
  const RunReport shared = run(scenario("  a: {fmu: ball.fmu, every: 10ms}\n  b: {fmu: ball.fmu, every: 10ms}\n"));
  EXPECT_EQ(series("/a.out", "h"), series("/b.out", "h"));
}

TEST_F(FmuNodesTest, OneThatFailsEndsTheRunAndTheJournalIsWhole) {
  const std::string other = "  b: {fmu: gain2.fmu, every: 10ms}\n";
  const RunReport error = run(scenario("  a: {fmu: ball.fmu, every: 10ms, parameters: {trouble: 1}}\n" + other));
  EXPECT_EQ(error.end, RunReport::End::failed);
  EXPECT_SAYS(error.why,
              "node a failed: in the step from 50ms to 60ms: fmi2DoStep of the FMU returned error; it said: the gear");
  EXPECT_EQ(count("/a.out"), 6U);
  for (const std::string where : {"own", "processes"}) EXPECT_EQ(why_it_crashes(where), "") << where;
  for (const std::string where : {"thread", "pool"}) {  // a run that crashed in this process leaves a thread behind
    EXPECT_EXIT(_exit(why_it_crashes(where).empty() ? 0 : 1), testing::ExitedWithCode(0), "") << where;
  }
}

TEST_F(FmuNodesTest, ASystemOfAnotherToolRunsAsTheScenarioMadeOfIt) {
  const std::string component = " source='gain2.fmu'/>";
  const std::string ssp = shop_.zip(
      "s.ssp", {{"SystemStructure.ssd",
                 "<SystemStructureDescription name='s'><System name='r'><ParameterBindings><ParameterBinding>"
                 "<ParameterValues><ParameterSet><Parameters><Parameter name='a.u'><Real value='4'/></Parameter>"
                 "</Parameters></ParameterSet></ParameterValues></ParameterBinding></ParameterBindings><Elements>"
                 "<Component name='a'" +
                     component + "<Component name='b'" + component +
                     "</Elements><Connections><Connection startElement='a' startConnector='y' endElement='b' "
                     "endConnector='u'/></Connections></System><DefaultExperiment stopTime='0.1'/>"
                     "</SystemStructureDescription>"},
                {"gain2.fmu", "x"}});
  const std::string text = fmi::scenario_text(fmi::read_ssp(fmi::Archive::open(ssp)), "10ms");
  const RunReport report = run(read_scenario(text, "s.yaml", shop_.folder()));
  ASSERT_EQ(report.end, RunReport::End::finished) << report.why;
  EXPECT_EQ(series("/b.out", "y").back(), 4);
}

TEST_F(FmuNodesTest, WhatItSaysIsInTheJournalAndNotInTheDigest) {
  const std::string talks = "  a: {fmu: ball.fmu, every: 10ms, log: true, parameters: {trouble: 9}}\n";
  const std::string silent = "  a: {fmu: ball.fmu, every: 10ms, parameters: {trouble: 0}}\n";
  const RunReport loud = run(scenario(talks));
  ASSERT_EQ(loud.end, RunReport::End::finished) << loud.why;
  EXPECT_EQ(count("/a.log"), 14U);
  EXPECT_EQ(run(scenario(silent), "silent.mcap").record.digest.hex, loud.record.digest.hex);
}

}  // namespace
}  // namespace isochron
