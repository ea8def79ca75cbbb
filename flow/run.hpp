#pragma once
// Running a system. One word says how; the outcome is the same, bit for bit.
//
//   thread      all nodes on the calling thread: fastest for small nodes
//   pool        N workers share the nodes; helpers join only while a node's turn costs more than handing it over
//   threads     a thread for each node
//   processes   a process for each node, or for a few where there are many; messages in shared memory
//   tcp         a process for each node, messages over TCP connections between them
//   free        no time management, a thread for each node that takes the latest values: NOT repeatable; shows what the
//               others are for
//
// Promises: everything stamped before `until` happens, nothing stamped at or after it; whether or not `until` is a
//           multiple of anybody's period, everybody has ended when run() returns.
// Fails:    a system that does not pass the check throws InputError before anything starts. A node that throws or dies
//           ends the run: complete is false, failures says which and who waited for it. A system of which a part stands
//           still although nobody failed is reported in `stall` with who waits for whom. A node that never comes back
//           from its own code, or that crashed, is given up if the options say so; its thread then stays behind, and
//           `given_up` says so: neither the system nor the observer may be destroyed before the process ends.

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "flow/sent_observer.hpp"
#include "flow/system.hpp"
#include "flow/waiting.hpp"

namespace isochron::flow {

enum class How : std::uint8_t { thread, pool, threads, processes, tcp, free };
const char* to_string(How how);
/// Fails: a sentence with the words that would do.
Result<How, std::string> parse_how(std::string_view word);

/// In debug builds a message that a node did not fill whole shows by itself.
#ifdef __OPTIMIZE__
inline constexpr unsigned char default_poison = 0;
#else
inline constexpr unsigned char default_poison = 0xA5;
#endif

struct Options {
  SimTime until = SimTime::zero();
  How how = How::thread;
  std::uint32_t workers = 0;    // of the pool; 0 = one for each core
  std::uint32_t processes = 0;  // at most so many; 0 = one for each of up to 32 nodes, for more two on each core
  WallSpan grain = std::chrono::microseconds(4);           // of the pool: helpers join above this cost of a node's turn
  WallSpan stall_after = std::chrono::seconds(10);         // nothing moves for so long: a stall; zero = do not look
  std::function<void(const WaitForGraph&)> on_stall = {};  // once for each stall, on any thread
  bool end_on_stall = false;                               // a stall ends the run
  /// Whether a node is held back on purpose now; "" = whether anybody is. On any thread.
  std::function<bool(std::string_view node)> excused = {};
  bool catch_crashes = false;                             // a node that crashes in this process is told too (crash.hpp)
  std::function<void(const WaitForGraph&)> on_look = {};  // some times a second while they run, on any thread
  SentObserver* observer = nullptr;
  bool in_step = false;  // between processes: a node goes on only when the observer has seen what it sent
  bool digest = true;
  std::size_t largest_message = 256U << 20U;  // between processes, for types that are not flat
  unsigned char poison = default_poison;      // not 0: what a message's memory holds before a node fills it
  std::uint32_t hold_limit = 1U << 16;        // events of one flow that may wait to be sent
  const std::atomic<bool>* cancel = nullptr;  // set by somebody else: everybody ends soon
  std::uint64_t disturb = 0;                  // not 0: random delays and yields between steps
  Clock* clock = nullptr;                     // null = the machine's own
};

struct NodeFailure {
  std::string node;
  std::string what;
  std::vector<std::string> waited_for_by;  // "red waits for a message of yellow.position at 12s"
};
std::string to_string(const NodeFailure& failure);

struct FlowOutcome {
  bool complete = false;  // everybody reached the end
  std::uint64_t digest = 0;
  std::vector<std::uint64_t> flow_digests;  // in the order of declaration
  std::uint64_t messages = 0;               // sent
  std::vector<NodeFailure> failures;
  std::string stall;      // the wait-for graph, if the run stood still
  bool given_up = false;  // a thread stayed behind in a node's own code
};

FlowOutcome run(System& system, const Options& options);

}  // namespace isochron::flow
