#pragma once
// The node: a transition system between waiting, consuming and emitting, after paper 001, with observation and event
// flows added. It knows no thread, clock or socket. Production, the simulated world and the explorer (spec/) call the
// same step().
//
// Every port has a key, and the port with the least key is the only one that may move (DESIGN, "Order"):
//
//     emit (predictive) at S            (S,     0, i)
//     consume from j                    (T_j,   1, j)    T_j: stamp of the message at the head, or the promise if none
//     emit (observation) at S           (S,     2, i)
//     transmit event e, lookahead L     (e − L, 2, i)
//
// That is all of the enabling rules: (S,0) is least exactly when every T_j ≥ S; (S,2) when every T_j > S. If the least
// is an input without a message, the node waits for that input and no other, because promises only grow. If it is an
// output without room, the node waits for room: it is emitting. An event without room does not block the node; it is
// set aside ("starved") and its time bounds what the node may promise.
//
// Promised for an event flow: min(least key's time + L, first event not yet sent). It counts the node's own next
// emission too, because emission methods may send events.
//
// Promises: steps of a node, in order, are a function of its inputs' messages alone. Messages stamped at or after the
//           stop time are neither sent nor consumed.
// Requires: step() by one thread at a time. `Hub` tells who is to be woken:
//             static constexpr bool concurrent;   others step at the same time
//             void wake(std::uint32_t node);      news for that node
//             bool sleepy();                      if concurrent: whether to ask for wake-ups before waiting; whoever
//                                                 watches news() instead needs none
// Cost:     O(log ports) a step; never blocks; allocates only for events (see Hold).

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "flow/channel.hpp"
#include "flow/creep_pace.hpp"
#include "flow/key_tree.hpp"
#include "flow/sent_observer.hpp"
#include "flow/user_node.hpp"

namespace isochron::flow {

enum class Moved : std::uint8_t { on, waiting, done };

/// For what a node waits, or what it does: shown when nothing moves.
struct Wait {
  enum class For : std::uint32_t { nothing, message, room, done };
  For what = For::nothing;
  std::uint32_t port = 0;  // input for a message, output for room
  SimTime at;              // the stamp it needs the port to move past
};

class Node {
 public:
  struct Settings {
    bool digest = true;
    SentObserver* observer = nullptr;
    std::uint32_t hold_limit = 1U << 16;
    unsigned char poison = 0;  // not 0: a message's memory is filled with it before the node fills it
  };

  Node(UserNode& user, std::uint32_t index, std::string name);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// Ties the ports to their channels: one (channel, reader) for each input; one channel for each output, but one for
  /// each sink of an event output, because those go at their own speed.
  struct InputTie {
    Channel* channel = nullptr;
    Reader* reader = nullptr;
    SimTime first;  // promised at the start
    bool event = false;
  };
  void tie(Arena& arena, std::span<const InputTie> inputs, std::span<const std::vector<Channel*>> outputs,
           const Settings& settings);
  /// Whoever is told what it sends from now on; null = nobody.
  void set_observer(SentObserver* observer) { settings_.observer = observer; }
  /// From now on this output keeps its period (check.hpp).
  void keep_period(std::uint32_t output) { outputs_[output].keeps = outputs_[output].port->info.period; }

  /// Calls the user's start(). Before the first step.
  void start(SimTime now);
  /// Calls the user's finish().
  void finish() { user_.finish(stop_); }
  /// Goes on up to this time, this time excluded. May be raised and stepped again after done.
  void set_stop(SimTime stop);

