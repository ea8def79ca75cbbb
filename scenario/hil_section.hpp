#pragma once
// The part of a scenario's vocabulary for hardware in the loop: how targets take part, and how the host listens.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/rate.hpp"
#include "core/time.hpp"
#include "programs/board/options.hpp"
#include "scenario/section.hpp"

namespace isochron {

template <>
struct Words<programs::OnLoss> {
  static constexpr std::array<const char*, 3> list{"pause", "go-on", "end"};
};
template <>
struct Words<programs::LinkCost> {
  static constexpr std::array<const char*, 2> list{"charged", "removed"};
};

template <>
struct Words<programs::WrongClock> {
  static constexpr std::array<const char*, 2> list{"charged", "fenced"};
};
template <>
struct Words<programs::Runs> {
  static constexpr std::array<const char*, 2> list{"held", "free"};
};

struct TargetSection : Section {
  int links = 8;
  programs::Runs runs = programs::Runs::held;
  programs::OnLoss on_loss = programs::OnLoss::pause;
  std::optional<Fraction> cpu_quota;
};
template <class V>
void describe(V& v, TargetSection& s) {
  v.optional("links", s.links, "threads of it that may talk at once");
  v.optional(
      "runs", s.runs,
      "held: it stands still until its answers' time has come; free: it cannot be stopped, and how far its clock "
      "and simulated time come apart is reported");
  v.optional("on_loss", s.on_loss, "a broken connection: everybody waits for its return, they go on, or the run ends");
  v.optional("cpu_quota", s.cpu_quota, "started here: in a cgroup with this part of one core, as a slow target");
}

struct HilSection : Section {
  std::string listen;
  std::vector<std::string> serial;
  FilePath key;
  bool sync = true;
  bool start = true;
  programs::LinkCost link = programs::LinkCost::removed;
  programs::WrongClock wrong_clock = programs::WrongClock::charged;
  Fraction clock_tolerance{1, 1000};
  bool end_with_targets = true;
  WallSpan wait_for_targets = std::chrono::seconds(60);
  WallSpan wait_for_return = std::chrono::seconds(30);
  WallSpan wait_for_end = std::chrono::seconds(5);
  WallSpan patience = std::chrono::seconds(5);
  std::uint32_t requests_per_s = 50'000;
};
template <class V>
void describe(V& v, HilSection& s) {
  v.optional("listen", s.listen, "where targets connect to; 127.0.0.1 at a free port if left out");
  v.optional("serial", s.serial, "serial lines on which targets come too, DEVICE:BAUD: [\"/dev/ttyACM0:921600\"]");
  v.optional("key", s.key, "file with the key that targets must hold; needed unless only this machine can connect");
  v.optional("sync", s.sync, "false: answers are not held back, for comparison");
  v.optional("start", s.start, "programs that have `run` are started here");
  v.optional("link", s.link, "time on the link: charged to the target's executed time, or removed from it");
  v.optional("wrong_clock", s.wrong_clock,
             "a target whose clock jumps or runs at a wrong rate: it is charged by the host's clock, or fenced off");
  v.optional("clock_tolerance", s.clock_tolerance,
             "a clock is wrong whose rate differs from the host's by more than this part");
  v.optional("end_with_targets", s.end_with_targets, "the run ends when all targets have said good-bye");
  v.optional("wait_for_targets", s.wait_for_targets, "the run fails if not all came within this");
  v.optional("wait_for_return", s.wait_for_return, "and if a lost target that is waited for is not back after this");
  v.optional("wait_for_end", s.wait_for_end,
             "targets that still compute when the run ends may take this long to hear of it");
  v.optional("patience", s.patience, "a connection may take this long to say who it is, or for half a message");
  v.optional("requests_per_s", s.requests_per_s, "of one link; more ends it");
}

}  // namespace isochron
