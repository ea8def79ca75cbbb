#include "client/interpose/order.hpp"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "client/interpose/clock.hpp"
#include "client/interpose/raw_calls.hpp"
#include "protocol/clock_values.hpp"

namespace isochron::interpose {

namespace {

ISOCHRON_ORIGINAL(pthread_create)
ISOCHRON_ORIGINAL(pthread_join)
ISOCHRON_ORIGINAL(sched_yield)
ISOCHRON_ORIGINAL(thrd_create)
ISOCHRON_ORIGINAL(thrd_join)

/// A lock of our own: libc's are what is ordered.
class FutexLock {
 public:
  void take() {
    std::uint32_t free = 0;
    if (word_.compare_exchange_strong(free, 1, std::memory_order_acquire)) return;
    while (word_.exchange(2, std::memory_order_acquire) != 0) client::futex_wait(word_, 2);
  }
  void give() {
    if (word_.exchange(0, std::memory_order_release) == 2) client::futex_wake(word_, 1);
  }
  void reset() { word_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> word_{0};  // 0 free, 1 taken, 2 taken and somebody waits
};

/// One thread of the program as the order sees it.
struct Thread {
  std::uint32_t number;  // from 1, in the order in which they were made; 0 = none of ours
  std::atomic<std::uint32_t> go;
  Thread* next;
  const void* waits_for;
  std::int64_t ticket;  // of the answer that lets it go on
  bool inside;          // of an operation
  Outside::IsReady is_ready;
  void* with;
  void wait_to_go() {
    while (go.load(std::memory_order_acquire) == 0) client::futex_wait(go, 0);
    go.store(0, std::memory_order_relaxed);
  }
};
__attribute__((tls_model("initial-exec"))) thread_local Thread self;

/// Threads in a line, first come, first served.
class Line {
 public:
  void add(Thread& thread) {
    thread.next = nullptr;
    Thread** at = &first_;
    while (*at != nullptr) at = &(*at)->next;
    *at = &thread;
  }
  /// The first for which `fits`.
  template <class Fits>
  Thread* take(Fits&& fits) {
    for (Thread** at = &first_; *at != nullptr; at = &(*at)->next) {
      Thread* found = *at;
      if (!fits(*found)) continue;
      *at = found->next;
      return found;
    }
    return nullptr;
  }
  [[nodiscard]] std::uint32_t size() const {
    std::uint32_t n = 0;
    for (const Thread* at = first_; at != nullptr; at = at->next) ++n;
    return n;
  }

