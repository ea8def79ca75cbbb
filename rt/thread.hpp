#pragma once
// A thread that has all its settings before its body begins.
//
//     rt::Thread loop({.name = "control", .cpus = {1}}, [&](std::stop_token stop) { while (!stop.stop_requested()) …
//     }); std::cerr << to_string(loop.weaker());
//
// Promises: the body starts after the settings are applied, and not before settings.start.
// Requires: the body throws nothing (it would end the program).
// Threads:  owned by the thread that made it.
// Cost:     allocates and blocks for the new thread's set-up, in the constructor; then nothing.
// Fails:    missing privileges: weaker() lists them, and the body runs all the same. With settings.insist the
//           constructor throws Insisted instead, and the body never runs.

#include <functional>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <system_error>
#include <utility>

#include "rt/futex.hpp"
#include "rt/thread_settings.hpp"

namespace isochron::rt {

/// Real-time properties were insisted on and are not to be had.
class Insisted : public std::runtime_error {
 public:
  explicit Insisted(std::vector<Weaker> weaker)
      : std::runtime_error("cannot run as real-time thread:\n" + to_string(weaker)), weaker_(std::move(weaker)) {}
  [[nodiscard]] const std::vector<Weaker>& weaker() const { return weaker_; }

 private:
  std::vector<Weaker> weaker_;
};

class Thread {
 public:
  Thread() = default;
  /// body is callable without arguments or with a std::stop_token.
  template <class Body>
  Thread(ThreadSettings settings, Body body) : state_(std::make_unique<State>()) {
    state_->settings = std::move(settings);
    if constexpr (std::is_invocable_v<Body, std::stop_token>) {
      state_->body = [body = std::move(body), stop = state_->stop.get_token()]() mutable { body(stop); };
    } else {
      state_->body = std::move(body);
    }
    launch();
  }
  ~Thread() {
    request_stop();
    join();
  }
  Thread(Thread&&) noexcept = default;
  Thread& operator=(Thread&& other) noexcept {
    if (this != &other) {
      request_stop();
      join();
      state_ = std::move(other.state_);
    }
    return *this;
  }

  void request_stop() {
    if (state_) state_->stop.request_stop();
  }
  /// Waits for the body to end. Once joined, and for an empty Thread, it does nothing.
  void join() {
    if (state_ && !std::exchange(state_->joined, true)) pthread_join(state_->handle, nullptr);
  }
  /// What the thread was asked to have and does not.
  [[nodiscard]] const std::vector<Weaker>& weaker() const { return state_->weaker; }
  [[nodiscard]] pthread_t native_handle() const { return state_->handle; }

 private:
  enum Phase : std::uint32_t { setting_up, ready, go, cancelled };
  struct State {
    ThreadSettings settings;
    std::function<void()> body;
    std::stop_source stop;
    std::vector<Weaker> weaker;
    FutexWord phase{setting_up};
    pthread_t handle{};
    bool joined = true;
  };

  void launch() {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    const int sized = pthread_attr_setstacksize(&attributes, state_->settings.stack_bytes);
    const int error = sized != 0 ? sized : pthread_create(&state_->handle, &attributes, &Thread::run, state_.get());
    pthread_attr_destroy(&attributes);
    if (error != 0) throw std::system_error(error, std::generic_category(), "cannot start a thread");
    state_->joined = false;
    wait_while(state_->phase, setting_up);
    const bool refuse = state_->settings.insist && !state_->weaker.empty();
    move_on(*state_, refuse ? cancelled : go);
    if (refuse) {
      join();
      throw Insisted(state_->weaker);
    }
  }

  static void move_on(State& state, Phase phase) {
    state.phase.store(phase, std::memory_order_release);
    futex_wake(state.phase);
  }

  static void* run(void* argument) {
    auto& state = *static_cast<State*>(argument);
    state.weaker = apply_to_this_thread(state.settings);
    move_on(state, ready);
    if (wait_while(state.phase, ready) == cancelled) return nullptr;
    if (state.settings.start) wait_until(*state.settings.start);
    state.body();
    return nullptr;
  }

  std::unique_ptr<State> state_;
};

}  // namespace isochron::rt
