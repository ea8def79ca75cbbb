#include "run/library_program.hpp"

namespace isochron {

world::ControllerSetup setup_of(const Scenario& scenario, const std::string& robot, const std::string& name,
                                const ProgramSection& program, const world::World& world, world::Senses& senses,
                                world::Letters* letters) {
  world::ControllerSetup setup;
  setup.name = robot + "/" + name;
  setup.robot = robot;
  setup.period = *program.every;
  setup.seed = scenario.seed;
  for (const auto& [key, value] : program.with) setup.options[key] = value;
  setup.world = &world;
  setup.senses = &senses;
  setup.letters = letters;
  return setup;
}

LibraryProgram::LibraryProgram(const Scenario& scenario, const std::string& robot, const std::string& name,
                               const ProgramSection& program, Stage& stage, const WorldPlant& plant)
    : stage_(stage),
      plant_(plant),
      senses_(stage, robot),
      host_(robot + "/" + name,
            world::load_controller(program.library.path,
                                   setup_of(scenario, robot, name, program, stage.world(), senses_, &letters_)),
            stage.world()) {
  commands_.reserve(stage.world().actuators().size());
}

Result<std::span<const programs::CalledProgram::Command>, std::string> LibraryProgram::call(SimTime at,
                                                                                            Letters& letters) {
  letters_.now = &letters;
  senses_.release_at(at);
  commands_.clear();
  const auto released =
      host_.release(stage_.world(), [this](std::uint32_t actuator, double value) -> Result<Done, std::string> {
        commands_.push_back({plant_.variable_of_actuator(actuator), value});
        return done();
      });
  letters_.now = nullptr;
  if (!released.ok()) return fail(released.error().what);
  return std::span<const Command>(commands_);
}

MakeCalled libraries_of(const Scenario& scenario, Stage& stage, const WorldPlant& plant) {
  return [&](const std::string& robot, const std::string& name, const ProgramSection& program) {
    try {
      return std::make_shared<LibraryProgram>(scenario, robot, name, program, stage, plant);
    } catch (const InputError& error) {
      throw InputError(program.place_of("library"), error.what(), "");
    }
  };
}

}  // namespace isochron
