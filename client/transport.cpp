#include "client/transport.hpp"

#include <pthread.h>

#include <cstring>

#include "client/direct.hpp"
#include "client/shared_link.hpp"

namespace isochron::client {

namespace {

SharedLink& shared() {
  static SharedLink link;  // one for the process: a forked child closes it
  return link;
}

/// Looks at the answer before sleeping. On the wall clock what waits sleeps at once, and what is answered at once is
/// worth looking for: waking a core costs more than most answers take.
std::uint32_t patience_for(const protocol::Exchange& exchange) {
  const protocol::Pages& pages = *shared().pages();
  if (pages.board.open.load(std::memory_order_relaxed) == 0) return pages.patience.load(std::memory_order_relaxed);
  const auto ask = static_cast<protocol::Ask>(exchange.ask);
  const bool waits = ask == protocol::Ask::wait || (ask == protocol::Ask::receive && exchange.time > 0);
  return waits ? 0 : pages.board.patience.load(std::memory_order_relaxed);
}

/// On the wall clock: when this thread was done, however long it takes until that is seen. 0 in other modes.
std::int64_t time_of_asking() {
  protocol::Pages& pages = *shared().pages();
  return pages.board.open.load(std::memory_order_relaxed) == 0 ? 0 : look_at_clock(pages.clock);
}

class SharedMemory final : public Transport {
 public:
  bool ask(protocol::Exchange& exchange, const Payload& payload, std::string& why) override {
    if (!shared().is_open()) {
      why = "a forked child cannot speak for the program; attach in the process that the coordinator started";
      return false;
    }
    protocol::Link* link = shared().mine();
    if (link == nullptr) {
      why =
          "more threads talk to Isochron than the " + std::to_string(protocol::links_max) + " that a program may have";
      return false;
    }
    if (do_directly(*shared().pages(), *link, exchange, payload)) return true;
    link->exchange = exchange;
    link->exchange.size = static_cast<std::uint32_t>(payload.out_size);
    if (payload.out_size > 0) std::memcpy(link->payload, payload.out, payload.out_size);
    link->exchange.stamp = time_of_asking();
    shared().ask(*link, patience_for(exchange));
    exchange = link->exchange;
    if (exchange.size > protocol::payload_max) exchange.size = 0;
    const std::size_t size = std::min<std::size_t>(exchange.size, payload.in_capacity);
    if (size > 0) std::memcpy(payload.in, link->payload, size);
    if (exchange.verdict > static_cast<std::uint32_t>(protocol::Verdict::ended)) {
      why.assign(reinterpret_cast<const char*>(link->payload), exchange.size);
    }
    return true;
  }
  std::int64_t now() override { return shared().is_open() ? shared().now() : 0; }
};

}  // namespace

std::unique_ptr<Transport> open_shared_memory(const char* descriptors, std::string& why) {
  if (!shared().is_open()) {
    if (const char* wrong = shared().open(descriptors)) {
      why = wrong;
      return nullptr;
    }
    pthread_atfork(nullptr, nullptr, [] { shared().close_after_fork(); });
  }
  return std::make_unique<SharedMemory>();
}

std::unique_ptr<Transport> open_transport(const char* address, std::string& why) {
  if (std::strncmp(address, "shm:", 4) == 0) return open_shared_memory(address + 4, why);
  if (std::strncmp(address, "tcp://", 6) == 0) return open_tcp(address + 6, why);
  if (std::strncmp(address, "serial://", 9) == 0) return open_line(address + 9, why);
  why = "this library does not speak " + std::string(address).substr(0, 60) +
        "; it knows shm:PAGES,BELL, tcp://HOST:PORT/ROBOT/PROGRAM and serial://DEVICE:BAUD/ROBOT/PROGRAM";
  return nullptr;
}

}  // namespace isochron::client
