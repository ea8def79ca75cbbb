#include "scenario/scenario.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/random.hpp"

namespace isochron {
namespace {
using namespace std::chrono_literals;

/// A folder with a model file in it, gone after the test.
class ScenarioTest : public testing::Test {
 protected:
  ScenarioTest() {
    char pattern[] = "/tmp/isochron_scenario_XXXXXX";
    folder_ = mkdtemp(pattern);
    std::ofstream(folder_ + "/ships.xml") << "<mujoco/>";
    for (const char* program : {"predator_controller", "predator_planner", "prey_controller", "p"}) {
      std::ofstream(folder_ + "/" + program) << "#!/bin/true\n";
      std::filesystem::permissions(folder_ + "/" + program, std::filesystem::perms::owner_all);
    }
  }
  ~ScenarioTest() override { std::filesystem::remove_all(folder_); }

  Scenario read(const std::string& text, const std::vector<Override>& set = {}) {
    return read_scenario(text, "s.yaml", folder_, set);
  }
  std::string mistakes_of(const std::string& text, const std::vector<Override>& set = {}) {
    try {
      read(text, set);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  std::string folder_;
};

const char* const good = R"(name: predator_prey
duration: 20s
seed: 7
world: {model: ships.xml, step: 10ms, walls: {half_width: 25}}
robots:
  predator:
    policy: fixed-priority
    programs:
      controller: {run: [predator_controller], every: 10ms, priority: 1}
      planner: {run: [predator_planner, --fast], best_effort: true, to: controller, compute: {modelled: {fixed: 2ms}}}
  prey:
    programs:
      controller: {run: [prey_controller], every: 10ms}
time: {mode: consistent, compute: measured, quantum: 1ms, pace: 0.5x}
)";

TEST_F(ScenarioTest, ReadsTheWholeVocabulary) {
  const Scenario s = read(good);
  EXPECT_EQ(s.name, "predator_prey");
  EXPECT_EQ(s.duration, SimSpan(20s));
  EXPECT_EQ(s.seed, 7U);
  EXPECT_EQ(*s.world->step, SimSpan(10ms));
  ASSERT_EQ(s.robots.size(), 2U);
  EXPECT_EQ(s.robots[0].first, "predator");
  EXPECT_EQ(s.robots[0].second.policy.word, PolicyWord::fixed_priority);
  EXPECT_EQ(s.robots[1].second.policy.word, PolicyWord::fixed_priority) << "the default";
  const auto& planner = s.robots[0].second.programs[1].second;
  EXPECT_EQ(planner.run, (std::vector<std::string>{"predator_planner", "--fast"}));
  EXPECT_EQ(planner.compute->contract, Contract::modelled);
  EXPECT_EQ(planner.compute->modelled->fixed, SimSpan(2ms));
  EXPECT_EQ(s.time.mode, Mode::consistent);
  EXPECT_EQ(s.time.compute.contract, Contract::measured);
  EXPECT_EQ(s.time.pace.factor, (Fraction{1, 2}));
}

TEST_F(ScenarioTest, ReportsEveryMistakeInOnePassWithItsPlace) {
  const std::string said = mistakes_of(R"(name: x
duration: 20 parsecs
world: {model: missing.xml, stp: 10ms}
robots:
  predator:
    policy: fixed-prio
    programs:
      planner: {run: [p], to: controler}
      controller: {every: 10ms}
)");
  EXPECT_NE(said.find("s.yaml:2:11: `parsecs` is not a unit of time"), std::string::npos) << said;
  EXPECT_NE(said.find("s.yaml:3:16: there is no file"), std::string::npos) << said;
  EXPECT_NE(said.find("s.yaml:3:29: unknown key `stp`; did you mean `step`?"), std::string::npos) << said;
  EXPECT_NE(said.find("s.yaml:6:13: `fixed-prio` is not one of the words for this; did you mean `fixed-priority`?"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("did you mean `controller`?"), std::string::npos) << said;
  EXPECT_NE(said.find("s.yaml:9:19: program `controller` needs either `run` or `library`"), std::string::npos) << said;
}

std::string with_policy(const std::string& policy, const std::string& more = "") {
  return "name: x\nworld: {model: ships.xml}\nrobots:\n  r:\n    policy: " + policy + "\n    programs: {x: {run: [sh]" +
         more + "}, y: {run: [sh]}, z: {run: [sh]}}\n";
}

TEST_F(ScenarioTest, APolicyIsATreeOfGroups) {
  using Rule = PolicyGroupSection::Rule;
  const Scenario s = read(with_policy("{fair: {a: {share: 2, fixed: [x, y]}, z: {share: 3}}}"));
  const PolicyGroupSection& root = *s.robots[0].second.policy.tree;
  EXPECT_EQ(root.rule, Rule::fair);
  ASSERT_EQ(root.members.size(), 2U);
  EXPECT_EQ(root.members[0].share, 2U);
  EXPECT_EQ(root.members[0].rule, Rule::fixed);
  EXPECT_EQ(root.members[0].members[1].name, "y");
  EXPECT_EQ(root.members[1].rule, Rule::none);
  EXPECT_EQ(root.members[1].share, 3U);
}

TEST_F(ScenarioTest, APolicyThatMeansNothingIsAMistake) {
  const auto said = [&](const std::string& policy) { return mistakes_of(with_policy(policy)); };
  EXPECT_NE(said("{fair: [x, y]}").find("s.yaml:5:13: program `z` is missing in the policy"), std::string::npos);
  EXPECT_NE(said("{fair: [x, y, zz]}").find("s.yaml:5:27: `zz` is no program of this robot"), std::string::npos);
  EXPECT_NE(said("{fixed: [x, y, z, x]}").find("program `x` stands twice"), std::string::npos);
  EXPECT_NE(said("{fare: [x, y, z]}").find("did you mean `fair`?"), std::string::npos);
  EXPECT_NE(said("{fair: {x: {share: 0}, y: {}, z: {}}}").find("a share is a whole number from 1"), std::string::npos);
  EXPECT_NE(said("{fair: {x: {share: [1]}, y: {}, z: {}}}").find("a share is a whole number from 1"),
            std::string::npos);
  EXPECT_NE(said("{fair: {a: {fixed: [x], fair: [y]}, z: {}}}").find("a group has one rule"), std::string::npos);
  EXPECT_NE(said("{fair: [], fixed: [x]}").find("a group needs members"), std::string::npos);
  EXPECT_NE(said("[x, y, z]").find("a policy is a word, a tree of groups, or a library"), std::string::npos);
  EXPECT_NE(said("{library: nowhere}").find("there is no shared library"), std::string::npos);
  EXPECT_NE(
      mistakes_of(with_policy("{fair: [x, y, z]}", ", priority: 2")).find("has no effect under the robot's policy"),
      std::string::npos);
}

TEST_F(ScenarioTest, OverridesComeFromTheCommandLine) {
  EXPECT_EQ(read(good, {{"time.quantum", "250us"}}).time.quantum, SimSpan(250us));
  EXPECT_NE(mistakes_of(good, {{"time.quantum", "fast"}}).find("--set time.quantum"), std::string::npos);
  EXPECT_NE(mistakes_of(good, {{"time.quantm", "1ms"}}).find("did you mean `quantum`?"), std::string::npos);
}

TEST_F(ScenarioTest, NothingToRunIsAMistake) {
  EXPECT_NE(mistakes_of("name: x\n").find("there is nothing to run"), std::string::npos);
  EXPECT_NE(mistakes_of("").find("`name` is missing"), std::string::npos);
  EXPECT_NE(mistakes_of("[1, 2]").find("keys with their values are expected here"), std::string::npos);
}

TEST_F(ScenarioTest, ComputeIsOneContract) {
  EXPECT_NE(mistakes_of(std::string(good) + "\n", {{"time.compute", "free"}}), "");
  EXPECT_NE(mistakes_of(good, {{"time.compute", "{recorded: gone.mcap}"}}).find("there is no file"), std::string::npos);
  EXPECT_EQ(read(good, {{"time.compute", "zero"}}).time.compute.contract, Contract::zero);
}

TEST_F(ScenarioTest, MissingFilesAndFoldersAreSaid) {
  EXPECT_THROW(load_scenario(folder_), InputError);
  EXPECT_THROW(load_scenario(folder_ + "/none.yaml"), InputError);
}

TEST_F(ScenarioTest, MutatedFilesAreReadOrRefusedNeverMore) {
  RandomStream random(11, "scenario");
  for (int i = 0; i < 500; ++i) {
    std::string text = good;
    for (int n = 0; n < 4; ++n) text[random.below(text.size())] = static_cast<char>(random.below(256));
    mistakes_of(text);
  }
}

}  // namespace
}  // namespace isochron
