#pragma once
// The port of boards: programs on hardware of their own, over TCP. It listens for them, keeps account of what each has
// executed, and brings what they ask to the desk at its time. Their executed time ET and simulated time ST stay in sync
// because the timeline holds an answer stamped t back until simulated time has come to t.
//
//      board  ─ request, executed since the last answer ─►  asked()   the timeline knows when it happens
//             ◄─ answer, stamped ─────────────────────────  operate()  when it has happened; ET goes on from there
//
// Written as reactions on a Reactor, so that it runs on TCP and on the simulated network alike. Whatever strangers or
// broken boards do, they are shown out and the others go on.
//
// Promises: answers stamped t leave when simulated time has come to t. How long each board was held and for whom, and
//           how long the world waited for whom, adds up from the wall clock.
// Requires: enter() before anything else but listen(). Threads: the owner's, which also polls the reactor.
// Fails:    listen() says why. Later: failure() says why the run must end.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/network.hpp"
#include "programs/board/clocks_apart.hpp"
#include "programs/board/connection.hpp"
#include "programs/board/hold.hpp"
#include "programs/board/options.hpp"
#include "programs/board/target_clock.hpp"
#include "programs/desk.hpp"
#include "programs/timeline.hpp"

namespace isochron::programs {

struct TargetSpec {
  std::string name;   // "uav/pilot"
  std::string robot;  // "uav"
  ReleaseTerms times;
  std::string to;           // where send("") goes
  std::uint32_t links = 8;  // threads of it that may talk
  OnLoss on_loss = OnLoss::pause;
  Runs runs = Runs::held;
};

struct BoardOptions {
  bool held = true;  // answers are held back; else boards run freely and see the world as it is
  LinkCost link_cost = LinkCost::removed;
  WrongClock wrong_clock = WrongClock::charged;
  double clock_tolerance = 1e-3;                 // a clock whose rate differs by more is wrong
  SimSpan least = std::chrono::microseconds(1);  // that a request costs: who asks and asks cannot stop time
  std::optional<link::Key> key;
  Limits limits;
  WallSpan wait_for_targets = std::chrono::seconds(60);
  WallSpan wait_for_return = std::chrono::seconds(30);  // of a target whose loss pauses the world
  bool end_with_targets = true;
  Trouble* trouble = nullptr;  // what faults do to targets; null = nothing
  std::function<void(const Hold& hold)> on_hold = {};
};

struct LinkOutcome {
  LatencyMeter ping, way;  // at the start; by its requests
  ClockOffset offset;
  std::uint64_t late = 0, clock_faults = 0;
  SimSpan late_by;
  std::uint64_t beyond = 0;  // requests that were on the way for longer than pings are
  WallSpan beyond_by;        // which was charged
  double clock_rate = 1;     // of the target's clock, by pings
  ClocksApart apart;         // of one that is not held
};

struct TargetOutcome {
  std::string name;
  DeskFigures figures;
  Runs runs = Runs::held;
  SimSpan executed;   // ran freely, all links together
  WallSpan free_for;  // by our clock, the link's delays included
  std::uint64_t holds = 0;
  WallSpan held, held_most;
  WallSpan held_by_world, held_by_targets, held_by_programs, held_by_pace;
  WallSpan world_waited;  // for it
  std::uint32_t losses = 0;
  std::vector<LinkOutcome> links;
  std::string ended;  // how, if before the run did
};

struct BoardsOutcome {
  std::uint64_t requests = 0, refused = 0;
  std::vector<std::string> refusals;  // the first of them
  WallSpan waited;                    // for boards
  std::vector<TargetOutcome> targets;
};

class Boards {
 public:
  /// Who keeps the drift: each thread of a board has a slot.
  class House {
   public:
    virtual ~House() = default;
    virtual void board_at(std::uint32_t slot, WallTime now, SimTime executed) = 0;
    virtual void board_left(std::uint32_t slot, WallTime now) = 0;
  };

  Boards(Reactor& reactor, std::vector<TargetSpec> targets, BoardOptions options);
  ~Boards();
  Boards(const Boards&) = delete;
  Boards& operator=(const Boards&) = delete;

  Result<Address, NetError> listen(const Address& at);
  /// A connection that came by another way, such as a serial line; `where` names it.
  void accept(std::unique_ptr<Stream> stream, const std::string& where);
  /// They take part in this run; their parties and programs are the last ones.
  void enter(Timeline& timeline, Desk& desk, House& house, std::uint32_t first_cpu);
  [[nodiscard]] const std::vector<TargetSpec>& targets() const { return specs_; }
  [[nodiscard]] std::uint32_t slots() const;
  /// Names of those that are not there yet.
  [[nodiscard]] std::vector<std::string> awaited() const;
  [[nodiscard]] bool complete() const;
  /// The run ends with this sentence; also from callbacks of the reactor.
  void stop(const std::string& why);
  /// Why the run must end; "" = it need not.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  /// All have said good-bye, and the run ends with them.
  [[nodiscard]] bool all_left() const { return all_left_; }

  [[nodiscard]] WallTime now() { return reactor_.now(); }
  /// Every request that came before this was told to the timeline.
  [[nodiscard]] WallTime safe() const { return safe_; }
  /// Reads all that came.
  void take();
  /// Waits for a board as the event says, at most until then.
  void wait_for(const Timeline::Event& event, WallTime at_most);
  /// Waits for nobody in particular; what comes is read. False: nothing came.
  bool idle(WallTime until) { return reactor_.poll(until); }

