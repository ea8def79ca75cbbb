#pragma once
// An exhaustive checker for small lock-free programs. A program is a few threads over shared objects built from
// check::Atomic and check::Plain; explore() runs it again and again, each time with another choice of
//   - which thread makes the next atomic step, and
//   - which store an atomic load returns: the newest, or any older one that C++'s rules still allow this thread to see,
// until every combination was tried or one broke a rule. Orders that differ only in steps that commute count once.
// Rules: what the program itself demands (demand()), and that no two accesses to one Plain, one of them a write, are
// unordered (a data race).
//
// The memory model is views over store histories. A thread has, for each atomic, the oldest store it may still read; a
// release store carries its thread's view, an acquire load that reads it takes the view over. A read-modify-write reads
// the newest store and carries on the view of what it read (a release sequence). Happens-before for races is kept in
// vector clocks along the same edges.
// What it leaves out: stores put before others in modification order (no program here has unordered writers of
// one atomic, but for read-modify-writes, which cannot do that), fences, consume, and spurious failure of weak
// exchanges. Loads that return values from the future (out of thin air) are not modelled; no implementation has them.
//
// Threads are fibers in one real thread, switched only at atomic steps: enough, since between them a program without
// data races cannot tell.

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace isochron::rt::check {

inline constexpr int max_threads = 5;  // number 0 is the set-up
inline constexpr int max_atomics = 12;

struct Knowledge {
  std::array<std::uint16_t, max_atomics> view{};   // oldest store of each atomic that may still be read
  std::array<std::uint16_t, max_threads> clock{};  // steps of each thread that happened before
  void join(const Knowledge& other);
};

struct Exploration {
  std::uint64_t executions = 0;
  std::uint64_t redundant = 0;  // of them, broken off since they would repeat another one but for steps that commute
  std::uint64_t pruned = 0;     // a thread went on for more than its step limit (a retry loop that never got its turn)
  std::string failure;          // the first broken rule and the steps that led there; empty: none
};

class Execution;
using Program = std::function<void(Execution&)>;

struct Limits {
  int steps_per_thread = 40;
  std::uint64_t executions = 20'000'000;
};
/// Tries everything. The program adds its threads with Execution::thread and returns.
Exploration explore(const Program& program, Limits limits = {});

/// One execution, as the program sees it.
class Execution {
 public:
  void thread(std::function<void()> body);
  /// Runs when all threads have ended; sees all that they did.
  void finally(std::function<void()> body);
};

/// Breaks the execution off as failed unless it holds. To be called in a thread or in finally().
void demand(bool holds, const char* what);
/// Atomic steps that the calling thread made so far.
int steps();

// --- what Atomic and Plain are made of ---
enum class Order { relaxed, acquire, release, acq_rel };
int new_atomic(std::uint64_t initial);
std::uint64_t atomic_load(int id, Order);
void atomic_store(int id, std::uint64_t value, Order);
std::uint64_t atomic_exchange(int id, std::uint64_t value, Order);
bool atomic_compare_exchange(int id, std::uint64_t& expected, std::uint64_t desired, Order success, Order failure);
struct PlainState {
  int writer = 0;
  std::uint16_t written_at = 0;
  std::array<std::uint16_t, max_threads> read_at{};
};
void plain_read(PlainState&);
void plain_write(PlainState&);

inline Order order_of(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return Order::relaxed;
    case std::memory_order_acquire:
      return Order::acquire;
    case std::memory_order_release:
      return Order::release;
    default:
      return Order::acq_rel;
  }
}

/// The modelled std::atomic. `Weakened` makes every order relaxed, to see that the checker notices.
template <class T, bool Weakened>
class Atomic {
 public:
  Atomic(T initial = {}) : id_(new_atomic(static_cast<std::uint64_t>(initial))) {}
  T load(std::memory_order o) const { return static_cast<T>(atomic_load(id_, order(o))); }
  void store(T value, std::memory_order o) { atomic_store(id_, static_cast<std::uint64_t>(value), order(o)); }
  T exchange(T value, std::memory_order o) {
    return static_cast<T>(atomic_exchange(id_, static_cast<std::uint64_t>(value), order(o)));
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order ok, std::memory_order no) {
    std::uint64_t seen = static_cast<std::uint64_t>(expected);
    const bool done = atomic_compare_exchange(id_, seen, static_cast<std::uint64_t>(desired), order(ok), order(no));
    expected = static_cast<T>(seen);
    return done;
  }

 private:
  static Order order(std::memory_order o) { return Weakened ? Order::relaxed : order_of(o); }
  int id_;
};

struct ModelAtomics {
  template <class T>
  using Atomic = check::Atomic<T, false>;
};
struct WeakenedAtomics {
  template <class T>
  using Atomic = check::Atomic<T, true>;
};

/// An element whose every access is checked for races.
class Plain {
 public:
  Plain() = default;
  Plain(int value) : value_(value) {}
  Plain(const Plain& other) : value_(other.get()) {}
  Plain& operator=(const Plain& other) { return set(other.get()), *this; }
  [[nodiscard]] int get() const { return plain_read(state_), value_; }
  void set(int value) { plain_write(state_), value_ = value; }

 private:
  int value_ = 0;
  mutable PlainState state_;
};

}  // namespace isochron::rt::check
