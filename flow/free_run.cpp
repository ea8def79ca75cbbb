// Free running: what robots' simulations do without time management. Every node has a thread, emits at its own stamps
// as fast as it can (or as the observer's pace lets it), and takes whatever values happen to be the latest. Events
// arrive when they are sent. Results depend on luck; the tests and the report measure how much.

#include <algorithm>
#include <mutex>
#include <random>
#include <thread>

#include "flow/crash.hpp"
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
    for (std::uint32_t n = 0; n < system.node_count(); ++n) talkers_ += has_rhythm(system.node(n)) ? 1 : 0;
    for (const Connection& connection : system.graph().connections) {
      source_[connection.input] = flow_of_[connection.output];
    }
  }

  FlowOutcome run() {
    std::vector<std::thread> threads;
    for (std::uint32_t n = 0; n < system_.node_count(); ++n) threads.emplace_back([this, n] { live(n); });
    for (std::thread& thread : threads) thread.join();
    outcome_.complete = outcome_.failures.empty() && !cancelled();
    for (const auto& latest : latest_) {
      outcome_.flow_digests.push_back(latest->digest);
      outcome_.digest = mix(outcome_.digest, latest->digest);
      outcome_.messages += latest->count;
    }
    return std::move(outcome_);
  }

 private:
  /// What a flow showed last. Its source fills `made` and then shows it.
  struct Latest {
    explicit Latest(const PayloadType& payload_type)
        : type(payload_type), made(new_payload(type)), shown(new_payload(type)) {}
    ~Latest() {
      delete_payload(type, made);
      delete_payload(type, shown);
    }
    const PayloadType& type;
    void* made;
    std::mutex mutex;
    void* shown;
    SimTime time;
    std::uint64_t count = 0;
    std::uint64_t digest = 0;
  };
  struct Seen {  // one input's copy of the latest
    InPort* port;
    Latest* from;
    std::uint64_t count = 0;
    void* value;
    std::vector<std::byte> bytes;  // for translation, where the two keep messages in different ways
  };

  static bool has_rhythm(const UserNode& user) {
    return std::any_of(user.outputs_.begin(), user.outputs_.end(),
                       [](const OutPort& port) { return port.emit != nullptr; });
  }

  [[nodiscard]] bool cancelled() const {
    return failed_.load(std::memory_order_relaxed) || (options_.cancel != nullptr && options_.cancel->load());
  }

  void live(std::uint32_t n) {
    const SignalStack stack;
    node_runs(n);
    UserNode& user = system_.node(n);
    std::vector<Seen> seen;
    for (std::uint32_t i = 0; i < user.inputs_.size(); ++i) {
      Latest* from = latest_[source_.at({n, i})].get();
      seen.push_back({&user.inputs_[i], from, 0, new_payload(*user.inputs_[i].info.type), {}});
    }
    std::vector<std::unique_ptr<Hold>> holds = make_holds(n, user);
    try {
      step_all(n, user, seen);
      user.finish(options_.until);
    } catch (const std::exception& error) {
      failed_.store(true);
      const std::lock_guard lock(mutex_);
      outcome_.failures.push_back({system_.graph().nodes[n].name, error.what(), {}});
    }
    for (OutPort& port : user.outputs_) port.hold = nullptr;
    for (Seen& input : seen) {
      input.port->latest = nullptr;
      delete_payload(*input.port->info.type, input.value);
    }
  }

  std::vector<std::unique_ptr<Hold>> make_holds(std::uint32_t n, UserNode& user) {
    std::vector<std::unique_ptr<Hold>> holds;
    for (OutPort& port : user.outputs_) {
      if (port.emit != nullptr) continue;
      const std::string name = system_.graph().nodes[n].name + "." + port.info.name;
      holds.push_back(std::make_unique<Hold>(*port.info.type, name, options_.hold_limit));
      port.hold = holds.back().get();
    }
    return holds;
  }

  void step_all(std::uint32_t n, UserNode& user, std::vector<Seen>& seen) {
    std::vector<SimTime> next;
    for (const OutPort& port : user.outputs_) {
      next.push_back(port.emit == nullptr ? SimTime::never() : port.info.first);
    }
    std::minstd_rand random(static_cast<std::uint32_t>(options_.disturb + n));
    user.start(system_.graph().start);
    send_events(n, user);
    const bool only_hears = !has_rhythm(user);
    while (!cancelled()) {
      const auto least = std::min_element(next.begin(), next.end());
      if (only_hears ? heard_all(seen) : *least >= options_.until) break;
      for (Seen& input : seen) look(user, input);
      if (only_hears) {
        send_events(n, user);
        std::this_thread::yield();
        continue;
      }
      *least = emit({n, static_cast<std::uint32_t>(least - next.begin())}, user, *least);
      send_events(n, user);
      if (options_.disturb != 0 && random() % 16 == 0) std::this_thread::yield();
    }
    if (!only_hears) talkers_.fetch_sub(1);
  }

  /// A node without a rhythm of its own ends when those with one have ended and it has seen their last words.
  bool heard_all(const std::vector<Seen>& seen) {
    if (talkers_.load() > 0) return false;
    return std::all_of(seen.begin(), seen.end(), [](const Seen& input) {
      const std::lock_guard lock(input.from->mutex);
      return input.count == input.from->count;
    });
  }

  static void look(UserNode& user, Seen& input) {
    SimTime time;
    {
      const std::lock_guard lock(input.from->mutex);
      if (input.count == input.from->count) return;
      input.count = input.from->count;
      time = input.from->time;
      take_over(input);
    }
    input.port->latest = input.value;
    input.port->latest_time = time;
    user.now_ = time;
    if (input.port->consume != nullptr) input.port->consume(user, *input.port, input.value, time);
  }

  static void take_over(Seen& input) {
    const PayloadType& from = input.from->type;
    const PayloadType& to = *input.port->info.type;
    if (from.memory == to.memory) return to.assign(input.value, input.from->shown);
    input.bytes.resize(from.encoded_size(input.from->shown));
    from.encode(input.from->shown, input.bytes);
    if (!to.decode(input.value, input.bytes)) throw std::runtime_error("the bytes are not a " + to.name);
  }

  SimTime emit(PortRef at, UserNode& user, SimTime time) {
    OutPort& port = user.outputs_[at.port];
    Latest& latest = *latest_[flow_of_.at(at)];
    port.next = time + port.info.period;
    user.now_ = time;
    port.emit(user, port, latest.made, time);
    show(at, latest, latest.made, time, port.next);
    return port.next;
  }

  /// Events arrive at once, whatever their time: nobody waits for anybody here.
  void send_events(std::uint32_t n, UserNode& user) {
    for (std::uint32_t p = 0; p < user.outputs_.size(); ++p) {
      Hold* hold = user.outputs_[p].hold;
      if (hold == nullptr) continue;
      for (; hold->first() < options_.until; hold->turn(), hold->gone(hold->outbox_end())) {
        show({n, p}, *latest_[flow_of_.at({n, p})], hold->first_payload(), hold->first(), hold->first());
      }
    }
  }

  void show(PortRef at, Latest& latest, const void* value, SimTime time, SimTime next) {
    if (options_.observer != nullptr) options_.observer->sent({flow_of_.at(at), time, next, &latest.type, value});
    const std::lock_guard lock(latest.mutex);
    latest.type.assign(latest.shown, value);
    latest.time = time;
    ++latest.count;
    latest.digest = latest.type.digest(mix(latest.digest, static_cast<std::uint64_t>(time.ns())), value);
  }

  System& system_;
  const Options& options_;
  std::map<PortRef, std::uint32_t> flow_of_;
  std::map<PortRef, std::uint32_t> source_;  // input -> flow
  std::vector<std::unique_ptr<Latest>> latest_;
  std::atomic<std::int64_t> talkers_{0};  // nodes with a rhythm of their own that have not ended
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  FlowOutcome outcome_;
};

FlowOutcome run_free(System& system, const Options& options) { return FreeRun(system, options).run(); }

}  // namespace isochron::flow