  [[nodiscard]] bool has(std::uint32_t program) const { return program >= first_program_; }
  [[nodiscard]] bool is_party(std::uint32_t party) const {
    return party >= first_party_ && party - first_party_ < specs_.size();
  }
  [[nodiscard]] const std::string& name(std::uint32_t program) const;
  /// Each thread of a board is a program of the timeline; to the desk and in the record they are one.
  [[nodiscard]] std::uint32_t party_of(std::uint32_t program) const { return party(links_[program - first_program_]); }
  /// An operation or a wake of one of theirs.
  void operate(const Timeline::Event& event);
  /// From the desk: a link that waits for a message goes on at `at`.
  void message(std::uint32_t party, std::uint32_t link, SimTime at);
  /// The CPU of the link for which the desk does something now.
  [[nodiscard]] std::uint32_t cpu() const { return cpu_; }

  // Where the wall time goes: what everybody was held for.
  void world_took(WallSpan span) { spent_.world += span; }
  void programs_took(WallSpan span) { spent_.programs += span; }
  void pace_took(WallSpan span) { spent_.pace += span; }
  /// Tells the house where they all stand.
  void record_times(WallTime now);

  /// The run is over: who waits is told so, and so is who asks from now on. Timeline, desk and house may go.
  void end(SimTime at);
  /// After end(): who still computes; it is told when it asks next.
  [[nodiscard]] std::vector<std::string> computing() const;
  /// After end(): all that was said to them has left.
  [[nodiscard]] bool told() const;
  /// After end().
  [[nodiscard]] BoardsOutcome outcome() const;

 private:
  struct Client;  // a connection and what it is a link of
  using LinkId = std::uint32_t;
  static constexpr std::uint32_t none = UINT32_MAX;
  enum class State : std::uint8_t { held, free, lost, gone };
  struct Link {
    std::uint32_t target = 0;
    std::uint32_t number = 0;  // of its target
    std::uint32_t slot = 0;
    Client* client = nullptr;  // null: its connection is gone
    State state = State::held;
    SimTime at;  // free: when it was let go; held: when it asked; waiting: until when
    bool waits = false;
    WallTime left;
    SimSpan ran;
    WallSpan free_for;
    TargetClock clock;
    LinkOutcome outcome;
  };
  struct Target {
    std::uint64_t session = 0;  // 0: not there
    std::vector<LinkId> links;  // all it ever had
    std::vector<LinkId> slots;  // who has them
    std::uint32_t first_slot = 0;
    bool was_there = false, ended = false, lost = false;
    WallTime lost_at;
    TargetOutcome outcome;
  };
  struct Spent {
    WallSpan world, targets, programs, pace;
  };

  void make_room();
  std::string hello(Client& client, const std::string& name, wire::Welcome& welcome);
  std::string join_as_new(Client& client, Target& target, std::uint64_t& session);
  void attach(Client& client);
  LinkId add_link(std::uint32_t target, WallTime now);
  void take_request(Client& client, WallTime arrived);
  void leave(Client& client);
  void leave(LinkId link);
  void closed(Client& client, const std::string& why);
  void lose(Client& client, Target& target, const std::string& why);
  void fence(Client& client);
  void end_target(Target& target, SimTime at, const std::string& how);
  bool meets_trouble(Link& link, const Timeline::Event& event);
  [[nodiscard]] bool any_link_left(const Target& target) const;
  [[nodiscard]] WallSpan on_the_way(const Link& link) const;
  [[nodiscard]] SimSpan executed_in(Client& client, WallSpan run);
  [[nodiscard]] bool held(const Link& link) const { return held(specs_[link.target]); }
  [[nodiscard]] bool held(const TargetSpec& spec) const { return options_.held && spec.runs == Runs::held; }
  static void keep_figures(Link& link, const Connection& connection);
  [[nodiscard]] SimTime executed(const Link& link, WallTime now) const;
  [[nodiscard]] SimTime time_of(LinkId link) const;
  void let_go(LinkId link, SimTime at);
  void note_hold(Client& client, SimTime at, WallTime now);
  void house_keeping();
  void look_for_the_missing(WallTime now);
  [[nodiscard]] Target& target_of(const Client& client);
  [[nodiscard]] std::uint32_t party(const Link& link) const { return first_party_ + link.target; }
  [[nodiscard]] std::uint32_t program(LinkId link) const { return first_program_ + link; }

  Reactor& reactor_;
  std::vector<TargetSpec> specs_;
  BoardOptions options_;
  Timeline* timeline_ = nullptr;
  Desk* desk_ = nullptr;
  House* house_ = nullptr;
  std::uint32_t first_program_ = none, first_party_ = none, cpu_ = 0;
  std::unique_ptr<Listener> listener_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Link> links_;
  std::vector<Target> targets_;
  Reply reply_;
  BoardsOutcome outcome_;
  std::string failure_;
  bool all_left_ = false, over_ = false;
  SimTime over_at_;
  WallTime safe_, opened_;
  Reactor::TimerId keeper_ = 0;
  Spent spent_;
};

}  // namespace isochron::programs
