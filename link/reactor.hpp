#pragma once
// The real Reactor: epoll, a timerfd and an eventfd on one thread, TCP without Nagle's delay, UDP in batches. What is
// written against core/network.hpp runs on it, and on the simulated one (testing/reactor.hpp), unchanged.
//
// It is also the clock of its callbacks: now() is CLOCK_MONOTONIC, the clock that its timers are set on.
//
// Promises: a stream, listener or port may be destroyed inside any callback, its own included.
//           A TCP peer that does not acknowledge for 20 s ends its stream with `unreachable`.
// Requires: run() by one thread at a time; everything else but post() and stop() on that thread, or while none runs.
// Cost:     in steady state no heap for datagrams, timers and received bytes; pending bytes are buffered as needed.
//           4 MB of receive buffers in all, of which only what datagrams fill is ever touched.
// Fails:    run() keeps going whatever peers do; the constructor throws std::system_error without descriptors left.

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "core/network.hpp"
#include "link/fd.hpp"
#include "link/timers.hpp"

struct epoll_event;

namespace isochron::link {

struct DatagramBatch;

/// Something that epoll watches for the reactor.
class Source {
 public:
  virtual ~Source() = default;
  virtual void ready(std::uint32_t events) = 0;
};

/// Destroying it ends the watch.
class Watch {
 public:
  virtual ~Watch() = default;
};

class EpollReactor final : public Reactor {
 public:
  struct Options {
    WallSpan spin{};               // poll for so long before going to sleep: saves the wake-up, costs the CPU
    int receive_buffer = 4 << 20;  // bytes that the kernel holds for each datagram port
  };
  EpollReactor() : EpollReactor(Options{}) {}
  explicit EpollReactor(const Options& options);
  ~EpollReactor() override;
  EpollReactor(const EpollReactor&) = delete;
  EpollReactor& operator=(const EpollReactor&) = delete;

  [[nodiscard]] WallTime now() override;
  TimerId call_at(WallTime t, std::function<void()> what) override { return timers_.add(t, std::move(what)); }
  void cancel(TimerId timer) override { timers_.cancel(timer); }
  void post(std::function<void()> what) override;
  Result<std::unique_ptr<Listener>, NetError> listen(const Address& at,
                                                     std::function<void(std::unique_ptr<Stream>)> on_accept) override;
  std::unique_ptr<Stream> connect(const Address& to) override;
  Result<std::unique_ptr<DatagramPort>, NetError> open_datagrams(const Address& at) override;
  void run() override;
  bool poll(WallTime until) override;
  void stop() override;

  /// Calls `on_readable` whenever a descriptor of the caller's (a pidfd, signalfd, pipe) has something to read.
  [[nodiscard]] std::unique_ptr<Watch> watch(int fd, std::function<void()> on_readable);

  // For the sockets of this layer:

  /// What epoll is to report about fd; none = forget it. `known` says what it reports now.
  void set_interest(int fd, Source& source, std::uint32_t known, std::uint32_t wanted);
  /// Keeps it until no callback of this round can be inside it any more.
  void bury(std::shared_ptr<void> dead) { graveyard_.push_back(std::move(dead)); }
  [[nodiscard]] std::span<std::byte> read_buffer() { return read_buffer_; }
  [[nodiscard]] DatagramBatch& datagram_batch() { return *batch_; }
  [[nodiscard]] const Options& options() const { return options_; }
  void count_object(int change) { objects_ += change; }

 private:
  bool run_posted();
  void arm_timer();
  void wait_and_dispatch();
  bool dispatch(std::span<const epoll_event> events);
  void wake();
  void empty_graveyard();

  Options options_;
  Fd epoll_, timer_, wake_;
  Timers timers_;
  WallTime armed_ = WallTime::never();
  std::vector<std::byte> read_buffer_;
  std::unique_ptr<DatagramBatch> batch_;
  std::vector<std::shared_ptr<void>> graveyard_, burying_;  // shared: whatever kind of thing is dead
  int objects_ = 0;

  std::mutex mutex_;  // guards posted_
  std::vector<std::function<void()>> posted_;
  std::vector<std::function<void()>> running_;
  std::atomic<bool> has_posted_ = false;  // so that a round without posts takes no lock
  std::atomic<bool> stop_ = false;
  std::atomic<std::thread::id> thread_{};  // the one in run()
};

}  // namespace isochron::link
