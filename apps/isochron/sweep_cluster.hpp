#pragma once
// Sweeps on machines that are there already: jobs of Slurm, or hosts that are reached by ssh. Files are staged by the
// hash of what is in them: into the sweep's folder, which the nodes of a cluster share, or to the hosts, as `launch`
// does it.
//
// Fails: InputError where the engine is not there, or refuses the job.

#include "apps/isochron/launch_node.hpp"
#include "apps/isochron/sweep.hpp"

namespace isochron::app {

struct ClusterFlags {
  std::string on = "local";        // local, slurm, ssh
  std::vector<std::string> hosts;  // of ssh
  std::vector<std::string> pass;   // to sbatch, as they are: --partition=all
  bool alone = false;              // measured runs: never two on one machine at a time
  LaunchFlags launch;              // how hosts are reached
};

std::unique_ptr<SweepEngine> cluster_engine(const ClusterFlags& flags, SweepPlan& plan, const Scenario& scenario);

}  // namespace isochron::app
