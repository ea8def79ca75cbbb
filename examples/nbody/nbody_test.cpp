#include <gtest/gtest.h>

#include "core/input_error.hpp"
#include "examples/nbody/planet.hpp"
#include "flow/run.hpp"

namespace nbody {
namespace {

flow::FlowOutcome run(flow::System system, flow::How how, SimSpan length) {
  flow::Options options;
  options.how = how;
  options.until = SimTime::zero() + length;
  return flow::run(system, options);
}

TEST(Nbody, EveryWayOfRunningItGivesTheSameOrbits) {
  const auto expected = run(four_planets(), flow::How::thread, 201s);
  EXPECT_EQ(expected.messages, 51U + 67U + 101U + 201U);
  for (const auto how : {flow::How::pool, flow::How::threads, flow::How::processes, flow::How::tcp}) {
    const auto outcome = run(four_planets(), how, 201s);
    EXPECT_TRUE(outcome.complete) << to_string(how);
    EXPECT_EQ(outcome.flow_digests, expected.flow_digests) << to_string(how);
  }
}

TEST(Nbody, PlanetsMoveAndStayOnTheTorus) {
  flow::System system;
  auto& sun = system.add<Planet>("sun", Planet::Start{1000, {0.5, 0.5}, {0, 0}, 1s}, 1U);
  auto& moon = system.add<Planet>("moon", Planet::Start{1, {0.6, 0.5}, {0, 0}, 1s}, 1U);
  system.connect("sun.position", "moon.pull0");
  system.connect("moon.position", "sun.pull0");
  flow::Options options;
  options.until = SimTime::zero() + SimSpan(100s);
  ASSERT_TRUE(flow::run(system, options).complete);
  EXPECT_LT(moon.body().position[0], 0.6) << "it falls towards the sun";
  EXPECT_GT(moon.body().position[0], 0.5);
  EXPECT_NEAR(sun.body().position[0], 0.5, 1e-3);
}

TEST(Nbody, PlanetsFromALibraryAreTheSamePlanets) {
  const auto library = flow::NodeLibrary::open(NBODY_NODES);
  ASSERT_EQ(library.types().size(), 1U);
  flow::System here;
  here.add<Planet>("a", Planet::Start{10, {0.5, 0.5}, {1e-3, 0}, 2s}, 0U);
  flow::System there;
  there.add("a", library.make("Planet", flow::Parameters(
                                            {{"mass", "10"}, {"vx", "0.001"}, {"period", "2s"}, {"pulled_by", "0"}})));
  EXPECT_EQ(run(std::move(there), flow::How::thread, 100s).digest,
            run(std::move(here), flow::How::thread, 100s).digest);
}

std::string why(const std::function<void()>& what) {
  try {
    what();
  } catch (const InputError& error) {
    return to_string(error.mistakes()[0]);
  }
  return "";
}

TEST(NodeLibrary, SaysWhatIsWrongWithAFileATypeOrAParameter) {
  const auto library = flow::NodeLibrary::open(NBODY_NODES);
  EXPECT_NE(why([] { flow::NodeLibrary::open("/nowhere.so"); }).find("/nowhere.so cannot be loaded"),
            std::string::npos);
  EXPECT_NE(why([&] { (void)library.make("Plant", {}); }).find("has no node type `Plant`; it has Planet"),
            std::string::npos);
  EXPECT_NE(why([&] {
              (void)library.make("Planet", flow::Parameters(flow::Parameters::Values{{"mas", "1"}}));
            }).find("no parameter `mas`"),
            std::string::npos);
  EXPECT_NE(why([&] {
              (void)library.make("Planet", flow::Parameters(flow::Parameters::Values{{"mass", "heavy"}}));
            }).find("`mass: heavy` is not a number"),
            std::string::npos);
}

TEST(NodeLibrary, RefusesATableOfAnotherVersionOrOfOtherHeaders) {
  flow::NodeTable table;
  table.compiler = "some other version of the compiler";
  EXPECT_EQ(flow::refusal_of(table), "");
  table.abi += 1;
  EXPECT_NE(flow::refusal_of(table), "");
  table.abi -= 1;
  table.layout.user_node += 8;
  EXPECT_NE(flow::refusal_of(table), "");
}

}  // namespace
}  // namespace nbody
