#pragma once
// A scenario behind an FMU that was exported from it: a node in its system of flows stands for the tool that imported
// the FMU. It writes what the tool sets, and tells what the tool may read, at the FMU's communication points; between
// them the whole run waits for the tool.
//
//     tool: set ─ doStep(t, h) ──► gateway at t: writes ──► world … t + h ──► state ──► gateway ──► tool: get
//
// The other end of the socket is bridge/fmi/export/fmu_binary.c.
//
// Fails: what is wrong with the scenario is an InputError; a tool that is gone ends the run.

#include <string>
#include <vector>

#include "bridge/fmi/export/package_writer.hpp"
#include "flow/user_node.hpp"
#include "run/world_nodes.hpp"
#include "scenario/scenario.hpp"

namespace isochron {

class RunWatch;

/// What an FMU of a scenario can have: every actuator that no program or node moves, and every number of the world's
/// state. Throws InputError where the scenario cannot be one.
struct FmuInterface {
  struct Source {
    enum class Kind : std::uint8_t { body, position, velocity, sensor } kind = Kind::body;
    std::size_t at = 0;  // in that list of world::WorldState
  };
  std::vector<fmi::ExportedVariable> inputs, outputs;
  std::vector<std::uint32_t> writables;  // of each input: its place among what can be written
  std::vector<Source> sources;           // of each output
  SimSpan world_step;

  /// Those of the given names only, in that order; throws InputError placed at `place` for names that there are not.
  void keep(const std::vector<std::string>& in, const std::vector<std::string>& out, const Place& place);
};
FmuInterface fmu_interface(const Scenario& scenario);

class FmuGateway final : public flow::UserNode {
 public:
  FmuGateway(FmuInterface interface, SimSpan step, int socket, RunWatch& watch);

 private:
  void saw(const world::WorldState& state);
  void tick(Tick& tick, SimTime now);
  void obey(SimTime now);

  FmuInterface interface_;
  SimSpan step_;
  int socket_;
  RunWatch& watch_;
  bool greeted_ = false, over_ = false;
  std::uint32_t left_ = 0;  // steps until the tool is told
  std::vector<double> in_, before_, out_;
  flow::Event<WorldWrites> writes_;
};

/// Serves one FMU over the socket until its tool ends it; `folder` is the FMU's resources. Returns whether all went
/// well.
bool serve_fmu(const std::string& folder, int socket);

}  // namespace isochron
