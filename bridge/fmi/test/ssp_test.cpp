// Systems of FMUs that other tools describe.

#include <gtest/gtest.h>

#include "bridge/fmi/ssp.hpp"
#include "bridge/fmi/test/fmu_maker.hpp"
#include "core/input_error.hpp"

namespace isochron::fmi::test {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

class Ssp : public testing::Test {
 protected:
  SystemStructure read(const std::string& system, const std::vector<File>& more = {}) {
    std::vector<File> files{
        {"SystemStructure.ssd",
         "<?xml version='1.0'?>\n<ssd:SystemStructureDescription xmlns:ssd='x' version='1.0' name='two gains'>\n" +
             system + "\n<ssd:DefaultExperiment stopTime='0.2'/></ssd:SystemStructureDescription>"},
        {"resources/gain.fmu", "x"}};
    files.insert(files.end(), more.begin(), more.end());
    return read_ssp(Archive::open(shop_.zip("s.ssp", files)));
  }
  std::string mistake(const std::string& system) {
    try {
      (void)read(system);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no mistake";
  }
  Workshop shop_;
};
#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

const std::string component = "source='resources/gain.fmu' type='application/x-fmu-sharedlibrary'";

TEST_F(Ssp, ComponentsConnectionsAndParametersBecomeNodes) {
  const std::string inner =
      "<ssd:System name='box'><ssd:Elements><ssd:Component name='b' " + component +
      "/></ssd:Elements><ssd:Connections>"
      "<ssd:Connection startConnector='in' endElement='b' endConnector='u'/>"
      "<ssd:Connection startElement='b' startConnector='y' endConnector='out'/></ssd:Connections></ssd:System>";
  const SystemStructure system = read(
      "<ssd:System name='root'><ssd:ParameterBindings><ssd:ParameterBinding source='p.ssv'/></ssd:ParameterBindings>"
      "<ssd:Elements><ssd:Component name='a' " +
          component +
          "><ssd:ParameterBindings><ssd:ParameterBinding>"
          "<ssd:ParameterValues><ssv:ParameterSet><ssv:Parameters><ssv:Parameter name='k'><ssv:Real value='2'/>"
          "</ssv:Parameter></ssv:Parameters></ssv:ParameterSet></ssd:ParameterValues></ssd:ParameterBinding>"
          "</ssd:ParameterBindings></ssd:Component>" +
          inner +
          "</ssd:Elements><ssd:Connections>"
          "<ssd:Connection startElement='a' startConnector='y' endElement='box' endConnector='in'/>"
          "<ssd:Connection startElement='box' startConnector='out' endElement='a' endConnector='u'/>"
          "</ssd:Connections></ssd:System>",
      {{"p.ssv",
        "<ssv:ParameterSet xmlns:ssv='y'><ssv:Parameters><ssv:Parameter name='box.b.k'><ssv:Real value='0.5'/>"
        "</ssv:Parameter></ssv:Parameters></ssv:ParameterSet>"}});
  EXPECT_EQ(system.name, "two gains");
  EXPECT_EQ(system.stop_time, 0.2);
  ASSERT_EQ(system.components.size(), 2U);
  EXPECT_EQ(system.components[0].name, "a");
  EXPECT_EQ(system.components[0].inputs, (Pairs{{"u", "box_b.out.y"}})) << "through the connectors of the box";
  EXPECT_EQ(system.components[0].parameters, (Pairs{{"k", "2"}}));
  EXPECT_EQ(system.components[1].name, "box_b");
  EXPECT_EQ(system.components[1].inputs, (Pairs{{"u", "a.out.y"}}));
  EXPECT_EQ(system.components[1].parameters, (Pairs{{"k", "0.5"}}));
  EXPECT_SAYS(
      scenario_text(system, "5ms"),
      "name: \"two_gains\"\nduration: 200000000ns\nnodes:\n  a:\n    fmu: \"resources/gain.fmu\"\n    every: 5ms\n"
      "    parameters: {\"k\": \"2\"}\n    inputs: {\"u\": \"box_b.out.y\"}\n  box_b:\n");
}

TEST_F(Ssp, WhatWouldNotMeanTheSameIsRefused) {
  const auto with = [&](const std::string& elements, const std::string& connections = "") {
    return mistake("<ssd:System name='root'><ssd:Elements>\n" + elements + "</ssd:Elements><ssd:Connections>" +
                   connections + "</ssd:Connections></ssd:System>");
  };
  EXPECT_SAYS(with("<ssd:Component name='a' source='x.exe'/>"), "SystemStructure.ssd:4:2: component `a` is not an FMU");
  EXPECT_SAYS(with("<ssd:Component name='a' source='none.fmu'/>"), "`none.fmu` is not in the archive");
  EXPECT_SAYS(with("<ssd:Component name='a'/>"), "has no `source`");
  const std::string a = "<ssd:Component name='a' " + component + "/>";
  EXPECT_SAYS(with(a + a), "two components are called `a`");
  const std::string link = "<ssd:Connection startElement='b' startConnector='y' endElement='a' endConnector='u'";
  EXPECT_SAYS(with(a, link + "/>"), "there is no component `b`");
  EXPECT_SAYS(with(a, link + "/>" + link + "/>"), "is connected twice");
  EXPECT_SAYS(with(a, link + "><ssc:LinearTransformation factor='2'/></ssd:Connection>"), "transforms its values");
  EXPECT_SAYS(mistake("<x/>"), "has no <System>");
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "<ssd:System name='s'><ssd:Elements>";
  for (int i = 0; i < 200; ++i) deep += "</ssd:Elements></ssd:System>";
  EXPECT_SAYS(mistake(deep), "nested too deeply");
}

TEST_F(Ssp, AnFmuIsNoSsp) {
  EXPECT_THROW((void)read_ssp(Archive::open(shop_.zip("a.fmu", {{"modelDescription.xml", "x"}}))), InputError);
}

}  // namespace
}  // namespace isochron::fmi::test
