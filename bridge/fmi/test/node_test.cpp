// FMUs as nodes of flows: what they compute, when their inputs act, and what becomes of those that fail.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <map>

#include "bridge/fmi/fields.hpp"
#include "bridge/fmi/node.hpp"
#include "bridge/fmi/test/fmu_maker.hpp"
#include "bridge/fmi/wiring.hpp"
#include "flow/definition.hpp"
#include "flow/dynamic_node.hpp"
#include "flow/run.hpp"

namespace isochron::fmi {
namespace {

using namespace std::chrono_literals;
using test::ball2;
using test::ball3;
using test::description2;
using test::description3;
using test::gain2;
using test::gain3;
#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

struct Command {
  double angle = 0, other = 0;
  std::array<double, 3> three{};
  std::int32_t count = 0;
  bool on = false;
  std::int64_t big = 0;
};

constexpr const char* command_type =
    "test_msgs/msg/Command\nfloat64 angle\nfloat64 other\nfloat64[3] three\nint32 count\nbool on\nint64 big\n";

/// Says its own time, ten times that, and so on.
class Source final : public flow::DynamicNode {
 public:
  explicit Source(SimSpan period) {
    flow::OutputInfo info;
    info.name = "command";
    info.period = period;
    info.type = &flow::dynamic_type(command_type);
    add_output(std::move(info));
  }

 private:
  void heard(std::uint32_t, const void*, SimTime) override {}
  void fill(std::uint32_t, void* payload, SimTime t) override {
    const double s = static_cast<double>(t.since_zero().ns()) / 1e9;
    *static_cast<Command*>(payload) = {s,        10 * s, {s, 2 * s, 3 * s}, static_cast<std::int32_t>(1000 * s + 0.5),
                                       s > 0.05, 7};
  }
};

/// Keeps what comes, as text: "0.1 0.3; …".
class Sink final : public flow::DynamicNode {
 public:
  explicit Sink(const flow::PayloadType& type) { add_input("in", type); }
  std::vector<std::vector<std::byte>> messages;

