#include "agents/client.hpp"

#include "core/contained.hpp"

namespace isochron::agents {
namespace {

using namespace std::chrono_literals;
constexpr auto look_every = 20ms;  // of the keeper, while the simulation is away

}  // namespace

Client::Client(const link::Key& key, const ClientSettings& settings, const link::Faults& faults)
    : network_(reactor_, faults, settings.name), shared_(5ms), link_(network_, key, shared_, settings) {
  link_.set_waiting(true);
  link_.start();
  keeper_ = std::thread([this] { keep_alive(); });
}

Client::~Client() {
  ended_.store(true);
  keeper_.join();
  const std::lock_guard lock(running_);
  link_.leave();
  pump();
}

/// One round of the network: what is there is taken, what is due is done.
void Client::pump() {
  reactor_.call_at(reactor_.now(), [this] { reactor_.stop(); });
  reactor_.run();
}

/// Rounds that sleep until something comes; a timer bounds them, so that stop() is noticed.
void Client::run_until_news() {
  const auto timer = reactor_.call_at(reactor_.now() + WallSpan(10ms), [this] { reactor_.stop(); });
  link_.on_news([this] { reactor_.stop(); });
  reactor_.run();
  link_.on_news({});
  reactor_.cancel(timer);
}

void Client::keep_alive() {
  while (!ended_.load()) {
    std::this_thread::sleep_for(look_every);
    const std::unique_lock lock(running_, std::try_to_lock);
    if (lock.owns_lock()) contained("keeping an agent's link", [this] { pump(); });
  }
}

std::string Client::join(WallSpan limit) {
  const WallTime until = reactor_.now() + limit;
  const std::lock_guard lock(running_);
  while (!stop_.load()) {
    {
      const std::lock_guard inner(shared_.mutex);
      if (!shared_.failure.empty()) return shared_.failure;
      if (shared_.joined) {
        start_ = shared_.cache.minimum();
        return "";
      }
      if (reactor_.now() >= until) return shared_.trouble.empty() ? "no answer" : shared_.trouble;
    }
    run_until_news();
  }
  return "stopped";
}

SimSpan Client::heartbeat() {
  return look([](const StateCache& cache) { return cache.heartbeat(); });
}

std::uint32_t Client::add(const std::string& name, const Any& what, const std::string& state_type_url, double reach) {
  const std::lock_guard lock(shared_.mutex);
  return shared_.cache.add(name, what, state_type_url, reach);
}

void Client::withdraw(std::uint32_t agent) {
  const std::lock_guard lock(shared_.mutex);
  shared_.cache.withdraw(agent);
}

void Client::publish(std::uint32_t agent, SimTime t, const BodyState& body) {
  const std::lock_guard lock(shared_.mutex);
  shared_.cache.publish(agent, t, body);
}

void Client::publish(std::uint32_t agent, SimTime t, const Vec3& position, const Any& state) {
  const std::lock_guard lock(shared_.mutex);
  shared_.cache.publish(agent, t, position, state);
}

std::optional<Turn> Client::decided(SimTime t) {
  const std::lock_guard lock(shared_.mutex);
  if (!shared_.failure.empty()) return Turn{Turn::over, t, shared_.failure};
  if (stop_.load()) return Turn{Turn::over, t, "stopped"};
  if (shared_.cache.may_pass(t)) return Turn{Turn::go, t, ""};
  if (const auto begin = shared_.cache.begin_at()) return Turn{Turn::begin_at, *begin, ""};
  return std::nullopt;
}

Turn Client::pass(SimTime t) {
  const std::lock_guard lock(running_);
  {
    const std::lock_guard inner(shared_.mutex);
    shared_.cache.reached(t);
    link_.set_waiting(!shared_.cache.may_pass(t));
  }
  link_.flush();
  pump();
  auto turn = decided(t);
  if (!turn) {
    const WallTime began = reactor_.now();
    ++waits_;
    link_.set_waiting(true);
    while (!(turn = decided(t))) run_until_news();
    waited_ += reactor_.now() - began;
  }
  link_.set_waiting(turn->kind != Turn::go);
  return *turn;
}

LinkCounts Client::counts() {
  const std::lock_guard lock(running_);
  return link_.counts();
}

}  // namespace isochron::agents
