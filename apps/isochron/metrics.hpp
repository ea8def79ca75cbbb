#pragma once
// `run --metrics PORT`: how far a run is, as Prometheus reads it, over HTTP on this machine while it goes on.
//
//     isochron_simulated_seconds{scenario="ships"} 12.3
//
// Threads: one of its own, which sleeps unless somebody asks. Fails: InputError if the port is taken.

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "run/run.hpp"

namespace isochron::app {

class Metrics {
 public:
  /// Port 0: any that is free.
  Metrics(std::uint16_t port, const Scenario& scenario, const RunWatch& watch);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// What is served.
  [[nodiscard]] std::string text() const;

 private:
  void serve();
  void answer(int client) const;

  std::string scenario_, mode_;
  double duration_s_;
  const RunWatch& watch_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int socket_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace isochron::app
