#pragma once
// Where requests of targets are done, at their time: variables are found, read and written, messages handed over,
// releases counted. It knows neither sockets nor clocks; hil/server.hpp decides when, with hil/sync.hpp.
//
// Promises: a write acts from the first step that begins at or after its time. A message from one target reaches
//           another one nanosecond after it was sent, so that the order among targets is never in doubt.
// Requires: act() and wake() in the order of simulated time.
// Fails:    whatever a target asks, it gets an answer or a sentence; nothing it says harms the others.
// Threads:  the server's.

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/plant.hpp"
#include "core/releases.hpp"
#include "hil/observer.hpp"
#include "hil/options.hpp"
#include "link/mailbox.hpp"
#include "link/plant_access.hpp"
#include "link/target_wire.hpp"

namespace isochron::hil {

struct TargetSpec {
  std::string name;   // "uav/pilot"
  std::string robot;  // "uav"
  ReleaseTerms times;
  std::string to;           // where send("") goes
  std::uint32_t links = 8;  // threads of it that may talk
  OnLoss on_loss = OnLoss::pause;
};

struct Reply {
  protocol::Verdict verdict = protocol::Verdict::ok;
  std::uint32_t index = 0;
  std::int64_t number = 0;
  SimTime stamp;
  std::string name, type;

  [[nodiscard]] std::span<const std::byte> payload() const { return std::span(memory_).first(size_); }
  /// Room for a payload of this size; its bytes are to be written.
  std::span<std::byte> room(std::size_t size) {
    if (memory_.size() < size) memory_.resize(size);
    size_ = size;
    return std::span(memory_).first(size);
  }
  void cut(std::size_t size) { size_ = std::min(size_, size); }
  void fill(std::span<const std::byte> bytes) { std::copy(bytes.begin(), bytes.end(), room(bytes.size()).begin()); }
  /// As new, but the payload's memory stays: pictures are large.
  void reset() {
    verdict = protocol::Verdict::ok;
    index = 0;
    number = 0;
    stamp = SimTime::zero();
    name.clear();
    type.clear();
    size_ = 0;
  }

 private:
  std::vector<std::byte> memory_;
  std::size_t size_ = 0;
};

/// Figures of one target for the report.
struct TargetFigures {
  std::uint64_t activations = 0, overruns = 0, missed = 0;
  std::uint64_t reads = 0, writes = 0, sent = 0, received = 0;
  std::uint64_t fault_count = 0;
  std::vector<std::string> faults;  // the first of them, as sentences
};

class Desk {
 public:
  /// `on_message(link, at)`: a link that waits for a message may go on at `at`.
  Desk(Plant& plant, std::vector<TargetSpec> targets, Observer& observer,
       std::function<void(LinkId, SimTime)> on_message);

  [[nodiscard]] const std::vector<TargetSpec>& targets() const { return targets_; }
  [[nodiscard]] const TargetFigures& figures(std::uint32_t target) const { return figures_[target]; }

  void open(LinkId link, std::uint32_t target);
  void close(LinkId link);

  struct Suspend {
    SimTime until;
    bool receiving = false;
  };
  /// Does what is asked at `at`: fills the reply, or says until when the link waits; then wake() fills it.
  std::optional<Suspend> act(LinkId link, SimTime at, const wire::Request& request, Reply& reply);
  void wake(LinkId link, SimTime at, Reply& reply);

  /// Hands the world what was written up to `begin`, where its next step starts.
  void before_step(SimTime begin);
  void fault(std::uint32_t target, SimTime at, const std::string& what);
  void started(std::uint32_t target, SimTime at) { tell(target, What::start, at); }
  void ended(std::uint32_t target, SimTime at, const std::string& how);

 private:
  struct Effect {
    SimTime at;
    std::uint32_t variable;
    std::vector<std::byte> bytes;
  };
  enum class Waits : std::uint8_t { none, release, until, reading, message };
  struct Line {  // one link
    std::uint32_t target = nothing;
    Waits waits = Waits::none;
    Releases releases;
    std::uint32_t variable = 0;  // reading; or `several`
    protocol::ItemList variables;
    std::uint32_t from = nothing;
    std::string type;
    std::size_t capacity = 0;
  };

  std::optional<Suspend> wait(Line& line, SimTime at, const wire::Request& request, Reply& reply);
  void bind(Line& line, SimTime at, const wire::Request& request, Reply& reply);
  std::optional<Suspend> read(Line& line, SimTime at, const wire::Request& request, Reply& reply);
  void give(Line& line, SimTime at, Reply& reply);
  void write(Line& line, SimTime at, const wire::Request& request, Reply& reply);
  void send(Line& line, SimTime at, const wire::Request& request, Reply& reply);
  std::optional<Suspend> receive(Line& line, SimTime at, const wire::Request& request, Reply& reply);
  bool hand_over(Line& line, SimTime at, Reply& reply);
  void refuse(Line& line, SimTime at, const protocol::Refusal& refusal, Reply& reply);
  [[nodiscard]] std::uint32_t find_target(const Line& line, std::string_view name) const;
  void tell(std::uint32_t target, What what, SimTime at, std::uint32_t about = nothing,
            std::span<const std::byte> bytes = {}, SimTime stamp = SimTime::zero());

  Plant& plant_;
  std::vector<TargetSpec> targets_;
  Observer& observer_;
  std::function<void(LinkId, SimTime)> on_message_;
  std::vector<TargetFigures> figures_;
  std::vector<protocol::Mailbox> mailboxes_;  // by target
  std::map<LinkId, Line> lines_;
  std::deque<Effect> effects_;
  std::uint64_t letters_ = 0;
};

}  // namespace isochron::hil
