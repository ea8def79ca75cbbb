#pragma once
// Handlers on threads of their own, for servers with cores to spare: the reactor's thread hands each datagram to the
// handler that has its session, by a ring; what passes comes back over one ring that all handlers write, and the
// reactor's thread is told. A client always has the same handler, so that its replay window needs no lock.
//
// Threads: all calls from the reactor's thread; `on_results` is called from handlers.
// Cost:    a datagram is copied once; no allocation in steady state. Fails: full rings drop and count, as networks do.

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "agents/handler.hpp"
#include "agents/wire.pb.h"
#include "rt/multi_producer_ring.hpp"
#include "rt/ring.hpp"

namespace isochron::agents {

class HandlerPool {
 public:
  struct Result {
    Connection connection = 0;
    bool newest = false;
    Address from{};
    wire::RawUp up;
  };
  HandlerPool(unsigned threads, const HandlerLimits& limits, std::function<void()> on_results);
  ~HandlerPool();
  HandlerPool(const HandlerPool&) = delete;
  HandlerPool& operator=(const HandlerPool&) = delete;

  void add(Connection connection, const std::array<std::byte, 16>& key, std::size_t longest);
  void remove(Connection connection);
  void hand_out(std::span<const Datagram> datagrams, WallTime now);
  /// Calls f(result) for everything that passed since.
  template <class F>
  void drain(F&& f) {
    told_.store(false, std::memory_order_release);
    while (Result* result = results_.peek()) {
      f(*result);
      results_.flush();
    }
  }
  [[nodiscard]] Counts counts() const;

 private:
  struct Packet {
    Address from{};
    WallTime now{};
    std::size_t size = 0;
    std::array<std::byte, largest_local_datagram + 1> bytes{};  // one more, so that the oversized are seen as such
  };
  struct Worker {
    explicit Worker(const HandlerLimits& limits) : handler(limits) {}
    mutable std::mutex mutex;  // guards handler
    Handler handler;
    rt::Ring<Packet> packets{1024};
    std::atomic<std::uint32_t> news{0};
    std::thread thread;
  };
  Worker& worker_of(Connection connection) const;
  void work(Worker& worker);
  void handle(Worker& worker, const Packet& packet);

  std::function<void()> on_results_;
  rt::MultiProducerRing<Result> results_{4096};
  std::atomic<bool> told_{false};
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> full_{0};
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace isochron::agents
