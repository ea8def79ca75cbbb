#pragma once
// The desk: where what programs ask is done, at its time. Variables are found, read and written, messages handed over,
// releases counted, refusals worded. It is written once, for executables, libraries, boards and real-time programs, in
// every mode: a program meets the same rules wherever it runs. The desk knows neither clocks nor processes nor sockets.
// Whoever asks it decides when something happens; a port decides how the question came and the answer goes.
//
//      port ── Request ──► act(at) ──► Reply                     at once
//                             └──────► Suspend … wake(at) ─► Reply    later: a release, a time, a sensor, a message
//
// Promises: what is written at t shows to reads after t, and reaches the plant in the order (time, CPU, order of
//           writing). A message to another CPU takes one nanosecond, so that the order between two CPUs is never in
//           doubt.
// Requires: act() and wake() of one party in the order of its time. A read at t comes when no write before t can come
//           any more. A payload in a request is out of the program's reach.
// Fails:    whatever a program asks, it gets an answer or a sentence; nothing that it says harms the others.
// Threads:  the owner's. Cost: no allocation after the first requests, but for messages, refusals and larger payloads.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/plant.hpp"
#include "core/releases.hpp"
#include "programs/happening.hpp"
#include "programs/mailbox.hpp"
#include "programs/per_link.hpp"
#include "programs/plant_access.hpp"
#include "programs/trouble.hpp"

namespace isochron::programs {

/// What a program asks for, as its port understood it.
struct Request {
  protocol::Ask ask = protocol::Ask::none;
  std::uint32_t index = 0;
  std::int64_t time = 0, number = 0;
  std::string_view name, type;
  std::span<const std::byte> payload;
  std::optional<SimTime> done;  // when it was done with what it did before, where that is not when it asks
};

/// What it gets. The payload lies in the port's memory where it gave some, else in our own.
class Reply {
 public:
  protocol::Verdict verdict = protocol::Verdict::ok;
  std::uint32_t index = 0;
  std::int64_t number = 0;
  SimTime stamp;
  std::string name, type;

  [[nodiscard]] std::span<const std::byte> payload() const { return memory().first(size_); }
  /// Room for a payload of this size, or for as much of it as the port has; its bytes are to be written.
  std::span<std::byte> room(std::size_t size) {
    if (given_.empty() && own_.size() < size) own_.resize(size);
    size_ = std::min(size, memory().size());
    return memory().first(size_);
  }
  void cut(std::size_t size) { size_ = std::min(size_, size); }
  void fill(std::span<const std::byte> bytes) {
    const auto to = room(bytes.size());
    std::copy(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(to.size()), to.begin());
  }
  /// As new; `given`: where the payload goes. Memory of our own stays: pictures are large.
  void reset(std::span<std::byte> given = {}) {
    verdict = protocol::Verdict::ok;
    index = 0;
    number = 0;
    stamp = SimTime::zero();
    name.clear();
    type.clear();
    given_ = given;
    size_ = 0;
  }

 private:
  [[nodiscard]] std::span<std::byte> memory() { return given_.empty() ? std::span(own_) : given_; }
  [[nodiscard]] std::span<const std::byte> memory() const { return given_.empty() ? std::span(own_) : given_; }
  std::vector<std::byte> own_;
  std::span<std::byte> given_;
  std::size_t size_ = 0;
};

/// What the desk counts of a program, for the report.
struct DeskFigures {
  std::uint64_t activations = 0;  // releases that it ran
  std::uint64_t overruns = 0;     // activations that ended after the next release
  std::uint64_t missed = 0;       // deadlines: activations that ended after theirs, and releases that it never ran
  std::uint64_t reads = 0, writes = 0, sent = 0, received = 0;
  std::vector<std::string> faults;  // the first of them, as sentences
  std::uint64_t fault_count = 0;
};

class Desk {
 public:
  /// One program, as the desk knows it.
  struct Party {
    std::string name;   // "predator/planner"
    std::string robot;  // "predator"
    ReleaseTerms terms;
    std::string to;                            // where send("") goes
    std::uint32_t cpu = 0;                     // of all robots
    std::size_t most = protocol::payload_max;  // bytes that an answer to it may have
    bool program = true;                       // else a correspondent (correspondent.hpp)
  };

  /// Who has the desk.
  class House {
   public:
    virtual ~House() = default;
    /// Something happened to a party.
    virtual void tell(std::uint32_t party, Happening::Kind kind, SimTime at, std::uint32_t about,
                      std::span<const std::byte> bytes, SimTime stamp) = 0;
    /// A link that waits for a message may go on at `at`.
    virtual void message(std::uint32_t party, std::uint32_t link, SimTime at) = 0;
    /// An activation begins at `at`, or is done; for those that look at the wall clock.
    virtual void begins(std::uint32_t /*party*/, SimTime /*release*/, SimTime /*at*/) {}
    virtual void is_done(std::uint32_t /*party*/, SimTime /*at*/, SimSpan /*period*/, const Releases::Next&) {}
  };

  Desk(Plant& plant, House& house) : plant_(plant), house_(house) {}

  /// Whom to ask what becomes of messages; null = they all arrive.
  void set_trouble(Trouble* trouble) { trouble_ = trouble; }
  /// Numbers are given in order, from 0.
  std::uint32_t add(Party party);
  [[nodiscard]] std::size_t parties() const { return parties_.size(); }
  [[nodiscard]] const Party& party(std::uint32_t party) const { return parties_[party].spec; }
  [[nodiscard]] const DeskFigures& figures(std::uint32_t party) const { return parties_[party].figures; }

