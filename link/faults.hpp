#pragma once
// A bad network on purpose: a Reactor through which datagrams are lost, delayed, doubled and reordered, and streams are
// as slow as TCP is on such a link, both ways, by a seed. It wraps a real one, so that a scenario can be tried over a
// link like the one it will have.
//
//     --loss 5% --delay 20ms±5 --reorder
//
// A stream loses nothing: what a datagram would not survive comes later by `resend`, and all that is behind it waits.
//
// Promises: one seed and one sequence of datagrams or sends give one sequence of faults. Without `reorder` the
//           datagrams that arrive do so in order, however their delays vary.
// Requires: as any Reactor; destroyed before the one it wraps.
// Threads:  the reactor's. Cost: a copy and a timer for each delayed datagram or send; nothing if there are no faults.

#include <memory>
#include <string>
#include <string_view>

#include "core/network.hpp"
#include "core/random.hpp"
#include "core/result.hpp"

namespace isochron::link {

struct Faults {
  double loss = 0;       // share of datagrams, each way
  double duplicate = 0;  // share that comes twice
  WallSpan delay{};      // each way, ± jitter
  WallSpan jitter{};
  bool reorder = false;  // one in ten is held back behind those that follow
  std::uint64_t seed = 1;
  WallSpan resend = std::chrono::milliseconds(200);  // streams: the least that Linux waits before it sends again
  [[nodiscard]] bool any() const {
    return loss > 0 || duplicate > 0 || delay > WallSpan::zero() || jitter > WallSpan::zero() || reorder;
  }
};

/// "5%", "0.05". Fails: a sentence that says what would be right.
Result<double, std::string> parse_share(std::string_view text);
/// "20ms", "20ms±5", "20ms+-5ms": delay and jitter.
Result<std::pair<WallSpan, WallSpan>, std::string> parse_delay(std::string_view text);

class FaultyReactor final : public Reactor {
 public:
  /// Where both ends of a stream are told of the same faults, only the one that connects applies them.
  enum class Streams { all, connected };
  /// `name` keeps the chance of several links apart.
  FaultyReactor(Reactor& inner, const Faults& faults, std::string name, Streams streams = Streams::all);

  [[nodiscard]] WallTime now() override { return inner_.now(); }
  TimerId call_at(WallTime t, std::function<void()> what) override { return inner_.call_at(t, std::move(what)); }
  void cancel(TimerId timer) override { inner_.cancel(timer); }
  void post(std::function<void()> what) override { inner_.post(std::move(what)); }
  Result<std::unique_ptr<Listener>, NetError> listen(const Address& at,
                                                     std::function<void(std::unique_ptr<Stream>)> on_accept) override;
  std::unique_ptr<Stream> connect(const Address& to) override;
  Result<std::unique_ptr<DatagramPort>, NetError> open_datagrams(const Address& at) override;
  void run() override { inner_.run(); }
  bool poll(WallTime until) override { return inner_.poll(until); }
  void stop() override { inner_.stop(); }

 private:
  std::unique_ptr<Stream> worsened(std::unique_ptr<Stream> stream);
  std::string next_name();

  Reactor& inner_;
  Faults faults_;
  std::string name_;
  Streams streams_;
  std::uint64_t opened_ = 0;
};

}  // namespace isochron::link
