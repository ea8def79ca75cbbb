#pragma once
// Events that a node has sent and that are not on their way yet. Those whose turn (e − L) has not come wait in order of
// time; those whose turn came queue in the outbox until every sink has had room for them. They wait here and not in the
// node, because an event must never block its node, and sinks must not wait for each other's room: both deadlock
// systems that are fine.
//
//     add ──► held, by time ──turn()──► outbox, numbered 0, 1, 2, … ──each sink at its own speed──► channels
//
// Promises: leave in order of time; in order of sending among equal times. Nothing is dropped: more than `limit` held
//           events are refused with an exception that names the flow.
// Threads:  owner thread. Cost: no allocation once it has held as many as it ever will.

#include <cstdint>
#include <string>
#include <vector>

#include "core/time.hpp"
#include "flow/payload.hpp"

namespace isochron::flow {

class Hold {
 public:
  /// `poison` not 0: the place for a payload is filled with it.
  Hold(const PayloadType& type, std::string flow_name, std::uint32_t limit, unsigned char poison = 0);
  ~Hold();
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  /// A place for the payload of an event at t.
  void* add(SimTime t);
  /// The time of the first whose turn has not come; never() if there is none.
  [[nodiscard]] SimTime first() const { return held_.empty() ? SimTime::never() : held_.front().time; }
  [[nodiscard]] const void* first_payload() const { return held_.front().payload; }
  /// The first one's turn has come: it goes into the outbox.
  void turn();

  /// Events whose turn has come are numbered; those that are not gone up to `outbox_end` are still here.
  [[nodiscard]] std::uint64_t outbox_end() const { return gone_ + outbox_.size() - outbox_head_; }
  [[nodiscard]] bool outbox_empty() const { return outbox_head_ == outbox_.size(); }
  [[nodiscard]] SimTime outbox_time(std::uint64_t number) const { return outbox_[outbox_head_ + number - gone_].time; }
  [[nodiscard]] void*& outbox_payload(std::uint64_t number) { return outbox_[outbox_head_ + number - gone_].payload; }
  /// All sinks have those before `number`.
  void gone(std::uint64_t number);

  /// For the explorer: everything held, as numbers.
  void save(std::vector<std::int64_t>& to) const;
  void restore(const std::int64_t*& from);

 private:
  struct Held {
    SimTime time;
    std::uint64_t order;
    void* payload;
  };
  static bool later(const Held& a, const Held& b);
  void* spare();
  void save(const std::vector<Held>& list, std::size_t from, std::vector<std::int64_t>& to) const;

  const PayloadType& type_;
  std::string flow_name_;
  std::uint32_t limit_;
  unsigned char poison_;
  std::uint64_t order_ = 0;
  std::vector<Held> held_;  // a heap
  std::vector<Held> outbox_;
  std::size_t outbox_head_ = 0;
  std::uint64_t gone_ = 0;  // how many have left
  std::vector<void*> spare_;
};

}  // namespace isochron::flow
