#pragma once
// Somebody at the desk who is no program: a robot's radio, or the bridge to middleware outside. Programs of its robot
// send to it and receive from it by its name, as among themselves. It has no CPU and no progress of its own: it acts
// where the world steps, when nobody can act any more before that time.
//
//      step to t ─► exchange(t, next step) ─► programs until the next step
//                      │  takes what was sent to it before t
//                      └► hands in what arrives at t or later, reads and writes the world
//
// Promises: what a program receives depends on what was handed in and for when, not on when it was looked for.
// Requires: what arrives in [now, until) is handed in at `now`; what is known for later may be.
// Threads:  the coordinator's.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "programs/desk.hpp"

namespace isochron::programs {

class System;

/// The desk, as a correspondent uses it. Who it is, is its place in Correspondent::names().
class Post {
 public:
  Post(Desk& desk, std::uint32_t first) : desk_(desk), first_(first) {}

  /// The oldest that was sent to it before `now`.
  std::optional<protocol::Letter> take(std::uint32_t who, SimTime now) { return desk_.take_letter(first_ + who, now); }
  /// For every program of its robot that listens to it.
  void hand_in(std::uint32_t who, SimTime sent, SimTime arrives, std::string_view type,
               std::span<const std::byte> bytes) {
    desk_.deliver(first_ + who, sent, arrives, type, bytes);
  }
  /// What the program that wrote the letter is told of it.
  void complain(const protocol::Letter& letter, const std::string& what) {
    desk_.fault(letter.from, letter.sent, what);
  }
  /// The value was checked.
  void write(std::uint32_t who, SimTime at, std::uint32_t variable, std::span<const std::byte> value) {
    desk_.write(first_ + who, at, variable, value);
  }

 private:
  Desk& desk_;
  std::uint32_t first_;
};

class Correspondent {
 public:
  virtual ~Correspondent() = default;
  /// "car01/v2x": the robot, and what its programs call it.
  [[nodiscard]] virtual const std::vector<std::string>& names() const = 0;
  virtual void exchange(Post& post, SimTime now, SimTime until) = 0;
  /// The run begins. `system`: that of its stacks, where it may have sockets; null: there is none.
  virtual void enter(System* /*system*/) {}
  /// The run is over, and its system goes.
  virtual void leave() {}
  /// Whether somebody outside is waited for in exchange(): programs that compute are kept meanwhile.
  [[nodiscard]] virtual bool waits_outside() const { return false; }
  /// Asked after each exchange: why the run is to end; "" = because all is done; nothing: it goes on.
  [[nodiscard]] virtual std::optional<std::string> over() const { return std::nullopt; }
};

}  // namespace isochron::programs
