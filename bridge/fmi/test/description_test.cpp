// What model descriptions say, and what is wrong with them.

#include <gtest/gtest.h>

#include "bridge/fmi/description.hpp"
#include "bridge/fmi/test/fmu_maker.hpp"
#include "bridge/fmi/values.hpp"
#include "core/input_error.hpp"

namespace isochron::fmi {
namespace {

using test::description2;
using test::description3;

std::string mistake(const std::string& xml) {
  try {
    (void)read_description(xml, "m.xml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no mistake";
}
#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Description, OfFmi2) {
  const std::string before =
      test::angles +
      "<TypeDefinitions><SimpleType name='Angle'><Real unit='deg'/></SimpleType></TypeDefinitions>"
      "<DefaultExperiment startTime='1' stopTime='3.5' tolerance='1e-4' stepSize='0.01'/>";
  const std::string angle =
      "<ScalarVariable name='phi' valueReference='9' description='of the &quot;arm&quot;'><Real declaredType='Angle'/>"
      "</ScalarVariable>";
  const Description d =
      read_description(description2(test::ball2 + test::types2 + angle,
                                    test::step_flags + " canBeInstantiatedOnlyOncePerProcess='1'", before),
                       "m");
  EXPECT_EQ(d.version, Version::fmi2);
  EXPECT_EQ(d.name, "Kit");
  EXPECT_EQ(d.identifier, "kit");
  EXPECT_EQ(d.token, "{kit}");
  EXPECT_TRUE(d.variable_step);
  EXPECT_TRUE(d.once_per_process);
  EXPECT_EQ(d.start_time, 1);
  EXPECT_EQ(d.stop_time, 3.5);
  EXPECT_EQ(d.tolerance, 1e-4);
  EXPECT_EQ(d.step_size, 0.01);
  ASSERT_EQ(d.variables.size(), 11U);
  const Variable& h = *d.find("h");
  EXPECT_EQ(h.causality, Causality::output);
  EXPECT_EQ(h.variability, Variability::continuous);
  EXPECT_EQ(h.start, "1");
  EXPECT_TRUE(h.can_be_set()) << "its start value is exact";
  EXPECT_FALSE(d.find("n_out")->can_be_set());
  EXPECT_EQ(d.find("s_in")->type, Type::text);
  EXPECT_EQ(d.find("b_in")->type, Type::boolean);
  const Variable& phi = *d.find("phi");
  EXPECT_EQ(phi.about, "of the \"arm\"");
  EXPECT_EQ(phi.unit, "deg") << "its type's";
  EXPECT_NEAR(d.unit_of(phi)->factor, 0.01745, 1e-5);
}

TEST(Description, OfFmi3) {
  const std::string alias =
      "<Float64 name='w' valueReference='40' causality='output'><Alias name='speed'/></Float64>"
      "<Float64 name='m' valueReference='41'><Dimension start='2'/><Dimension start='3'/></Float64>"
      "<String name='s' valueReference='42' causality='parameter' variability='fixed'><Start value='a b'/></String>"
      "<Clock name='c' valueReference='43' causality='input' variability='clock' intervalVariability='triggered'/>";
  const Description d = read_description(
      description3(test::array3 + test::types3() + alias, "hasEventMode='true' fixedInternalStepSize='0.5'"), "m");
  EXPECT_EQ(d.version, Version::fmi3);
  EXPECT_TRUE(d.event_mode);
  EXPECT_FALSE(d.variable_step);
  EXPECT_EQ(d.internal_step, 0.5);
  EXPECT_EQ(d.find("Int8_in")->type, Type::int8);
  EXPECT_EQ(d.find("Binary_out")->type, Type::binary);
  EXPECT_EQ(d.find("speed")->reference, 40U);
  EXPECT_EQ(d.find("s")->start, "a b");
  EXPECT_EQ(d.find("c")->type, Type::clock);
  EXPECT_EQ(value_count(d, *d.find("m"), {}), 6U);
  EXPECT_EQ(value_count(d, *d.find("a"), {}), 2U) << "the start value of n";
  EXPECT_EQ(value_count(d, *d.find("a"), {{"n", "5"}}), 5U);
}

TEST(Description, StatesOfAnFmuThatGivesDerivatives) {
  const std::string two =
      "<fmiModelDescription fmiVersion='2.0' modelName='m' guid='g'><ModelExchange modelIdentifier='m' "
      "providesDirectionalDerivative='true'/><ModelVariables>"
      "<ScalarVariable name='x' valueReference='7'><Real/></ScalarVariable>"
      "<ScalarVariable name='der(x)' valueReference='8'><Real derivative='1'/></ScalarVariable></ModelVariables>"
      "<ModelStructure><Derivatives><Unknown index='2'/></Derivatives></ModelStructure></fmiModelDescription>";
  const Description d = read_description(two, "m");
  ASSERT_EQ(d.differentiable.size(), 1U);
  EXPECT_EQ(d.differentiable[0].derivative, 8U);
  EXPECT_EQ(d.differentiable[0].state, 7U);
  std::string wrong = two;
  wrong.replace(wrong.find("index='2'"), 9, "index='9'");
  EXPECT_TRUE(read_description(wrong, "m").differentiable.empty()) << "a solver does without";
  const std::string three =
      "<fmiModelDescription fmiVersion='3.0' modelName='m' instantiationToken='g'><ModelExchange modelIdentifier='m' "
      "providesDirectionalDerivatives='true'/><ModelVariables><Float64 name='x' valueReference='7'/>"
      "<Float64 name='der(x)' valueReference='8' derivative='7'/></ModelVariables>"
      "<ModelStructure><ContinuousStateDerivative valueReference='8'/></ModelStructure></fmiModelDescription>";
  ASSERT_EQ(read_description(three, "m").differentiable.size(), 1U);
  EXPECT_EQ(read_description(three, "m").differentiable[0].state, 7U);
}

TEST(Description, MistakesHaveTheirLine) {
  EXPECT_SAYS(mistake("<a>\n<b>\n</a>"), "m.xml:3");
  EXPECT_SAYS(mistake(""), "is not XML");
  EXPECT_SAYS(mistake("<html/>"), "does not begin with <fmiModelDescription>");
  EXPECT_SAYS(mistake("<fmiModelDescription fmiVersion='1.0'/>"), "FMI version `1.0`; 2.0 and 3.0 can be used");
  EXPECT_SAYS(mistake("<fmiModelDescription fmiVersion='2.0' modelName='a'/>"), "has no `guid`");
  EXPECT_SAYS(mistake("<fmiModelDescription fmiVersion='3.0' modelName='a' instantiationToken='b'>"
                      "<ScheduledExecution/></fmiModelDescription>"),
              "is neither for co-simulation nor for model exchange, only for scheduled execution");
  EXPECT_SAYS(mistake(description2("<ScalarVariable valueReference='0'><Real/></ScalarVariable>\n")),
              "m.xml:5:2: <ScalarVariable> has no `name`");
  EXPECT_SAYS(mistake(description2("<ScalarVariable name='a'><Real/></ScalarVariable>\n")),
              "`a` has no `valueReference`");
  EXPECT_SAYS(mistake(description2("<ScalarVariable name='a' valueReference='-1'><Real/></ScalarVariable>\n")),
              "`valueReference=-1` is not a number here");
  EXPECT_SAYS(mistake(description2("<ScalarVariable name='a' valueReference='1'><Complex/></ScalarVariable>\n")),
              "of type `Complex`, which FMI 2.0 does not have");
  EXPECT_SAYS(
      mistake(description2("<ScalarVariable name='a' valueReference='1' causality='cause'><Real/></ScalarVariable>\n")),
      "`causality=cause`");
  EXPECT_SAYS(mistake(description2(test::gain2 + test::gain2)), "two variables are called `u`");
  EXPECT_SAYS(mistake(description3("<Float64 name='a' valueReference='1'><Dimension valueReference='7'/></Float64>")),
              "cannot be a length");
  EXPECT_SAYS(mistake(description3("<Float64 name='a' valueReference='1'><Dimension/></Float64>")),
              "neither `start` nor `valueReference`");
}

TEST(Description, AModelIdentifierCannotLeadElsewhere) {
  std::string xml = description2(test::gain2);
  xml.replace(xml.find("'kit'"), 5, "'../kit'");
  EXPECT_SAYS(mistake(xml), "is no identifier");
}

TEST(Description, HugeArraysAreRefused) {
  const Description d = read_description(description3("<Float64 name='a' valueReference='1'><Dimension "
                                                      "start='4294967296'/><Dimension start='4294967296'/></Float64>"),
                                         "m");
  EXPECT_THROW((void)value_count(d, d.variables[0], {}), InputError);
}

TEST(Values, AreReadByTheirType) {
  const Description d = read_description(description3(test::array3 + test::types3()), "m");
  const auto read = [&](const char* name, const std::string& text, std::size_t n) {
    return parse_values(text, *d.find(name), n);
  };
  EXPECT_EQ(read("a", "1 2.5", 2).size(), 16U);
  EXPECT_EQ(read("a", "1", 3).size(), 24U) << "one for all";
  EXPECT_THROW(read("a", "1 2", 3), InputError);
  EXPECT_THROW(read("a", "x", 1), InputError);
  EXPECT_EQ(read("Boolean_in", "true", 1)[0], std::byte{1});
  EXPECT_THROW(read("Boolean_in", "yes", 1), InputError);
  EXPECT_EQ(read("Int8_in", "-128", 1).size(), 1U);
  EXPECT_THROW(read("Int8_in", "128", 1), InputError);
  EXPECT_THROW(read("UInt32_in", "-1", 1), InputError);
}

TEST(Units, AreConvertedWhereTheyMeasureTheSame) {
  const Description d = read_description(description2(test::gain2, "", test::angles), "m");
  const auto unit = [&](const char* name) { return *d.unit_called(name); };
  const auto to_rad = conversion(unit("deg"), unit("rad"));
  ASSERT_TRUE(to_rad);
  EXPECT_NEAR(180 * to_rad->factor, 3.14159265358979, 1e-12);
  EXPECT_FALSE(conversion(unit("deg"), unit("m")));
  EXPECT_FALSE(conversion(unit("deg"), unit("deg"))->changes());
  Unit celsius{"degC", {0, 0, 0, 0, 1}, 1, 273.15, true}, kelvin{"K", {0, 0, 0, 0, 1}, 1, 0, true};
  EXPECT_EQ(conversion(celsius, kelvin)->offset, 273.15);
  EXPECT_EQ(conversion(kelvin, celsius)->offset, -273.15);
  EXPECT_TRUE(conversion(Unit{"furlong"}, Unit{"furlong"}));
  EXPECT_FALSE(conversion(Unit{"furlong"}, unit("m"))) << "nobody knows";
}

}  // namespace
}  // namespace isochron::fmi
