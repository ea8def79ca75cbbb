// Free running: what robots' simulations do without time management. Every node has a thread, emits at its own stamps
// as fast as it can, and takes whatever values happen to be the latest. Results depend on luck; the tests measure how
// much.

#include <mutex>
#include <random>
#include <thread>

#include "flow/executor.hpp"

namespace isochron::flow {

class FreeRun {
 public:
  FreeRun(System& system, const Options& options) : system_(system), options_(options) {
    for (const PortRef port : system.flows()) {
      flow_of_[port] = static_cast<std::uint32_t>(latest_.size());
      const PayloadType& type = *system.graph().nodes[port.node].outputs[port.port].type;
      latest_.push_back(std::make_unique<Latest>(type));
    }
    for (const Connection& connection : system.graph().connections) {
      source_[connection.input] = flow_of_[connection.output];
    }
  }

  Outcome run() {
    std::vector<std::thread> threads;
    for (std::uint32_t n = 0; n < system_.node_count(); ++n) threads.emplace_back([this, n] { live(n); });
    for (std::thread& thread : threads) thread.join();
    outcome_.complete = outcome_.failures.empty();
    for (const auto& latest : latest_) {
      outcome_.flow_digests.push_back(latest->digest);
      outcome_.digest = mix(outcome_.digest, latest->digest);
      outcome_.messages += latest->count;
    }
    return std::move(outcome_);
  }

 private:
  struct Latest {
    explicit Latest(const PayloadType& payload_type) : type(payload_type), value(new_payload(type)) {}
    ~Latest() { delete_payload(type, value); }
    const PayloadType& type;
    std::mutex mutex;
    void* value;
    SimTime time;
    std::uint64_t count = 0;
    std::uint64_t digest = 0;
  };
  struct Seen {  // one input's copy of the latest
    InPort* port;
    Latest* from;
    std::uint64_t count = 0;
    void* value;
  };

  void live(std::uint32_t n) {
    UserNode& user = system_.node(n);
    std::vector<Seen> seen;
    for (std::uint32_t i = 0; i < user.inputs_.size(); ++i) {
      Latest* from = latest_[source_.at({n, i})].get();
      seen.push_back({&user.inputs_[i], from, 0, new_payload(from->type)});
    }
    try {
      step_all(n, user, seen);
    } catch (const std::exception& error) {
      const std::lock_guard lock(mutex_);
      outcome_.failures.push_back({system_.graph().nodes[n].name, error.what(), {}});
    }
    for (Seen& input : seen) {
      input.port->latest = nullptr;
      delete_payload(input.from->type, input.value);
    }
  }

  void step_all(std::uint32_t n, UserNode& user, std::vector<Seen>& seen) {
    std::vector<SimTime> next;
    for (const OutPort& port : user.outputs_) {
      if (port.emit == nullptr) throw std::runtime_error("event flows cannot run free");
      next.push_back(port.info.first);
    }
    std::minstd_rand random(static_cast<std::uint32_t>(options_.disturb + n));
    user.start(system_.graph().start);
    while (!next.empty()) {
      const auto least = std::min_element(next.begin(), next.end());
      if (*least >= options_.until) break;
      for (Seen& input : seen) look(user, input);
      const auto port = static_cast<std::uint32_t>(least - next.begin());
      *least = emit({n, port}, user, *least);
      if (options_.disturb != 0 && random() % 16 == 0) std::this_thread::yield();
    }
    user.finish(options_.until);
  }

  static void look(UserNode& user, Seen& input) {
    SimTime time;
    {
      const std::lock_guard lock(input.from->mutex);
      if (input.count == input.from->count) return;
      input.count = input.from->count;
      time = input.from->time;
      input.from->type.assign(input.value, input.from->value);
    }
    input.port->latest = input.value;
    input.port->latest_time = time;
    if (input.port->consume != nullptr) input.port->consume(user, *input.port, input.value, time);
  }

  SimTime emit(PortRef at, UserNode& user, SimTime time) {
    OutPort& port = user.outputs_[at.port];
    Latest& latest = *latest_[flow_of_.at(at)];
    port.next = time + port.info.period;
    user.now_ = time;
    const std::lock_guard lock(latest.mutex);
    port.emit(user, port, latest.value, time);
    latest.time = time;
    ++latest.count;
    latest.digest = latest.type.digest(mix(latest.digest, static_cast<std::uint64_t>(time.ns())), latest.value);
    return port.next;
  }

  System& system_;
  const Options& options_;
  std::map<PortRef, std::uint32_t> flow_of_;
  std::map<PortRef, std::uint32_t> source_;  // input -> flow
  std::vector<std::unique_ptr<Latest>> latest_;
  std::mutex mutex_;
  Outcome outcome_;
};

Outcome run_free(System& system, const Options& options) { return FreeRun(system, options).run(); }

}  // namespace isochron::flow