  struct Suspend {
    SimTime until;
    bool receiving = false;  // it goes on in the order of reads: a reading, or a message that may come earlier
  };
  /// The party says which protocol it speaks; it takes part from `at` on.
  void attach(std::uint32_t party, SimTime at, std::int64_t version, Reply& reply);
  void started(std::uint32_t party, SimTime at) { tell(party, Happening::Kind::start, at); }
  /// Does what is asked at `at`: fills the reply, or says until when the link waits; then wake() fills it.
  std::optional<Suspend> act(std::uint32_t party, std::uint32_t link, SimTime at, const Request& request, Reply& reply);
  void wake(std::uint32_t party, std::uint32_t link, SimTime at, Reply& reply);
  /// Whether the link waits for a sensor that takes its time.
  [[nodiscard]] bool acquires(std::uint32_t party, std::uint32_t link) {
    return parties_[party].lines[link].waits == Waits::reading;
  }
  /// A read when the run is over: nobody is told.
  void read_last(std::uint32_t party, SimTime at, const Request& request, Reply& reply);
  /// What a party writes without asking: its value was checked. Nobody waits for it.
  void write(std::uint32_t party, SimTime at, std::uint32_t variable, std::span<const std::byte> value);

  /// The oldest letter to a correspondent that arrived by `now`.
  std::optional<protocol::Letter> take_letter(std::uint32_t party, SimTime now) {
    return parties_[party].mailbox.take(protocol::anybody, now);
  }
  /// A correspondent's letter, for all programs of its robot that listen to it.
  void deliver(std::uint32_t party, SimTime sent, SimTime arrives, std::string_view type,
               std::span<const std::byte> bytes);

  /// Hands the plant what was written before this.
  void apply(SimTime before);
  void fault(std::uint32_t party, SimTime at, const std::string& what);
  /// The link is new, or belongs to somebody else now: it waits for nothing and has no releases.
  void renew(std::uint32_t party, std::uint32_t link) { parties_[party].lines[link] = {}; }
  void leave(std::uint32_t party, SimTime at, std::string_view how);

 private:
  static constexpr std::uint32_t nobody = UINT32_MAX;
  struct Effect {
    SimTime at;
    std::uint32_t cpu = 0;
    std::uint64_t order = 0;
    std::uint32_t variable = 0;
    std::vector<std::byte> bytes;
    /// For a heap with the earliest on top.
    friend bool operator<(const Effect& a, const Effect& b) {
      return std::tie(b.at, b.cpu, b.order) < std::tie(a.at, a.cpu, a.order);
    }
  };
  enum class Waits : std::uint8_t { nothing, release, until, reading, message };
  struct Line {  // one link: a thread of the party that talks
    Waits waits = Waits::nothing;
    Releases releases;
    std::uint32_t variable = 0;  // reading; or `several`, and then which
    protocol::ItemList variables;
    std::uint32_t from = protocol::anybody;
    std::string type;
    std::size_t capacity = 0;
  };
  struct Seat {
    Party spec;
    DeskFigures figures;
    protocol::Mailbox mailbox;
    protocol::Mailbox from_outside;       // of correspondents: nobody gets these who did not name them
    std::vector<std::uint32_t> listens;   // to these correspondents
    std::uint64_t letters = 0, lost = 0;  // sent, or handed in; dropped because it did not read them
    bool gone = false;
    PerLink<Line> lines;
  };

  std::optional<Suspend> wait(std::uint32_t party, Line& line, SimTime at, const Request& request, Reply& reply);
  void bind(std::uint32_t party, SimTime at, const Request& request, Reply& reply);
  std::optional<Suspend> read(std::uint32_t party, Line& line, SimTime at, const Request& request, Reply& reply);
  void give(std::uint32_t party, const Line& line, SimTime at, Reply& reply);
  void sample(const Party& party, std::uint32_t index, const protocol::ItemList& list, SimTime at, Reply& reply);
  void write_all(std::uint32_t party, SimTime at, const Request& request, Reply& reply);
  void send(std::uint32_t party, SimTime at, const Request& request, Reply& reply);
  std::optional<Suspend> receive(std::uint32_t party, Line& line, SimTime at, const Request& request, Reply& reply);
  bool hand_over(std::uint32_t party, const Line& line, SimTime at, Reply& reply);
  void listen(Seat& seat, std::uint32_t from) const;
  void put_aside(std::uint32_t party, protocol::Letter letter);
  void wake_receivers(std::uint32_t party, std::uint32_t from, SimTime arrives);
  [[nodiscard]] bool belongs_to_another(std::uint32_t party, std::uint32_t correspondent) const;
  [[nodiscard]] protocol::Mailbox& mailbox_for(Seat& seat, std::uint32_t from) {
    return from == protocol::anybody || parties_[from].spec.program ? seat.mailbox : seat.from_outside;
  }
  void refuse(std::uint32_t party, SimTime at, const protocol::Refusal& refusal, Reply& reply);
  [[nodiscard]] std::uint32_t find(std::uint32_t party, std::string_view name) const;
  void tell(std::uint32_t party, Happening::Kind kind, SimTime at, std::uint32_t about = nobody,
            std::span<const std::byte> bytes = {}, SimTime stamp = {}) {
    house_.tell(party, kind, at, about, bytes, stamp);
  }

  Plant& plant_;
  House& house_;
  Trouble* trouble_ = nullptr;
  std::vector<Seat> parties_;
  std::vector<Effect> effects_;                // a heap
  std::vector<std::vector<std::byte>> spare_;  // memory of effects that are over
  std::uint64_t order_ = 0;
};

}  // namespace isochron::programs
