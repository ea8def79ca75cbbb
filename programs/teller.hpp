#pragma once
// The teller tells the recorder what happened, in the one order that repeats, and which turns programs had on their
// cores.
//
// Threads: the coordinator's. Cost: see HappeningQueue.

#include <span>
#include <string>

#include "programs/ensemble.hpp"
#include "programs/happening_queue.hpp"

namespace isochron::programs {

class Teller {
 public:
  explicit Teller(Ensemble& all) : all_(all) {}

  void tell(std::uint32_t program, Happening::Kind kind, SimTime at, std::uint32_t about,
            std::span<const std::byte> bytes, SimTime stamp) {
    if (all_.recorder == nullptr) return;
    const bool board = all_.boards != nullptr && all_.boards->is_party(program);
    queue_.add(board ? all_.boards->cpu() : all_.cpu_of(program), {kind, at, program, about, stamp, {}}, bytes);
  }
  /// What a program printed. All of it counts in the digest; of one that prints without end the record keeps the
  /// beginning.
  void output(std::uint32_t program, const std::string& text, SimTime at);
  /// Nothing earlier than this can happen any more.
  void flush(SimTime before);
  void turns();

 private:
  Ensemble& all_;
  HappeningQueue queue_;
};

}  // namespace isochron::programs
