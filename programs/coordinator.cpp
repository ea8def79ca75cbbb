#include "programs/coordinator.hpp"

#include <utility>

#include "programs/conductor.hpp"

namespace isochron::programs {

Coordinator::Coordinator(Plant& plant, std::vector<RobotSpec> robots, CoordinatorOptions options, Recorder* recorder)
    : plant_(plant), robots_(std::move(robots)), options_(std::move(options)), recorder_(recorder) {}

Coordinator::~Coordinator() = default;

Numbered numbered(const std::vector<RobotSpec>& robots) {
  Numbered all;
  for (const bool called : {false, true}) {
    for (const RobotSpec& robot : robots) {
      for (const ProgramSpec& program : robot.programs) {
        if ((program.called != nullptr) != called) continue;
        all.names.push_back(robot.name + "/" + program.name);
        all.speeds.push_back(program.cpu_speed);
      }
    }
  }
  return all;
}

RunOutcome Coordinator::run(SimTime until, std::stop_token stop, ProgressTold progress) {
  Conductor conductor(plant_, robots_, options_, recorder_, until);
  return conductor.conduct(std::move(stop), progress);
}

}  // namespace isochron::programs
