#pragma once
// The keeper is a tiny process beside the coordinator that outlives it by a moment: when the coordinator is gone, even
// by kill -9, it kills what the programs left behind, children of children included. Programs themselves die with the
// coordinator by the kernel's hand; what they forked does not.
//
// It knows them by their process group, and by the run's token in their environment.
// Threads: owner thread.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/time.hpp"

namespace isochron::programs {

class Keeper {
 public:
  explicit Keeper(std::string token);
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

 private:
  pid_t pid_ = -1;
  int line_ = -1;  // it reads the other end: closed = we are gone
};

/// What a program carries in its environment: the run's token and its own number in the run.
std::string token_of(const std::string& run, std::uint32_t program);

/// A process that carries the token of a run.
struct Relative {
  pid_t pid = 0;
  std::uint32_t program = 0;  // from which it came
  CpuSpan cpu;                // used by it and by those of its children that it waited for
};
std::vector<Relative> relatives_of_run(const std::string& run);

/// Kills everything that carries the token; returns how many there were.
int kill_all_of_run(const std::string& run);

}  // namespace isochron::programs
