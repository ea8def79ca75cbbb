#pragma once
// Who writes the record of a run: told everything that targets did, in the order of simulated time, every hold, and
// where everybody's time stands.
//
// Threads: the server's. Cost: called between answers; must not block.

#include <cstdint>
#include <span>
#include <string>

#include "core/time.hpp"
#include "hil/sync.hpp"

namespace isochron::hil {

enum class What : std::uint8_t { start, release, read, write, send, receive, log, fault, end };
inline constexpr std::uint32_t nothing = UINT32_MAX;

struct Happening {
  What what = What::start;
  SimTime at;
  std::uint32_t target = 0;
  std::uint32_t about = nothing;  // variable, or the other target
  SimTime stamp;                  // receive: when it was sent; release: the release time
  std::span<const std::byte> bytes;
};

/// A target was held for longer than the simulated time that passed for it: for whom, and how long.
struct Hold {
  std::uint32_t target = 0;
  std::uint32_t link = 0;  // of the target
  SimTime asked, answered;
  WallSpan held;  // beyond answered − asked
  enum class Cause : std::uint8_t { world, target, pace, host } cause = Cause::world;
  std::uint32_t by = nothing;  // the other target, if it was one
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void happened(const Happening& happening) = 0;
  virtual void held(const Hold& hold) = 0;
  /// Of the world and of one link, at a moment of the wall clock.
  virtual void world_at(WallTime now, SimTime st) = 0;
  virtual void target_at(LinkId link, std::uint32_t target, WallTime now, SimTime et) = 0;
  virtual void target_left(LinkId link, std::uint32_t target, WallTime now) = 0;
};

}  // namespace isochron::hil
