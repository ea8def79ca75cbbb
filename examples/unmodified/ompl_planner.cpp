// A planner from OMPL, as its users write one: it knows nothing of Isochron, plans until its own time limit (kept by a
// thread that sleeps), and says how long it took by its own clock.
#include <ompl/base/spaces/RealVectorStateSpace.h>
#include <ompl/geometric/SimpleSetup.h>
#include <ompl/geometric/planners/rrt/RRTstar.h>
#include <ompl/util/Console.h>
#include <ompl/util/RandomNumbers.h>
#include <ompl/util/Time.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace ob = ompl::base;
namespace og = ompl::geometric;

int main(int count, char** values) {
  const double limit_s = count > 1 ? std::atof(values[1]) : 0.05;
  ompl::msg::noOutputHandler();
  ompl::RNG::setSeed(1);
  auto space = std::make_shared<ob::RealVectorStateSpace>(2);
  space->setBounds(0, 1);
  og::SimpleSetup setup(space);
  setup.setStateValidityChecker([](const ob::State* state) {
    const auto* at = state->as<ob::RealVectorStateSpace::StateType>()->values;
    return std::hypot(at[0] - 0.5, at[1] - 0.5) > 0.3;
  });
  ob::ScopedState<> start(space);
  ob::ScopedState<> goal(space);
  start[0] = start[1] = 0.05;
  goal[0] = goal[1] = 0.95;
  setup.setStartAndGoalStates(start, goal);
  setup.setPlanner(std::make_shared<og::RRTstar>(setup.getSpaceInformation()));
  setup.setup();
  const ompl::time::point before = ompl::time::now();
  const bool solved = static_cast<bool>(setup.solve(limit_s));
  std::printf("planned %f\n%s %f\n", ompl::time::seconds(ompl::time::now() - before), solved ? "length" : "unsolved",
              solved ? setup.getSolutionPath().length() : 0.0);
  return 0;
}
