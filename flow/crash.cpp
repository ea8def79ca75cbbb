#include "flow/crash.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>

#include "flow/futex.hpp"

namespace isochron::flow {
namespace {

constexpr std::uint32_t no_node = UINT32_MAX;
constexpr std::array signals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr std::size_t stack_bytes = 64 * 1024;
constexpr unsigned seconds_to_finish = 10;

thread_local std::uint32_t running = no_node;
std::atomic<std::atomic<std::uint32_t>*> bell{nullptr};
std::atomic<std::uint32_t> crashed_node{no_node};
std::atomic<int> crashed_by{0};
std::array<struct sigaction, signals.size()> before;

/// Only what is allowed in a signal handler.
void crashed(int signal) {
  std::atomic<std::uint32_t>* const who_waits = bell.load();
  std::uint32_t none = no_node;
  if (running == no_node || who_waits == nullptr) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
  if (crashed_node.compare_exchange_strong(none, running)) {
    crashed_by.store(signal);
    alarm(seconds_to_finish);
    who_waits->fetch_add(1);
    futex_wake(*who_waits);
  }
  while (true) pause();
}

}  // namespace

void node_runs(std::uint32_t node) { running = node; }

SignalStack::SignalStack()
    : memory_(mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
  stack_t stack{};
  stack.ss_sp = memory_;
  stack.ss_size = stack_bytes;
  if (memory_ != MAP_FAILED) sigaltstack(&stack, nullptr);
}

SignalStack::~SignalStack() {
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
  if (memory_ != MAP_FAILED) munmap(memory_, stack_bytes);
}

CrashWatch::CrashWatch(std::atomic<std::uint32_t>& rings) {
  std::atomic<std::uint32_t>* nobody = nullptr;
  first_ = bell.compare_exchange_strong(nobody, &rings);
  if (!first_) return;
  crashed_node.store(no_node);
  crashed_by.store(0);
  struct sigaction action {};
  action.sa_handler = &crashed;
  action.sa_flags = SA_ONSTACK;
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &action, &before[i]);
}

CrashWatch::~CrashWatch() {
  if (!first_) return;
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before[i], nullptr);
  bell.store(nullptr);
}

std::optional<CrashWatch::Crash> CrashWatch::crash() const {
  const int by = first_ ? crashed_by.load() : 0;
  if (by == 0) return std::nullopt;
  return Crash{crashed_node.load(), std::string("it crashed: ") + strsignal(by)};
}

}  // namespace isochron::flow
