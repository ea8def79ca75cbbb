// World, sensors, controllers and programs as nodes of flows: one digest however they run, and the world of the other
// modes.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "journal/decode.hpp"
#include "journal/disk.hpp"
#include "run/flow_record.hpp"
#include "run/run.hpp"
#include "run/wall_clock.hpp"
#include "world/messages.hpp"

namespace isochron {
namespace {

using Sets = std::vector<Override>;

class FlowNodes : public testing::Test {
 protected:
  FlowNodes() {
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = std::filesystem::temp_directory_path() / ("isochron_" + name + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~FlowNodes() override { std::filesystem::remove_all(folder_); }

  static std::string source(const std::string& file) { return std::string(ISOCHRON_SOURCE_DIR) + "/" + file; }
  std::string journal(const std::string& name) { return (folder_ / (name + ".mcap")).string(); }

  RunReport run_file(const std::string& file, const std::string& name, Sets sets) {
    const Scenario scenario = load_scenario(source(file), sets);
    RunWatch watch;
    return run_scenario(scenario, {journal(name)}, clock_, disk_, watch);
  }
  std::string digest(const std::string& file, const std::string& name, Sets sets) {
    const RunReport report = run_file(file, name, std::move(sets));
    EXPECT_EQ(report.end, RunReport::End::finished) << name << ": " << report.why;
    EXPECT_TRUE(report.record.digest.complete);
    return report.record.digest.hex;
  }
  std::vector<std::vector<std::byte>> records(const std::string& name, const std::string& topic) {
    McapReader reader = std::move(McapReader::open(disk_, journal(name)).value());
    std::vector<std::vector<std::byte>> all;
    auto cursor = reader.messages({.topics = {topic}});
    while (const auto message = cursor.next()) all.emplace_back(message->data.begin(), message->data.end());
    return all;
  }
  std::string mistake(const std::string& file, Sets sets) {
    try {
      check_scenario(load_scenario(source(file), sets));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path folder_;
  PosixDisk disk_;
  WallClock clock_;
};

const char* const executors[] = {"pool", "threads", "processes", "tcp"};
constexpr const char* ships = "examples/ships/ships.yaml";
constexpr const char* ships_flows = "examples/ships_flows/ships_flows.yaml";
constexpr const char* predator_prey = "experiments/predator_prey/predator_prey.yaml";

TEST_F(FlowNodes, WorldSensorControllerAndOwnNodesHaveOneDigestHoweverTheyRun) {
  const std::string expected = digest(ships_flows, "thread", {{"duration", "600ms"}});
  for (const std::string how : executors) {
    EXPECT_EQ(digest(ships_flows, how, {{"duration", "600ms"}, {"flows.executor", how}, {"flows.disturb", "7"}}),
              expected)
        << how;
  }
  EXPECT_EQ(records("thread", "/world/state").size(), 60U);
  EXPECT_EQ(records("thread", "/prey/imu").size(), 30U);
  EXPECT_EQ(records("thread", "/watch.shakes").size(), 6U);
  EXPECT_FALSE(records("thread", "/tf").empty());
}

TEST_F(FlowNodes, TheWorldAndItsSensorsAreThoseOfCallbackModeWhenComputingIsFree) {
  digest(ships, "callback", {{"duration", "2s"}});
  digest(ships, "flows",
         {{"duration", "2s"}, {"time.mode", "repeatable"}, {"time.compute", "zero"}, {"flows.executor", "thread"}});
  auto callback = records("callback", "/world/state");
  const auto flows = records("flows", "/world/state");
  ASSERT_EQ(flows.size(), 200U);
  callback.resize(flows.size());  // callback mode shows the state at the end too
  EXPECT_EQ(flows, callback);
  auto imu = records("callback", "/prey/imu");
  const auto flow_imu = records("flows", "/prey/imu");
  ASSERT_GE(flow_imu.size(), 199U);
  imu.resize(flow_imu.size());
  EXPECT_EQ(flow_imu, imu);
}

TEST_F(FlowNodes, AControllerThatTakesLongerIsReleasedLateAndSaysSo) {
  const Sets slow{{"duration", "1s"},
                  {"time.mode", "repeatable"},
                  {"time.compute", "zero"},
                  {"robots.prey.programs.controller.compute", "{modelled: {fixed: 25ms}}"}};
  const RunReport report = run_file(ships, "slow", slow);
  ASSERT_EQ(report.end, RunReport::End::finished) << report.why;
  ASSERT_EQ(report.programs.size(), 2U);
  const ProgramReport& prey = report.programs[1];
  EXPECT_EQ(prey.name, "prey/controller");
  EXPECT_EQ(prey.activations, 40U) << "one every 25 ms";
  EXPECT_EQ(prey.overruns, 39U);
  EXPECT_GT(prey.missed_deadlines, 50U);
}

TEST_F(FlowNodes, ProgramsThatAreProcessesAreNodesToo) {
  const Sets modelled{{"duration", "300ms"},
                      {"time.mode", "repeatable"},
                      {"time.compute", "{modelled: {fixed: 1ms, per_clock_read: 10ms}}"},
                      {"flows.executor", "thread"}};
  const std::string expected = digest(predator_prey, "thread", modelled);
  for (const std::string how : {"threads", "processes"}) {
    Sets sets = modelled;
    sets.push_back({"flows.executor", how});
    EXPECT_EQ(digest(predator_prey, how, sets), expected) << how;
  }
  EXPECT_FALSE(records("thread", "/programs/predator/controller").empty());
  // The coordinator alone gives the same world.
  Sets alone(modelled.begin(), modelled.end() - 1);
  digest(predator_prey, "alone", alone);
  auto states = records("alone", "/world/state");
  const auto flows = records("thread", "/world/state");
  ASSERT_GE(states.size(), flows.size());
  states.resize(flows.size());
  EXPECT_EQ(flows, states);
}

TEST_F(FlowNodes, FreeRunningIsJournaledAndSaysThatItDoesNotRepeat) {
  const RunReport report =
      run_file("examples/uav/uav.yaml", "free", {{"duration", "1s"}, {"flows.executor", "free"}, {"time.pace", "10x"}});
  EXPECT_EQ(report.end, RunReport::End::finished) << report.why;
  EXPECT_GT(report.record.messages, 500U);
  ASSERT_FALSE(report.notes.empty());
  EXPECT_NE(report.notes.back().find("does not repeat"), std::string::npos);
}

TEST_F(FlowNodes, TheJournalHoldsWhatWasRun) {
  digest("examples/nbody/nbody.yaml", "set",
         {{"duration", "10s"}, {"flows.executor", "pool"}, {"flows.capacity", "2"}});
  McapReader reader = std::move(McapReader::open(disk_, journal("set")).value());
  std::string text;
  for (const auto& index : reader.attachments()) {
    if (index.name != "scenario.yaml") continue;
    const auto bytes = reader.attachment(index);
    text.assign(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  }
  const Scenario again = read_scenario(text, "scenario.yaml", source("examples/nbody"));
  EXPECT_EQ(again.duration, SimSpan(std::chrono::seconds(10)));
  EXPECT_EQ(again.flows.executor, flow::How::pool);
  EXPECT_EQ(again.flows.capacity, 2);
  EXPECT_EQ(again.nodes.size(), 4U);
}

TEST_F(FlowNodes, AStallIsInTheJournalARecordForEachNode) {
  const Scenario scenario = load_scenario(source("examples/nbody/nbody.yaml"), {{"duration", "10s"}});
  FlowPlan plan = plan_flows(scenario);
  RunWatch watch;
  RunRecord record(scenario, {journal("stall")}, clock_, disk_, {"yellow", "red"});
  FlowRecorder recorder(plan, scenario, record, watch);
  flow::Waiting red{
      "red",    flow::Waiting::For::message,      "yellow.position", SimTime::zero() + std::chrono::seconds(12),
      "yellow", WallSpan(std::chrono::seconds(5))};
  flow::Waiting yellow{"yellow", flow::Waiting::For::own_code, "", SimTime::zero(), "", WallSpan::zero()};
  recorder.stalled({yellow, red});
  RunReport report;
  record.finish(report);
  const auto told = records("stall", "/isochron/stall");
  ASSERT_EQ(told.size(), 2U);
  const auto wait = cdr_read<WaitRecord>(told[1]);
  ASSERT_TRUE(wait.ok());
  EXPECT_EQ(wait->stall, 1U);
  EXPECT_EQ(wait->node, "red");
  EXPECT_EQ(wait->what, "waits for a message");
  EXPECT_EQ(wait->flow, "yellow.position");
  EXPECT_EQ(wait->at, SimTime::zero() + std::chrono::seconds(12));
  EXPECT_EQ(wait->whom, "yellow");
  EXPECT_EQ(wait->since_s, 5);
}

TEST_F(FlowNodes, MistakesAreToldWithTheirPlaceBeforeAnythingStarts) {
  EXPECT_NE(mistake(ships_flows, {{"nodes.watch.inputs", "{imu: prey/gps.reading}"}}).find("no node for output"),
            std::string::npos);
  EXPECT_NE(mistake(ships_flows, {{"nodes.watch.inputs", "{imu: world.state}"}}).find("carries"), std::string::npos);
  EXPECT_NE(mistake(ships_flows, {{"nodes.autopilot.drives", "{fx: predator/fxx}"}}).find("predator/fx"),
            std::string::npos);
  EXPECT_NE(mistake(ships, {{"time.mode", "repeatable"}}).find("measured"), std::string::npos);
  EXPECT_NE(
      mistake(ships, {{"time.mode", "repeatable"}, {"robots.prey.programs.controller.every", "0s"}}).find("every"),
      std::string::npos);
}

}  // namespace
}  // namespace isochron