 private:
  Thread* first_ = nullptr;
};

OrderMode the_mode = OrderMode::off;
FutexLock lock;
std::uint32_t threads_made = 1;
std::uint32_t living = 1;  // threads of ours that have not ended

// Logged: the run that goes on is in the shared pages. Followed: whose turn it is, and for how many operations more.
std::uint32_t current = 0;
std::uint64_t left = 0;
std::atomic<std::uint32_t> turns{0};
std::atomic<bool> alone{false};  // the only thread waits; nobody but a signal handler can let it go on
// Baton.
Thread* holder = nullptr;
Line ready;    // could run
Line replied;  // could run, answered by the coordinator: in the order of their tickets
Line waiting;  // for another thread
Line outside;  // for something outside of the program
std::int64_t consumed = 0;

protocol::OrderLog& log() { return shared_pages()->order; }

// ---- logged

void put(std::uint64_t value) {
  unsigned char bytes[protocol::clock_value_most];
  const std::size_t size = protocol::pack_clock_value(static_cast<std::int64_t>(value), bytes);
  std::uint32_t head = log().head.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < size; ++i, ++head) log().bytes[head % protocol::order_size] = bytes[i];
  log().head.store(head, std::memory_order_release);
}

void log_operation() {
  protocol::OrderLog& l = log();
  if (l.open_thread.load(std::memory_order_relaxed) != self.number) {
    if (l.open_count.load(std::memory_order_relaxed) > 0) {
      put(l.open_thread.load(std::memory_order_relaxed));
      put(l.open_count.load(std::memory_order_relaxed));
    }
    l.open_count.store(0, std::memory_order_relaxed);
    l.open_thread.store(self.number, std::memory_order_relaxed);
  }
  l.open_count.store(l.open_count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  const std::uint32_t used = l.head.load(std::memory_order_relaxed) - l.tail.load(std::memory_order_acquire);
  if (used + 8 * protocol::clock_value_most < protocol::order_size) return;
  // Full: this thread asks, which the log says too, and the coordinator empties it.
  put(self.number);
  put(l.open_count.load(std::memory_order_relaxed));
  l.open_count.store(0, std::memory_order_relaxed);
  put(self.number);
  put(0);
  ask_for_room();
}

// ---- followed

bool get(std::uint64_t& value) {
  const std::uint32_t head = log().head.load(std::memory_order_acquire);
  protocol::ClockValueUnpacker unpacker;
  for (std::uint32_t at = log().tail.load(std::memory_order_relaxed); at != head; ++at) {
    if (!unpacker.take(log().bytes[at % protocol::order_size])) continue;
    value = static_cast<std::uint64_t>(unpacker.difference());
    log().tail.store(at + 1, std::memory_order_release);
    return true;
  }
  return false;
}

void wake_those_in_line() {
  turns.fetch_add(1, std::memory_order_release);
  client::futex_wake(turns, INT_MAX);
}

/// The next run of the log; false at its end.
bool next_run() {
  const std::uint32_t tail = log().tail.load(std::memory_order_relaxed);
  std::uint64_t thread = 0;
  if (!get(thread)) return false;
  if (!get(left)) {
    log().tail.store(tail, std::memory_order_release);
    return false;
  }
  current = static_cast<std::uint32_t>(thread);
  wake_those_in_line();
  return true;
}

/// Whether this thread is in the order and its turn has come, or it is alone; false: the log is at its end.
bool await_turn() {
  for (;;) {
    if (the_mode != OrderMode::followed || living == 1) return true;
    if (current == 0 && !next_run()) return false;
    if (current == self.number) {
      if (left > 0) return true;
      current = 0;  // here it asked for room in the log: now more of it is handed out
      ask_for_room();
      continue;
    }
    const std::uint32_t seen = turns.load(std::memory_order_acquire);
    lock.give();
    client::futex_wait(turns, seen);
    lock.take();
  }
}

void take_turn() {
  if (--left > 0) return;
  current = 0;
  next_run();
}

// ---- baton; all with the lock

/// Those for whom came what they wait for outside can run.
void look_outside() {
  while (Thread* back = outside.take([](const Thread& t) { return t.is_ready(t.with); })) {
    back->is_ready = nullptr;
    ready.add(*back);
  }
}

Thread* take_next() {
  look_outside();
  Thread* next = ready.take([](const Thread&) { return true; });
  if (next == nullptr) next = replied.take([](const Thread& t) { return t.ticket == consumed + 1; });
  if (next != nullptr && next->ticket != 0) {
    consumed = next->ticket;
    next->ticket = 0;
  }
  return next;
}

void pass_on() {
  holder = take_next();
  if (holder == nullptr) return;
  holder->go.store(1, std::memory_order_release);
  client::futex_wake(holder->go, 1);
}

/// Puts this thread into a line, and goes on when it has the baton.
void line_up(Line& line) {
  line.add(self);
  if (holder == nullptr) pass_on();
  lock.give();
  self.wait_to_go();
}

bool in_baton() { return the_mode == OrderMode::baton && self.number != 0 && !self.inside; }

}  // namespace

OrderMode order_mode() { return self.number == 0 || self.inside ? OrderMode::off : the_mode; }

void begin_order(protocol::ClockMode clock) {
  self.number = 1;
  holder = &self;
  the_mode = clock == protocol::ClockMode::flowing    ? OrderMode::logged
             : clock == protocol::ClockMode::replayed ? OrderMode::followed
                                                      : OrderMode::baton;
}

void end_order() {
  the_mode = OrderMode::off;
  self.number = 0;
  self.inside = false;
  self.next = nullptr;
  self.ticket = 0;
  self.is_ready = nullptr;
  self.go.store(0);
  // Of a forked child: nobody else is there, whoever held what.
  lock.reset();
  threads_made = living = 1;
  current = 0;
  left = 0;
  holder = nullptr;
  ready = replied = waiting = outside = {};
  consumed = 0;
}

Turn::Turn() : outer_(order_mode() != OrderMode::off && the_mode != OrderMode::baton) {
  if (!outer_) return;
  self.inside = true;
  lock.take();
  if (the_mode == OrderMode::logged) {
    if (living > 1) log_operation();
  } else if (the_mode == OrderMode::followed && !await_turn()) {
    // At the end of the log a program runs as it comes: its record says no more.
    the_mode = OrderMode::unordered;
    wake_those_in_line();
  }
  counts_ = living > 1;
}

Turn::~Turn() {
  if (!outer_) return;
  if (the_mode == OrderMode::followed && counts_) take_turn();
  lock.give();
  self.inside = false;
}

void enlist(const void* object) {
  if (the_mode == OrderMode::followed) {  // its log says when it goes on
    if (living == 1) alone.store(true, std::memory_order_release);
    return;
  }
  if (the_mode == OrderMode::baton) lock.take();
  self.waits_for = object;
  waiting.add(self);
  if (the_mode == OrderMode::baton) lock.give();
}

void wait() {
  const std::uint32_t seen = turns.load(std::memory_order_acquire);
  if (alone.load(std::memory_order_acquire)) {  // a program with one thread has no log: what it waits for, it waits for
    client::futex_wait(turns, seen);
    alone.store(false, std::memory_order_relaxed);
    return;
  }
  if (the_mode == OrderMode::followed) return;
  if (the_mode == OrderMode::baton) {
    lock.take();
    pass_on();
    const bool nobody = holder == nullptr;
    const std::int64_t so_far = consumed;
    lock.give();
    if (nobody) tell_idle(so_far);
  }
  self.wait_to_go();
}

void let_go(const void* object, std::uint32_t most) {
  if (alone.exchange(false, std::memory_order_acq_rel)) wake_those_in_line();
  if (the_mode == OrderMode::followed || the_mode == OrderMode::off) return;
  // In a Turn of logged mode the lock is ours; who is outside of the order (a signal handler) may hold it too.
  const bool take_lock = the_mode == OrderMode::baton || !self.inside;
  if (take_lock) lock.take();
  for (; most > 0; --most) {
    Thread* first = waiting.take([&](const Thread& t) { return t.waits_for == object; });
    if (first == nullptr) break;
    if (the_mode == OrderMode::baton) {
      ready.add(*first);
    } else {
      first->go.store(1, std::memory_order_release);
      client::futex_wake(first->go, 1);
    }
  }
  if (take_lock) lock.give();
}

bool step_back() {
  lock.take();
  look_outside();
  if (ready.size() == 0) {
    lock.give();
    return false;
  }
  ready.add(self);
  pass_on();
  lock.give();
  self.wait_to_go();
  return true;
}

Outside::Outside(IsReady is_ready, void* with) : passed_on_(in_baton()) {
  if (!passed_on_) return;
  lock.take();
  self.is_ready = is_ready;
  self.with = with;
  pass_on();
  outside.add(self);
  lock.give();
}

Outside::~Outside() {
  if (!passed_on_) return;
  const int error = errno;
  lock.take();
  if (self.is_ready != nullptr) {  // nobody looked for it
    outside.take([](const Thread& t) { return &t == &self; });
    self.is_ready = nullptr;
    ready.add(self);
  }
  if (holder == nullptr) pass_on();
  lock.give();
  self.wait_to_go();
  errno = error;
}

bool before_ask(protocol::Exchange& exchange) {
  if (!in_baton()) {
    const Turn turn;
    return false;
  }
  lock.take();
  look_outside();
  exchange.index = 1;
  exchange.size = ready.size();
  exchange.stamp = consumed;
  lock.give();
  return true;
}

void asked() {
  if (!in_baton()) return;
  lock.take();
  pass_on();
  lock.give();
}

void answered(std::int64_t ticket) {
  if (!in_baton()) return;
  lock.take();
  self.ticket = ticket;
  line_up(replied);
}

}  // namespace isochron::interpose

using namespace isochron::interpose;

namespace {

/// A thread that was made, until somebody joins it.
struct Made {
  void* (*run)(void*);
  int (*run_c11)(void*);
  void* with;
  std::uint32_t number;
  pthread_t id;
  std::atomic<std::uint32_t> here;
  bool over;
  Made* next;
};
Made* all_made = nullptr;
__attribute__((tls_model("initial-exec"))) thread_local Made* made_as = nullptr;
pthread_key_t at_end;

void finish(void*) {
  end_catching();
  if (order_mode() == OrderMode::off) return;
  {
    const Turn turn;
    release_link();
    if (--living == 1) wake_those_in_line();
  }
  if (the_mode == OrderMode::baton) {
    lock.take();
    if (made_as != nullptr) made_as->over = true;
    lock.give();
    let_go(made_as, UINT32_MAX);
    lock.take();
    self.number = 0;
    pass_on();
    lock.give();
  }
  self.number = 0;
}

// Before the key of the link, so that a link is given back in order.
__attribute__((constructor(101))) void make_key() { pthread_key_create(&at_end, finish); }

void* begin_thread(void* start) {
  Made* made = static_cast<Made*>(start);
  made_as = made;
  self.number = made->number;
  catch_in_thread();
  pthread_setspecific(at_end, made);
  if (the_mode == OrderMode::baton) {
    lock.take();
    ready.add(self);
    lock.give();
    made->here.store(1, std::memory_order_release);
    isochron::client::futex_wake(made->here, 1);
    self.wait_to_go();
  }
  {
    const Turn turn;
    claim_link();
  }
  return made->run_c11 != nullptr ? reinterpret_cast<void*>(static_cast<std::intptr_t>(made->run_c11(made->with)))
                                  : made->run(made->with);
}

FutexLock made_lock;

Made* made_of(pthread_t id, bool forget) {
  made_lock.take();
  Made** at = &all_made;
  while (*at != nullptr && pthread_equal((*at)->id, id) == 0) at = &(*at)->next;
  Made* found = *at;
  if (found != nullptr && forget) *at = found->next;
  made_lock.give();
  return found;
}

int create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), int (*run_c11)(void*),
           void* with) {
  auto* made = static_cast<Made*>(malloc(sizeof(Made)));
  if (made == nullptr) return EAGAIN;
  new (made) Made{run, run_c11, with, 0, {}, {}, false, nullptr};
  int result = 0;
  {
    const Turn turn;
    made->number = ++threads_made;
    result = libc_pthread_create(thread, attributes, begin_thread, made);
    if (result == 0) {
      ++living;
      made->id = *thread;
      made_lock.take();
      made->next = all_made;
      all_made = made;
      made_lock.give();
    }
  }
  if (result != 0) {
    free(made);
  } else if (the_mode == OrderMode::baton) {
    while (made->here.load(std::memory_order_acquire) == 0) isochron::client::futex_wait(made->here, 0);
  }
  return result;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int pthread_create(pthread_t* __restrict thread, const pthread_attr_t* __restrict attributes, void* (*run)(void*),
                   void* __restrict with) {
  if (order_mode() == OrderMode::off) return libc_pthread_create(thread, attributes, run, with);
  return create(thread, attributes, run, nullptr, with);
}

int thrd_create(thrd_t* thread, thrd_start_t run, void* with) {
  if (order_mode() == OrderMode::off) return libc_thrd_create(thread, run, with);
  const int result = create(thread, nullptr, nullptr, run, with);
  return result == 0 ? thrd_success : result == EAGAIN ? thrd_nomem : thrd_error;
}

int pthread_join(pthread_t thread, void** result) {
  const OrderMode mode = order_mode();
  if (mode == OrderMode::off) return libc_pthread_join(thread, result);
  if (mode == OrderMode::baton) {
    const Made* made = made_of(thread, false);
    if (made != nullptr && !made->over) {
      enlist(made);
      wait();
    }
  }
  if (mode == OrderMode::followed) {
    const Turn turn;
  }
  const int joined = libc_pthread_join(thread, result);
  if (mode == OrderMode::logged) {
    const Turn turn;
  }
  if (joined == 0) free(made_of(thread, true));
  return joined;
}

int thrd_join(thrd_t thread, int* result) {
  if (order_mode() == OrderMode::off) return libc_thrd_join(thread, result);
  void* value = nullptr;
  if (pthread_join(thread, &value) != 0) return thrd_error;
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<std::intptr_t>(value));
  return thrd_success;
}

int sched_yield(void) {
  if (order_mode() != OrderMode::baton || !step_back()) return libc_sched_yield();
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
