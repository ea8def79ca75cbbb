// Nodes in other languages: the same digest as in C++, and what they do wrong is said with node, flow and time.

#include <gtest/gtest.h>

#include "core/input_error.hpp"
#include "flow/c_node.hpp"
#include "flow/program_node.hpp"
#include "flow/test/test_nodes.hpp"

namespace isochron::flow::test {

struct Temperature {
  double degrees = 0;
};
struct Power {
  double watts = 0;
};
ISOCHRON_MESSAGE(Temperature, "example_msgs/msg/Temperature", degrees)
ISOCHRON_MESSAGE(Power, "example_msgs/msg/Power", watts)

namespace {

class Room : public UserNode {
  void step(Temperature& out) {
    degrees_ += 1e-4 * heat_.latest_or({}).watts - 1e-3 * (degrees_ - 5);
    out.degrees = degrees_;
  }
  double degrees_ = 15;
  Input<Power> heat_ = input<Power>("heat");
  Output<Temperature> out_ = output<&Room::step>("temperature", every(100ms));
};
class Heater : public UserNode {
  void heard(const Temperature& room) { on_ = room.degrees < 21; }
  void step(Power& out) { out.watts = on_ ? 500 : 0; }
  bool on_ = false;
  Input<Temperature> room_ = input<&Heater::heard>("room");
  Output<Power> out_ = output<&Heater::step>("heat", every(1s));
};

const Parameters wanted(Parameters::Values{{"wanted", "21"}});
const Parameters wrong(Parameters::Values{{"wnated", "3"}});
const bool python_finds_us = setenv("PYTHONPATH", PYTHON_FOLDER, 1) == 0;

std::unique_ptr<UserNode> program(std::vector<std::string> words) {
  return make_program_node({std::move(words), ROOM_FOLDER}, "Heater", wanted);
}

FlowOutcome run_with(std::unique_ptr<UserNode> heater, How how, SimTime until = at(20s)) {
  System system;
  system.add<Room>("room");
  system.add("heater", std::move(heater));
  system.connect("room.temperature", "heater.room");
  system.connect("heater.heat", "room.heat");
  return run(system, {.until = until, .how = how});
}

TEST(ForeignNodes, HaveTheDigestOfTheSameNodeInCxx) {
  ASSERT_TRUE(python_finds_us);
  const FlowOutcome expected = run_with(std::make_unique<Heater>(), How::thread);
  for (const How how : {How::thread, How::threads, How::processes, How::tcp}) {
    const std::vector<std::vector<std::string>> programs = {
        {HEATER_PROGRAM}, {HEATER_LOOP}, {"/usr/bin/python3", "heater.py"}, {"/usr/bin/python3", "heater_loop.py"}};
    for (const auto& words : programs) {
      const FlowOutcome outcome = run_with(program(words), how);
      for (const auto& failure : outcome.failures) ADD_FAILURE() << to_string(failure);
      EXPECT_TRUE(outcome.complete) << words.back() << " " << to_string(how);
      EXPECT_EQ(outcome.flow_digests, expected.flow_digests) << words.back() << " " << to_string(how);
    }
    const FlowOutcome outcome = run_with(make_c_node(*isochron_node_types()->types, wanted), how);
    EXPECT_EQ(outcome.flow_digests, expected.flow_digests) << "in C, " << to_string(how);
  }
}

TEST(ForeignNodes, SayWhatTypesAProgramHas) {
  for (const std::string& words : {std::string(HEATER_PROGRAM), std::string(HEATER_LOOP)}) {
    const auto types = types_of_program({{words}, ""});
    ASSERT_EQ(types.size(), 1U);
    EXPECT_EQ(types[0].name, "Heater");
    EXPECT_EQ(types[0].about, "on below `wanted`");
  }
}

std::string why_not(const std::function<std::unique_ptr<UserNode>()>& make) {
  try {
    (void)make();
  } catch (const InputError& error) {
    return error.mistakes()[0].what;
  }
  return "";
}

TEST(ForeignNodes, ThatCannotBeMadeSayWhy) {
  EXPECT_EQ(why_not([] {
              return make_program_node({{"/nowhere/program"}, ""}, "", {});
            }),
            "its program `/nowhere/program` could not be started");
  EXPECT_EQ(why_not([] {
              return make_program_node({{"/bin/true"}, ""}, "", {});
            }),
            "its program `/bin/true` ended with code 0");
  EXPECT_EQ(why_not([] {
              return make_program_node({{HEATER_PROGRAM}, ""}, "Cooler", {});
            }),
            "the program has no such node type");
  EXPECT_EQ(why_not([] {
              return make_program_node({{HEATER_PROGRAM}, ""}, "Heater", wrong);
            }),
            "the node has no parameter `wnated`");
  EXPECT_EQ(why_not([] { return make_c_node(*isochron_node_types()->types, wrong); }),
            "the node has no parameter `wnated`");
}

/// A node in Python that does this in its function of that name.
std::unique_ptr<UserNode> python(const std::string& body) {
  const std::string text =
      "import os, signal\nfrom isochron import node\n"
      "class Bad(node.Node):\n"
      "    def __init__(self, parameters):\n"
      "        self.input('room', node.message('example_msgs/msg/Temperature', 'float64 degrees'))\n"
      "        self.alarm = self.event('alarm', 'float64', lookahead='1s')\n"
      "        self.heat = self.output('heat', node.message('example_msgs/msg/Power', 'float64 watts'), self.step,"
      " every='1s')\n"
      "    def step(self, time):\n"
      "        power = self.heat.type\n"
      "        if time >= 3_000_000_000:\n"
      "            " +
      body +
      "\n"
      "        return power(1.0)\n"
      "node.main(Bad)\n";
  return make_program_node({{"/usr/bin/python3", "-c", text}, ""}, "", {});
}

TEST(ForeignNodes, ThatBreakTheirPromisesAreRefusedWithNodeFlowAndBothTimes) {
  const std::pair<std::string, std::string> cases[] = {
      {"self.next_at(self.heat, time - 1)",
       "flow heater.heat: the message at 3s says that the next one comes at 2.999999999s; it must come later (at 3s)"},
      {"self.alarm.send(time, 1.0)",
       "event flow alarm: an event at 3s, sent at 3s; with its lookahead of 1s it must come at 4s or later (at 3s)"},
      {"raise ValueError('it hurts')", "ValueError: it hurts (at 3s)"},
  };
  for (const auto& [body, what] : cases) {
    for (const How how : {How::thread, How::processes}) {
      const FlowOutcome outcome = run_with(python(body), how);
      EXPECT_FALSE(outcome.complete);
      ASSERT_GE(outcome.failures.size(), 1U) << body;
      EXPECT_EQ(outcome.failures[0].node, "heater");
      EXPECT_EQ(outcome.failures[0].what, what);
    }
  }
}

TEST(ForeignNodes, WhoseProgramIsKilledAreNamed) {
  const FlowOutcome outcome = run_with(python("os.kill(os.getpid(), signal.SIGKILL)"), How::thread);
  ASSERT_EQ(outcome.failures.size(), 1U);
  EXPECT_EQ(outcome.failures[0].node, "heater");
  EXPECT_NE(outcome.failures[0].what.find("was killed: Killed"), std::string::npos) << outcome.failures[0].what;
}

}  // namespace
}  // namespace isochron::flow::test