  template <class Hub>
  Moved step(Hub& hub);
  /// Steps until it waits, is done, or has made `budget` steps. What the user's code throws is thrown on, as a
  /// std::runtime_error with the time at the end.
  template <class Hub>
  Moved run(Hub& hub, std::uint32_t budget);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint32_t index() const { return index_; }
  [[nodiscard]] const Wait& wait() const { return wait_; }
  /// Whether what the node waits for has come.
  [[nodiscard]] bool news() const;
  /// Done, and none of its events wait for room.
  [[nodiscard]] bool finished() const { return wait_.what == Wait::For::done && !starved_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  /// The first time at which something happens here by what is here: an output's turn, an event that is held, a message
  /// that came. What is only promised does not count.
  [[nodiscard]] SimTime first_certain() const;
  /// No event of this node is earlier than `at`, as somebody knows who sees all nodes. Who waits for it may look again.
  void promise_at_least(SimTime at);
  /// The same of all that can still come here (floor.hpp). Whether that brought the node on.
  bool hear_floor(SimTime floor);
  /// How many promises came since it stepped last: many of them mean that nodes creep, by turns of their lookahead.
  [[nodiscard]] std::uint64_t creeps() const { return creeps_; }
  CreepPace& creep_pace() { return creep_pace_; }
  /// The least key's time: nothing earlier will happen here.
  [[nodiscard]] SimTime at() const { return key_time(tree_.key(tree_.least())); }

  /// For the explorer: the whole state of the node and of the channels it writes, as numbers.
  void save(std::vector<std::int64_t>& to) const;
  void restore(const std::int64_t*& from);

 private:
  struct In {
    Channel* channel = nullptr;
    Reader* reader = nullptr;
    std::uint64_t read = 0;  // consumed
    std::uint64_t seen = 0;  // known to be there
    std::uint32_t slot = 0;  // where the next message lies
    bool event = false;
    SimTime promised;
    InPort* port = nullptr;
    InPort::Consume consume = nullptr;
    void* decoded = nullptr;  // where payloads lie as bytes: their value
  };
  /// How messages get from an output into a channel.
  struct Way {
    Channel* channel = nullptr;
    std::uint64_t written = 0;
    std::uint64_t freed = 0;  // consumed by all, as far as known
    std::uint32_t slot = 0;
    SimTime promised;  // of events
  };
  struct Out {
    Way way;
    Phase phase = Phase::emit;
    bool event = false;
    SimSpan keeps;  // the period that it must keep, because the check for deadlocks counted on it; zero = any
    OutPort* port = nullptr;
    OutPort::Emit emit = nullptr;
    void* value = nullptr;  // where payloads lie as bytes: the value to encode
    std::unique_ptr<Hold> hold;
    std::vector<Way> more;  // of events with several sinks
  };

  template <class Hub>
  Moved consume(Hub& hub, std::uint32_t port, SimTime at);
  template <class Hub>
  Moved emit(Hub& hub, std::uint32_t port, SimTime at);
  template <class Hub>
  Moved take_turn(Hub& hub, std::uint32_t port);
  template <class Hub>
  Moved await_message(Hub& hub, std::uint32_t port, SimTime at);
  template <class Hub>
  bool refresh(In& in, std::uint32_t port);
  template <class Hub>
  bool room(Hub& hub, Way& way);
  template <class Hub>
  void publish(Hub& hub, Way& way);
  template <class Hub>
  void wake_readers(Hub& hub, Channel& channel);
  template <class Hub>
  void promise(Hub& hub, SimTime at);
  template <class Hub>
  void drain(Hub& hub);
  template <class Hub>
  void drain(Hub& hub, Out& out);
  template <class Hub>
  void drain(Hub& hub, Out& out, Way& way);
  template <class Hub>
  void promise(Hub& hub, Out& out, Way& way, SimTime bound);

  void tie_event(Out& out, std::span<Channel* const> ways);
  static void save(const Way& way, std::vector<std::int64_t>& to);
  static void restore(Way& way, const std::int64_t*& from);
  void take(In& in, const Slot& slot);
  void record(Out& out, SimTime time, SimTime next, const void* value);
  void encode(const Out& out, const Way& way, Slot& slot, const void* value);
  const void* decode(In& in, const Slot& slot);
  void place_events();
  void place_event(std::uint32_t port);
  void check_next(const Out& out, SimTime at) const;
  [[noreturn]] void throw_with_time(const std::exception& error) const;
  [[nodiscard]] std::uint32_t leaf_of(std::uint32_t output) const { return input_count_ + output; }

  KeyTree tree_;
  SimTime stop_;
  std::uint32_t input_count_ = 0;
  std::uint32_t output_count_ = 0;
  In* inputs_ = nullptr;
  Out* outputs_ = nullptr;
  UserNode& user_;
  std::uint64_t steps_ = 0;
  std::uint64_t creeps_ = 0;
  CreepPace creep_pace_;
  std::uint32_t event_count_ = 0;
  std::uint32_t index_;
  bool starved_ = false;
  Wait wait_;
  Settings settings_;
  std::string name_;
};

}  // namespace isochron::flow

#include "flow/node_steps.hpp"
