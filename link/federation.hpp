#pragma once
// The members of a run that are spread over processes and hosts, as one of them sees them: an ordered, lossless stream
// to each peer, whatever carries it (carrier.hpp), and what is known of each peer: not there yet, there, silent, gone.
// Over TCP a stream lasts as long as its connection; when there is another, another stream begins (session.hpp).
//
// Members may start in any order. Several federations on one network stay apart by a number made of their name and of
// what they run; packets of others, of another version or without the key are counted, and told once for each reason.
//
// Threads: owner thread. Cost: one packet for each send().

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "link/carrier.hpp"
#include "link/session.hpp"

namespace isochron::link {

struct Roster {
  std::string federation;          // its name
  std::uint64_t runs = 0;          // a number for what it runs: a scenario's hash
  std::vector<std::string> names;  // all members, in the same order everywhere
  std::uint32_t self = 0;
  std::vector<std::uint32_t> peers;  // those with whom this one exchanges bytes
};

class Federation {
 public:
  struct Options {
    SessionTiming timing;
    std::optional<Key> key;
    std::optional<std::uint32_t> life = {};  // where members that are lost are started again: which life this one is
  };
  struct Events {
    std::function<void(std::uint32_t from, std::span<const std::byte>)> bytes;
    std::function<void(std::uint32_t who)> joined;
    std::function<void(std::uint32_t who)> left;  // session(who) says why
    std::function<void(const std::string&)> stranger;
    std::function<void()> round;
    /// Our stream to that one begins anew with this number; what was sent before may not have come.
    std::function<void(std::uint32_t who, std::uint32_t stream)> restart = {};
    /// Its stream to us does; the next bytes are the first of it.
    std::function<void(std::uint32_t who, std::uint32_t stream)> restarted = {};
    /// That one was lost, and another is there or awaited in its place, which begins from nothing.
    std::function<void(std::uint32_t who)> begins_again = {};
  };
  Federation(Carrier& carrier, Clock& clock, Roster roster, Options options);

  void start(Events events);
  void send(std::uint32_t to, std::span<const std::byte> bytes);
  /// That one was lost, and is there again or will be, at this address.
  void expect_again(std::uint32_t who, std::uint32_t life, const Address& at);
  /// Goes out with the next knocks.
  void set_news(const std::string& news);
  void bye(const std::string& reason);

  [[nodiscard]] const Roster& roster() const { return roster_; }
  [[nodiscard]] const Session& session(std::uint32_t who) const { return *sessions_[who]; }
  [[nodiscard]] bool all_joined() const;
  /// Nobody who is still there has anything left to acknowledge; over TCP: all has been handed to the system.
  [[nodiscard]] bool drained() const;
  [[nodiscard]] bool all_left() const;
  /// One sentence for each peer that is not there, is silent or is gone: what to look at when nothing moves.
  [[nodiscard]] std::vector<std::string> troubles();
  [[nodiscard]] std::uint64_t strangers() const { return strangers_; }
  [[nodiscard]] std::uint64_t resent() const;

 private:
  std::optional<std::uint32_t> take(std::span<const std::byte> bytes);
  struct Before {
    Session::State state;
    std::uint32_t life;
  };
  [[nodiscard]] Before before(std::uint32_t who) const { return {sessions_[who]->state(), sessions_[who]->life()}; }
  void after(std::uint32_t who, const Before& before);
  void rerouted(std::uint32_t member);
  void tick();
  void meet_stranger(const std::string& what);

  Carrier& carrier_;
  Clock& clock_;
  Roster roster_;
  Options options_;
  Events events_;
  std::uint64_t number_;
  std::vector<std::unique_ptr<Session>> sessions_;  // by member; null if not a peer
  std::vector<std::byte> out_;
  std::map<std::string, std::uint64_t> told_;
  std::uint64_t strangers_ = 0;
  WallTime ticked_;
  bool taking_ = false;  // what is sent now answers the packet that is being taken
};

}  // namespace isochron::link
