#include "apps/isochron/interrupts.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

namespace isochron::app {
namespace {

std::atomic<bool> came{false};
std::atomic<void (*)()> to_tell{nullptr};

void handle(int signal) {
  came.store(true);
  if (void (*told)() = to_tell.load()) told();
  std::signal(signal, SIG_DFL);
}

}  // namespace

void on_interrupt(void (*told)()) {
  to_tell.store(told);
  std::signal(SIGINT, handle);
  std::signal(SIGTERM, handle);
  if (std::signal(SIGHUP, handle) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // as nohup wants it
}

bool interrupted() { return came.load(); }

void wait_for_interrupt() {
  on_interrupt(nullptr);
  while (!interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

}  // namespace isochron::app
