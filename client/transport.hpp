#pragma once
// How a request gets to the coordinator and its answer back. The rest of the library does not know whether that is
// shared memory or a wire.
//
// Threads: any; a thread's requests are answered in its own order. Cost: ask() blocks until answered.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "protocol/program_protocol.hpp"

namespace isochron::client {

/// Bytes that go along with a request, and room for those that come back.
struct Payload {
  const void* out = nullptr;
  std::size_t out_size = 0;
  void* in = nullptr;
  std::size_t in_capacity = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  /// Fills the exchange with the answer. False: nobody is there to answer; `why` says so.
  virtual bool ask(protocol::Exchange& exchange, const Payload& payload, std::string& why) = 0;
  virtual std::int64_t now() = 0;
};

/// By the value of ISOCHRON. Null: `why` says what is wrong with it.
std::unique_ptr<Transport> open_transport(const char* address, std::string& why);

/// Shared memory: "PAGES,BELL", two inherited descriptors.
std::unique_ptr<Transport> open_shared_memory(const char* descriptors, std::string& why);

/// TCP: "HOST:PORT/ROBOT/PROGRAM", to `isochron serve` there; see client/tcp_link.hpp.
std::unique_ptr<Transport> open_tcp(const char* address, std::string& why);

/// A serial line: "/dev/ttyS1:921600/ROBOT/PROGRAM", to `isochron serve --serial` at its other end.
std::unique_ptr<Transport> open_line(const char* address, std::string& why);

}  // namespace isochron::client