  template <class T>
  [[nodiscard]] T value(std::size_t message, const std::string& field) const {
    T value{};
    const auto bytes = MessageField::find(flow::type_text(input_type(0)), field).in(messages.at(message));
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  [[nodiscard]] std::string text(std::size_t message, const std::string& field) const {
    const auto bytes = MessageField::find(flow::type_text(input_type(0)), field).in(messages.at(message));
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  void heard(std::uint32_t, const void* payload, SimTime) override {
    const flow::PayloadType& type = input_type(0);
    const auto* from =
        type.flat ? static_cast<const std::byte*>(payload) : static_cast<const flow::PlainBytes*>(payload)->cdr.data();
    const std::size_t size = type.flat ? type.size : static_cast<const flow::PlainBytes*>(payload)->cdr.size();
    messages.emplace_back(from, from + size);
  }
  void fill(std::uint32_t, void*, SimTime) override {}
};

/// A federation of one FMU, a source and a sink.
class FmuNode : public testing::Test {
 protected:
  struct Ran {
    flow::Outcome outcome;
    std::string why;
    Sink* sink = nullptr;
    Sink* log = nullptr;
    flow::System system;
  };

  static Wishes wishes() {
    Wishes wishes;
    wishes.node = "kit";
    wishes.every = 10ms;
    return wishes;
  }

  Ran run(const std::string& file, const Wishes& wished, bool own = false, SimSpan source = 10ms,
          SimSpan until = 100ms) {
    Ran ran;
    const Wiring wiring(open_package(file), wished);
    ran.system.add<Source>("source", source);
    const NodeSpec spec = wiring.plan([&](const std::string& flow) {
      EXPECT_EQ(flow, "source.command");
      return isochron::fmi::Source{&flow::dynamic_type(command_type), {}};
    });
    ran.system.add("kit", own ? make_node_in_process(spec, FMI_PROGRAM, "kit.fmu") : make_node(spec));
    if (!spec.inputs.empty()) ran.system.connect(ran.system.find_output("source.command"), {1, 0});
    const auto listen = [&](const std::string& flow) {
      const flow::PortRef port = ran.system.find_output("kit." + flow);
      const std::string name = "sink_" + flow;
      auto& sink = ran.system.add<Sink>(name, *ran.system.graph().nodes[1].outputs[port.port].type);
      ran.system.connect("kit." + flow, name + ".in");
      return &sink;
    };
    ran.sink = listen(spec.outputs.front().flow);
    ran.log = listen("log");
    ran.outcome = flow::run(ran.system, {.until = SimTime::zero() + until});
    for (const flow::NodeFailure& failure : ran.outcome.failures) ran.why += to_string(failure) + "\n";
    return ran;
  }
  std::string refusal(const std::string& file, const Wishes& wished) {
    try {
      const Wiring wiring(open_package(file), wished);
      (void)wiring.plan([&](const std::string& flow) {
        if (flow != "source.command") throw InputError({}, "no such flow");
        return isochron::fmi::Source{&flow::dynamic_type(command_type), {}};
      });
    } catch (const InputError& error) {
      return error.what();
    }
    return "no mistake";
  }

  test::Workshop shop_;
};

TEST_F(FmuNode, InputsActFromTheCommunicationPointAtOrAfterTheirStamp) {
  const std::string file = shop_.fmu2("gain.fmu", description2(gain2));
  Wishes w = wishes();
  w.inputs = {{"u", "source.command.angle", {}}};
  w.parameters = {{"k", "2", {}}};
  const Ran same = run(file, w);
  ASSERT_TRUE(same.outcome.complete) << same.why;
  ASSERT_EQ(same.sink->messages.size(), 10U);
  EXPECT_EQ(same.sink->value<double>(0, "y"), 0);
  for (std::size_t i = 1; i < 10; ++i) {
    EXPECT_DOUBLE_EQ(same.sink->value<double>(i, "y"), 2 * 0.01 * static_cast<double>(i - 1)) << i;
  }
  const Ran faster = run(file, w, false, 4ms);  // 8 ms is heard before point 1 and acts from there
  EXPECT_DOUBLE_EQ(faster.sink->value<double>(1, "y"), 0);
  EXPECT_DOUBLE_EQ(faster.sink->value<double>(2, "y"), 2 * 0.008);
  EXPECT_DOUBLE_EQ(faster.sink->value<double>(3, "y"), 2 * 0.020);
}

TEST_F(FmuNode, InAProcessOfItsOwnTheMessagesAreTheSame) {
  Wishes w = wishes();
  w.inputs = {{"u", "source.command.angle", {}}};
  const std::string file = shop_.fmu2("ball.fmu", description2(gain2 + ball2 + test::stiff2));
  const Ran shared = run(file, w, false, 3ms, 1s);
  const Ran own = run(file, w, true, 3ms, 1s);
  ASSERT_TRUE(own.outcome.complete) << own.why;
  EXPECT_EQ(shared.sink->messages.size(), 100U);
  EXPECT_EQ(own.sink->messages, shared.sink->messages);
  EXPECT_EQ(own.outcome.digest, shared.outcome.digest);
}

TEST_F(FmuNode, ABallBouncesAndAStiffEquationStaysPut) {
  Wishes w = wishes();
  const Ran ran = run(shop_.fmu2("ball.fmu", description2(ball2 + test::stiff2)), w, false, 10ms, 2s);
  ASSERT_TRUE(ran.outcome.complete) << ran.why;
  EXPECT_EQ(ran.sink->value<double>(0, "h"), 1);
  EXPECT_NEAR(ran.sink->value<double>(40, "h"), 1 - 9.81 * 0.16 / 2, 1e-9);
  EXPECT_GE(ran.sink->value<std::int32_t>(199, "bounces"), 2);
  EXPECT_NEAR(ran.sink->value<double>(199, "x"), std::cos(1.99), 0.02);
  EXPECT_LT(ran.sink->value<double>(60, "der_h"), 3.2);
}

TEST_F(FmuNode, EventsOfFmi3AreHandledAndStepsGoOn) {
  Wishes w = wishes();
  const std::string events = test::step_flags + " hasEventMode='true'";
  const Ran ran = run(shop_.fmu3("ball3.fmu", description3(ball3, events)), w, false, 10ms, 1500ms);
  ASSERT_TRUE(ran.outcome.complete) << ran.why;
  const Ran whole = run(shop_.fmu3("plain3.fmu", description3(ball3)), w, false, 10ms, 1500ms);
  ASSERT_TRUE(whole.outcome.complete) << whole.why;
  EXPECT_EQ(ran.sink->value<std::int32_t>(149, "bounces"), whole.sink->value<std::int32_t>(149, "bounces"));
  EXPECT_GE(ran.sink->value<std::int32_t>(149, "bounces"), 2);
  EXPECT_NEAR(ran.sink->value<double>(149, "h"), whole.sink->value<double>(149, "h"), 1e-6);
  EXPECT_EQ(ran.sink->value<std::int32_t>(149, "ticks"), 49) << "each 30 ms, between communication points too";
  EXPECT_EQ(whole.sink->value<std::int32_t>(149, "ticks"), 0) << "no event mode";
}

TEST_F(FmuNode, ArraysHaveTheLengthThatIsGiven) {
  Wishes w = wishes();
  w.parameters = {{"n", "3", {}}, {"k", "10", {}}};
  w.inputs = {{"a", "source.command.three", {}}};
  const std::string file = shop_.fmu3("array.fmu", description3(gain3 + test::array3));
  const Ran ran = run(file, w);
  ASSERT_TRUE(ran.outcome.complete) << ran.why;
  EXPECT_DOUBLE_EQ(ran.sink->value<double>(9, "b[0]"), 0.8);
  EXPECT_DOUBLE_EQ(ran.sink->value<double>(9, "b[2]"), 2.4);
  w.parameters.clear();
  EXPECT_SAYS(refusal(file, w), "`a` takes 2 float64, and source.command.three is 3 float64");
  w.inputs = {{"a", "source.command.angle", {}}};
  EXPECT_SAYS(refusal(file, w), "`a` takes 2 float64, and source.command.angle is float64");
}

TEST_F(FmuNode, EveryTypeOfFmi3GoesThrough) {
  Wishes w = wishes();
  w.inputs = {{"Float32_in", "source.command.angle", {}},
              {"Int32_in", "source.command.count", {}},
              {"Int64_in", "source.command.big", {}},
              {"Boolean_in", "source.command.on", {}}};
  w.parameters = {{"String_in", "two words", {}},  {"Binary_in", "raw", {}},
                  {"Int8_in", "-5", {}},           {"UInt8_in", "200", {}},
                  {"Int16_in", "-300", {}},        {"UInt16_in", "65535", {}},
                  {"UInt32_in", "4000000000", {}}, {"UInt64_in", "18446744073709551615", {}}};
  for (const std::string flags : {"", "hasEventMode='true'"}) {
    const Ran ran =
        run(shop_.fmu3("types" + std::to_string(flags.size()) + ".fmu", description3(test::types3(), flags)), w);
    ASSERT_TRUE(ran.outcome.complete) << ran.why;
    EXPECT_FLOAT_EQ(ran.sink->value<float>(9, "Float32_out"), 0.08F);
    EXPECT_EQ(ran.sink->value<std::int32_t>(9, "Int32_out"), 80);
    EXPECT_EQ(ran.sink->value<std::int64_t>(9, "Int64_out"), 7);
    EXPECT_TRUE(ran.sink->value<bool>(9, "Boolean_out"));
    EXPECT_EQ(ran.sink->value<std::int8_t>(9, "Int8_out"), -5);
    EXPECT_EQ(ran.sink->value<std::uint8_t>(9, "UInt8_out"), 200);
    EXPECT_EQ(ran.sink->value<std::int16_t>(9, "Int16_out"), -300);
    EXPECT_EQ(ran.sink->value<std::uint16_t>(9, "UInt16_out"), 65535);
    EXPECT_EQ(ran.sink->value<std::uint32_t>(9, "UInt32_out"), 4000000000U);
    EXPECT_EQ(ran.sink->value<std::uint64_t>(9, "UInt64_out"), UINT64_MAX);
    EXPECT_EQ(ran.sink->text(9, "String_out"), "two words");
    EXPECT_EQ(ran.sink->text(9, "Binary_out"), "raw");
  }
}

TEST_F(FmuNode, EveryTypeOfFmi2GoesThrough) {
  Wishes w = wishes();
  w.inputs = {{"n_in", "source.command.count", {}}, {"b_in", "source.command.on", {}}};
  w.parameters = {{"s_in", "gear", {}}};
  const Ran ran = run(shop_.fmu2("types2.fmu", description2(test::types2)), w);
  ASSERT_TRUE(ran.outcome.complete) << ran.why;
  EXPECT_EQ(ran.sink->value<std::int32_t>(9, "n_out"), 80);
  EXPECT_TRUE(ran.sink->value<bool>(9, "b_out"));
  EXPECT_EQ(ran.sink->text(9, "s_out"), "gear");
}

TEST_F(FmuNode, UnitsAreConvertedOrRefused) {
  Wishes w = wishes();
  w.inputs = {{"u", "source.command.angle in deg", {}}};
  const std::string file = shop_.fmu2("units.fmu", description2(gain2, test::step_flags, test::angles));
  const Ran ran = run(file, w);
  ASSERT_TRUE(ran.outcome.complete) << ran.why;
  EXPECT_DOUBLE_EQ(ran.sink->value<double>(9, "y"), 0.08 * 0.017453292519943295);
  w.inputs = {{"u", "source.command.angle in m", {"s.yaml", 3, 5}}};
  EXPECT_SAYS(refusal(file, w), "s.yaml:3:5: `u` is in rad, and source.command.angle in m");
  w.inputs = {{"u", "source.command.angle in mile", {}}};
  EXPECT_SAYS(refusal(file, w), "the FMU defines no unit `mile`; it defines rad, deg, m");
}

TEST_F(FmuNode, FlowsOfItsOwnCarryWhatIsChosen) {
  Wishes w = wishes();
  w.outputs = {{"height", "h", "", {}, {}},
               {"both", "", "my_msgs/msg/Ball", {{"z", "h", {}}, {"rate", "der(h)", {}}}, {}}};
  const std::string file = shop_.fmu2("ball.fmu", description2(ball2));
  const Ran ran = run(file, w);
  ASSERT_TRUE(ran.outcome.complete) << ran.why;
  const auto& outputs = ran.system.graph().nodes[1].outputs;
  EXPECT_EQ(outputs[0].type->name, "float64");
  EXPECT_EQ(flow::type_text(*outputs[1].type), "my_msgs/msg/Ball\nfloat64 z\nfloat64 rate\n");
  EXPECT_EQ(ran.sink->value<double>(0, ""), 1);
  w.outputs = {{"height", "z", "", {}, {"s.yaml", 7, 1}}};
  EXPECT_SAYS(refusal(file, w), "s.yaml:7:1: the FMU has no variable `z`; it has h, der(h), g, bounces");
  w.outputs = {{"log", "h", "", {}, {}}};
  EXPECT_SAYS(refusal(file, w), "has a flow `log` already");
}

TEST_F(FmuNode, AnFmuWithoutOutputsTellsItsTime) {
  const std::string variables =
      "<ScalarVariable name='u' valueReference='0' causality='input'><Real start='0'/></ScalarVariable>";
  const Ran ran =
      run(shop_.fmu2("quiet.fmu", description2(variables, "", "<DefaultExperiment startTime='5'/>")), wishes());
  ASSERT_TRUE(ran.outcome.complete) << ran.why;
  EXPECT_DOUBLE_EQ(ran.sink->value<double>(9, "time"), 5.09);
}

TEST_F(FmuNode, WishesThatCannotBeAreRefusedWithTheirPlaces) {
  const std::string file = shop_.fmu2("all.fmu", description2(gain2 + ball2 + test::types2));
  const auto with = [&](const std::string& variable, const std::string& from) {
    Wishes w = wishes();
    w.inputs = {{variable, from, {"s.yaml", 2, 3}}};
    return refusal(file, w);
  };
  EXPECT_SAYS(with("w", "source.command.angle"), "s.yaml:2:3: the FMU has no variable `w`; it has u, n_in, b_in, s_in");
  EXPECT_SAYS(with("h", "source.command.angle"), "`h` of the FMU is output, continuous; it cannot be an input");
  EXPECT_SAYS(with("u", "source"), "names no flow");
  EXPECT_SAYS(with("u", "other.command.angle"), "no such flow");
  EXPECT_SAYS(with("u", "source.command"),
              "carries test_msgs/msg/Command; say which of its fields; it has angle, other");
  EXPECT_SAYS(with("u", "source.command.angel"), "in which `angel` is no number or text");
  EXPECT_SAYS(with("u", "source.command.on"), "`u` takes float64, and source.command.on is bool");
  EXPECT_SAYS(with("u", "source.command.big"), "`u` takes float64, and source.command.big is int64");
  EXPECT_SAYS(with("n_in", "source.command.angle"), "`n_in` takes int32, and source.command.angle is float64");
  EXPECT_SAYS(with("u", "source.command.three"), "is 3 float64");
  EXPECT_EQ(with("u", "source.command.three[1]"), "no mistake");
  EXPECT_SAYS(with("u", "source.command.three[3]"), "is no number or text");
  EXPECT_EQ(with("u", "source.command.count"), "no mistake");
  const auto parameter = [&](const std::string& name, const std::string& value) {
    Wishes w = wishes();
    w.parameters = {{name, value, {"s.yaml", 2, 3}}};
    return refusal(file, w);
  };
  EXPECT_SAYS(parameter("k", "much"), "s.yaml:2:3: `k: much` is not float64");
  EXPECT_SAYS(parameter("y", "1"), "cannot be set before the start");
  EXPECT_EQ(parameter("h", "3"), "no mistake") << "an exact start value";
  Wishes w = wishes();
  w.every.reset();
  EXPECT_SAYS(refusal(file, w), "the FMU does not say how long its steps are; give `every`");
}

TEST_F(FmuNode, TheStepIsAMultipleOfTheFmusOwn) {
  const std::string file = shop_.fmu3("fixed.fmu", description3(gain3, "fixedInternalStepSize='0.004'"));
  EXPECT_SAYS(refusal(file, wishes()), "`every` is 10ms, and the FMU's own steps are 4ms; give a multiple of it");
  Wishes w = wishes();
  w.every = 20ms;
  EXPECT_EQ(refusal(file, w), "no mistake");
}

enum { returns_error = 1, crashes, is_fatal, exits, is_pending, stops_halfway, ends, stands_still, talks };

class FmuInTrouble : public FmuNode {
 protected:
  Ran run_with(int trouble, bool own = false, const std::string& flags = test::step_flags) {
    Wishes w = wishes();
    w.parameters = {{"trouble", std::to_string(trouble), {}}};
    return run(shop_.fmu2("t" + std::to_string(trouble) + ".fmu", description2(gain2 + ball2 + test::trouble2, flags)),
               w, own);
  }
};

TEST_F(FmuInTrouble, AnErrorIsToldWithWhatTheFmuSaid) {
  for (const bool own : {false, true}) {
    const Ran ran = run_with(returns_error, own);
    EXPECT_FALSE(ran.outcome.complete);
    EXPECT_SAYS(ran.why,
                "node kit failed: in the step from 50ms to 60ms: fmi2DoStep of the FMU returned error; it said: the "
                "gear is broken at 0.05");
  }
}

TEST_F(FmuInTrouble, FatalErrorsAndEndsAreTold) {
  EXPECT_SAYS(run_with(is_fatal).why, "fmi2DoStep of the FMU returned fatal");
  EXPECT_SAYS(run_with(ends).why, "the FMU ended the simulation");
  EXPECT_SAYS(run_with(stands_still).why, "was discarded again and again");
  EXPECT_SAYS(run_with(stops_halfway, false, "").why, "fmi2DoStep of the FMU was discarded");
}

TEST_F(FmuInTrouble, StepsThatEndEarlyOrLateAreGoneOnWith) {
  const Ran plain = run_with(0), halves = run_with(stops_halfway), pending = run_with(is_pending);
  ASSERT_TRUE(halves.outcome.complete) << halves.why;
  ASSERT_TRUE(pending.outcome.complete) << pending.why;
  EXPECT_NEAR(halves.sink->value<double>(9, "h"), plain.sink->value<double>(9, "h"), 1e-12);
  EXPECT_EQ(pending.sink->value<double>(9, "h"), plain.sink->value<double>(9, "h"));
}

TEST_F(FmuInTrouble, InAProcessOfItsOwnItMayCrashOrExit) {
  EXPECT_SAYS(run_with(crashes, true).why, "was killed: Segmentation fault");
  EXPECT_SAYS(run_with(exits, true).why, "ended with code 7");
}

TEST_F(FmuInTrouble, WhatItSaysIsAFlow) {
  for (const bool own : {false, true}) {
    const Ran ran = run_with(talks, own);
    ASSERT_TRUE(ran.outcome.complete) << ran.why;
    ASSERT_EQ(ran.log->messages.size(), 4U) << "from 50, 60, 70 and 80 ms";
    EXPECT_EQ(ran.log->text(0, "msg"), "step from 0.05");
    EXPECT_EQ(ran.log->text(0, "name"), "kit");
    EXPECT_EQ(ran.log->text(0, "function"), "logAll");
  }
}

TEST_F(FmuInTrouble, AnInstanceThatCannotBeMadeSaysWhy) {
  std::string xml = description2(gain2);
  xml.replace(xml.find("guid='{kit}'"), 12, "guid='{hat}'");
  EXPECT_SAYS(run(shop_.fmu2("other.fmu", xml), wishes()).why,
              "fmi2Instantiate of the FMU returned nothing; it said: guid {hat} is not mine");
}

TEST_F(FmuInTrouble, ABinaryThatIsNoneIsRefused) {
  const std::string xml = description2(gain2);
  const auto refused = [&](const std::string& name, const std::string& binary) {
    try {
      (void)run(shop_.zip(name, {{"modelDescription.xml", xml}, {"binaries/linux64/kit.so", binary}}), wishes());
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no mistake");
  };
  EXPECT_SAYS(refused("text.fmu", "this is text"), "the binary of the FMU cannot be loaded");
  EXPECT_SAYS(refused("three.fmu", test::content_of(FMI_KIT3)), "does not have fmi2Instantiate, fmi2FreeInstance");
}

}  // namespace
}  // namespace isochron::fmi
