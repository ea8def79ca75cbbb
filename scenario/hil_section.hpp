#pragma once
// The part of a scenario's vocabulary for hardware in the loop: how targets take part, and how the host listens.

#include <array>
#include <optional>
#include <string>

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

struct TargetSection : Section {
  int links = 8;
  programs::OnLoss on_loss = programs::OnLoss::pause;
  std::optional<Fraction> cpu_quota;
};
template <class V>
void describe(V& v, TargetSection& s) {
  v.optional("links", s.links, "threads of it that may talk at once");
  v.optional("on_loss", s.on_loss, "a broken connection: everybody waits for its return, they go on, or the run ends");
  v.optional("cpu_quota", s.cpu_quota, "started here: in a cgroup with this part of one core, as a slow target");
}

struct HilSection : Section {
  std::string listen;
  FilePath key;
  bool sync = true;
  bool start = true;
  programs::LinkCost link = programs::LinkCost::removed;
  bool end_with_targets = true;
  WallSpan wait_for_targets = std::chrono::seconds(60);
  WallSpan wait_for_return = std::chrono::seconds(30);
  WallSpan patience = std::chrono::seconds(5);
  std::uint32_t requests_per_s = 50'000;
};
template <class V>
void describe(V& v, HilSection& s) {
  v.optional("listen", s.listen, "where targets connect to; 127.0.0.1 at a free port if left out");
  v.optional("key", s.key, "file with the key that targets must hold; needed unless only this machine can connect");
  v.optional("sync", s.sync, "false: answers are not held back, for comparison");
  v.optional("start", s.start, "programs that have `run` are started here");
  v.optional("link", s.link, "time on the link: charged to the target's executed time, or removed from it");
  v.optional("end_with_targets", s.end_with_targets, "the run ends when all targets have said good-bye");
  v.optional("wait_for_targets", s.wait_for_targets, "the run fails if not all came within this");
  v.optional("wait_for_return", s.wait_for_return, "and if a lost target that is waited for is not back after this");
  v.optional("patience", s.patience, "a connection may take this long to say who it is, or for half a message");
  v.optional("requests_per_s", s.requests_per_s, "of one link; more ends it");
}

}  // namespace isochron
