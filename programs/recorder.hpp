#pragma once
// The recorder is told everything that happened in a run, in the one order that repeats: by simulated time, then by
// the declared index of the CPU. Two runs are the same when their recorders were told the same events. What computing
// cost is told apart from that, through charge() and clock(), in the order of each program.
//
// Threads: the coordinator's. Cost: called between dispatches; must not block.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/time.hpp"
#include "programs/happening.hpp"
#include "programs/tape.hpp"
#include "programs/turn.hpp"

namespace isochron::programs {

class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual void happened(const Happening& happening) = 0;
  /// A program started another process, which is a program from now on.
  virtual void joined(std::uint32_t /*program*/, const std::string& /*name*/, Fraction /*cpu_speed*/) {}
  virtual void stepped(SimTime /*world*/) {}
  virtual void charge(std::uint32_t /*program*/, const Charge& /*charge*/) {}
  /// Values that a thread read from its clock, packed (protocol/clock_values.hpp).
  virtual void clock(std::uint32_t /*program*/, std::uint32_t /*link*/, std::span<const std::byte> /*values*/) {}
  /// The order in which threads of the program met (protocol::OrderLog).
  virtual void order(std::uint32_t /*program*/, std::span<const std::byte> /*order*/) {}
  /// Told after the step of the world in which it ended. It follows from the durations: no part of the digest.
  virtual void turn(const Turn& /*turn*/) {}
};

/// Keeps all of it in memory: for tests, and for replaying a run right away.
class MemoryRecorder final : public Recorder {
 public:
  void happened(const Happening& happening) override { happenings.push_back(happening); }
  void charge(std::uint32_t program, const Charge& charge) override { tape(program).charges.push_back(charge); }
  void clock(std::uint32_t program, std::uint32_t link, std::span<const std::byte> values) override;
  void order(std::uint32_t program, std::span<const std::byte> order) override {
    auto& all = tape(program).order;
    all.insert(all.end(), order.begin(), order.end());
  }
  ComputeTape& tape(std::uint32_t program);

  std::vector<Happening> happenings;
  std::vector<ComputeTape> tapes;
};

/// One number for everything that happened, in order (64-bit FNV-1a).
std::uint64_t digest(const std::vector<Happening>& happenings);
/// As people read it: "12.5 ms  program 1  write variable 2, 8 bytes".
std::string to_string(const Happening& happening);

}  // namespace isochron::programs
