// FMUs as nodes of flows: what they compute, and when their inputs act.

#include <gtest/gtest.h>

#include <cmath>

#include "bridge/fmi/test/node_fixture.hpp"
#include "core/build_parts.hpp"

namespace isochron::fmi::test {
namespace {

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
  const std::string file = shop_.fmu2("ball.fmu", description2(gain2 + ball2 + stiff2));
  const Ran shared = run(file, w, false, 3ms, 1s);
  const Ran own = run(file, w, true, 3ms, 1s);
  ASSERT_TRUE(own.outcome.complete) << own.why;
  EXPECT_EQ(shared.sink->messages.size(), 100U);
  EXPECT_EQ(own.sink->messages, shared.sink->messages);
  EXPECT_EQ(own.outcome.digest, shared.outcome.digest);
}

TEST_F(FmuNode, ABallBouncesAndAStiffEquationStaysPut) {
  Wishes w = wishes();
  const Ran ran = run(shop_.fmu2("ball.fmu", description2(ball2 + stiff2)), w, false, 10ms, 2s);
  ASSERT_TRUE(ran.outcome.complete) << ran.why;
  EXPECT_EQ(ran.sink->value<double>(0, "h"), 1);
  EXPECT_NEAR(ran.sink->value<double>(40, "h"), 1 - 9.81 * 0.16 / 2, 1e-9);
  EXPECT_GE(ran.sink->value<std::int32_t>(199, "bounces"), 2);
  EXPECT_NEAR(ran.sink->value<double>(199, "x"), std::cos(1.99), 0.02);
  EXPECT_LT(ran.sink->value<double>(60, "der_h"), 3.2);
}

TEST_F(FmuNode, WhatAnFmuShowsInsideOfItsStepsIsSeenAtItsTimes) {
  Wishes w = wishes();
  w.inputs = {{"u", "source.command.angle", {}}};
  w.outputs = {{"inside", "y", "", {}, {}, true}, {"out", "", "", {}, {}}};
  const std::string file =
      shop_.fmu3("inside.fmu", description3(gain3_inside, step_flags + " providesIntermediateUpdate='true'"));
  for (const bool own : {false, true}) {
    const Ran ran = run(file, w, own);
    ASSERT_TRUE(ran.outcome.complete) << ran.why;
    ASSERT_EQ(ran.sink->messages.size(), 39U);  // four in each of ten steps; the last is at the end
    for (std::size_t i = 0; i < ran.sink->messages.size(); ++i) {
      double value = 0;
      std::memcpy(&value, ran.sink->messages[i].data(), sizeof value);
      EXPECT_DOUBLE_EQ(value, 0.01 * static_cast<double>(i / 4) + static_cast<double>(i % 4 + 1)) << i;
    }
  }
  w.outputs[0].variable = "h";
  EXPECT_SAYS(refusal(file, w), "`h` cannot be seen between communication points");
  w.outputs[0].variable = "y";
  EXPECT_SAYS(refusal(shop_.fmu3("plain.fmu", description3(gain3_inside)), w),
              "the FMU tells nothing between its communication points");
}

TEST_F(FmuNode, ClocksTickByTimeByOthersAndByTheFmu) {
  Wishes w = wishes();
  w.inputs = {{"in", "source.command.angle", {}}, {"reset", "source.command.on", {}}};
  const std::string events = step_flags + " hasEventMode='true'";
  const Ran ran = run(shop_.fmu3("sampler.fmu", description3(sampler3, events)), w, false, 10ms, 100ms);
  ASSERT_TRUE(ran.outcome.complete) << ran.why;
  ASSERT_EQ(ran.sink->messages.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) {
    SCOPED_TRACE(i);
    const auto ticks = static_cast<std::int32_t>(i == 0 ? 0 : (10 * i - 2) / 4 + 1);  // at 2, 6, 10 … ms
    const auto before = static_cast<std::int32_t>(i < 2 ? 0 : (10 * (i - 1) - 2) / 4 + 1);
    EXPECT_EQ(ran.sink->value<std::int32_t>(i, "samples"), ticks);
    EXPECT_EQ(ran.sink->value<bool>(i, "full"), ticks / 3 > before / 3);
    EXPECT_DOUBLE_EQ(ran.sink->value<double>(i, "taken"), i == 0 ? 0 : 0.01 * static_cast<double>(i - 1));
  }
  w.inputs = {{"sample", "source.command.on", {}}};
  EXPECT_SAYS(refusal(shop_.fmu3("sampler.fmu", description3(sampler3, events)), w), "it cannot be an input");
}

TEST_F(FmuNode, EventsOfFmi3AreHandledAndStepsGoOn) {
  Wishes w = wishes();
  const std::string events = step_flags + " hasEventMode='true'";
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
  const std::string file = shop_.fmu3("array.fmu", description3(gain3 + array3));
  const Ran ran = run(file, w);
  ASSERT_TRUE(ran.outcome.complete) << ran.why;
  EXPECT_DOUBLE_EQ(ran.sink->value<double>(9, "b[0]"), 0.8);
  EXPECT_DOUBLE_EQ(ran.sink->value<double>(9, "b[2]"), 2.4);
  w.parameters = {{"a", "1 2 3", {}}, {"n", "3", {}}};
  EXPECT_EQ(refusal(file, w), "no mistake") << "in any order";
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
    const Ran ran = run(shop_.fmu3("types" + std::to_string(flags.size()) + ".fmu", description3(types3(), flags)), w);
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
  const Ran ran = run(shop_.fmu2("types2.fmu", description2(types2)), w);
  ASSERT_TRUE(ran.outcome.complete) << ran.why;
  EXPECT_EQ(ran.sink->value<std::int32_t>(9, "n_out"), 80);
  EXPECT_TRUE(ran.sink->value<bool>(9, "b_out"));
  EXPECT_EQ(ran.sink->text(9, "s_out"), "gear");
}

TEST_F(FmuNode, UnitsAreConvertedOrRefused) {
  Wishes w = wishes();
  w.inputs = {{"u", "source.command.angle in deg", {}}};
  const std::string file = shop_.fmu2("units.fmu", description2(gain2, step_flags, angles));
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
  w.outputs = {{"height", "h", "my_msgs/msg/Ball", {}, {}}};
  EXPECT_SAYS(refusal(file, w), "either a `variable` alone or a message");
  w.outputs = {{"both", "", "my msgs", {}, {}}};
  EXPECT_SAYS(refusal(file, w), "`my msgs` is no name of a message");
  w.outputs = {{"both", "", "", {{"der(h)", "h", {"s.yaml", 8, 2}}}, {}}};
  EXPECT_SAYS(refusal(file, w), "s.yaml:8:2: `der(h)` is no name of a field");
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
  const std::string file = shop_.fmu2("all.fmu", description2(gain2 + ball2 + types2));
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

TEST_F(FmuNode, ModelExchangeIsSolvedHere) {
  if (!has_part("CVODE")) GTEST_SKIP() << "this build has no CVODE";
  const std::string two = description2(gain2 + ball2 + stiff2 + types2, step_flags);
  Wishes w = wishes();
  const Ran whole = run(shop_.fmu2("cs.fmu", two), w, false, 10ms, 1500ms);
  w.tolerance = 1e-9;
  w.inputs = {{"u", "source.command.angle", {}}};
  const Ran solved = run(shop_.fmu2("me.fmu", exchange(two)), w, false, 10ms, 1500ms);
  ASSERT_TRUE(solved.outcome.complete) << solved.why;
  for (const std::size_t i : {0U, 30U, 60U, 100U, 149U}) {
    EXPECT_NEAR(solved.sink->value<double>(i, "h"), whole.sink->value<double>(i, "h"), 1e-5) << i;
  }
  EXPECT_EQ(solved.sink->value<std::int32_t>(149, "bounces"), whole.sink->value<std::int32_t>(149, "bounces"));
  EXPECT_NEAR(solved.sink->value<double>(149, "x"), std::cos(1.49), 0.002) << "stiff";
  EXPECT_EQ(solved.sink->value<std::int32_t>(149, "n_out"), 49) << "announced events";
  EXPECT_DOUBLE_EQ(solved.sink->value<double>(149, "y"), 1.48) << "inputs act as in co-simulation";

  const std::string three = exchange(description3(ball3));
  w.inputs.clear();
  const Ran newer = run(shop_.fmu3("me3.fmu", three), w, false, 10ms, 1500ms);
  ASSERT_TRUE(newer.outcome.complete) << newer.why;
  EXPECT_NEAR(newer.sink->value<double>(149, "h"), whole.sink->value<double>(149, "h"), 1e-5);
  EXPECT_EQ(newer.sink->value<std::int32_t>(149, "ticks"), 49);

  w.solver = SolverKind::rk4;
  w.solver_step = 100us;
  w.tolerance.reset();
  const Ran fixed = run(shop_.fmu3("rk3.fmu", three), w, false, 10ms, 1500ms);
  ASSERT_TRUE(fixed.outcome.complete) << fixed.why;
  EXPECT_NEAR(fixed.sink->value<double>(40, "h"), whole.sink->value<double>(40, "h"), 1e-9)
      << "before the first bounce";
  EXPECT_NEAR(fixed.sink->value<double>(149, "h"), whole.sink->value<double>(149, "h"), 1e-2);
  EXPECT_SAYS(refusal(shop_.path("cs.fmu"), w), "is for co-simulation and has its own solver");
}

TEST_F(FmuNode, OneWithBothInterfacesIsSolvedHereIfASolverIsGiven) {
  if (!has_part("CVODE")) GTEST_SKIP() << "this build has no CVODE";
  const std::string one = description2(ball2, step_flags);
  std::string both = exchange(one);
  const auto at = one.find("<CoSimulation"), end = one.find("/>", at) + 2;
  both.insert(both.find("<ModelExchange"), one.substr(at, end - at));
  Wishes w = wishes();
  const Ran stepped = run(shop_.fmu2("both.fmu", both), w, false, 10ms, 1500ms);
  w.solver = SolverKind::cvode;
  w.tolerance = 1e-9;
  const Ran solved = run(shop_.path("both.fmu"), w, false, 10ms, 1500ms);
  ASSERT_TRUE(stepped.outcome.complete && solved.outcome.complete) << stepped.why << solved.why;
  EXPECT_NEAR(solved.sink->value<double>(149, "h"), stepped.sink->value<double>(149, "h"), 1e-5);
  EXPECT_NE(solved.sink->value<double>(149, "h"), stepped.sink->value<double>(149, "h"));
}

TEST_F(FmuNode, ErrorsOfModelExchangeAreTold) {
  if (!has_part("CVODE")) GTEST_SKIP() << "this build has no CVODE";
  Wishes w = wishes();
  w.parameters = {{"trouble", "1", {}}};
  const Ran ran = run(shop_.fmu2("me.fmu", exchange(description2(ball2 + trouble2))), w);
  EXPECT_SAYS(ran.why, "fmi2CompletedIntegratorStep of the FMU returned error");
}

}  // namespace
}  // namespace isochron::fmi::test
