#pragma once
// Whoever wants to see every message that was sent: a journal, a viewer, a test.

#include "core/time.hpp"
#include "flow/payload.hpp"

namespace isochron::flow {

/// A message as it was sent. The value is alive during the call.
struct Sent {
  std::uint32_t flow = 0;  // in the order of declaration, see System::flows()
  SimTime time;
  SimTime next;  // of events: a bound
  const PayloadType* type = nullptr;
  const void* value = nullptr;
  WallTime when = {};  // when it was sent, where that was in another process; zero = just now
};

class SentObserver {
 public:
  virtual ~SentObserver() = default;
  /// Threads: the messages of one flow come in order and one at a time; different flows may call at the same time when
  /// nodes run on several threads. When nodes are processes, everything comes from the thread that called run().
  virtual void sent(const Sent& message) = 0;
};

}  // namespace isochron::flow
