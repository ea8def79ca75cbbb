#pragma once
// The order in which threads of a program that knows nothing of us meet: who has a lock first, who is woken, who takes
// the next job. On a real computer it is luck, and a run that depends on it does not repeat.
//
//   measured    every meeting is an operation in one order, and the order is logged: runs of (thread, operations)
//   recorded    an operation waits for its turn in the logged order; what a thread computes in between runs freely
//   otherwise   (zero, modelled) one thread at a time has the baton and keeps it until it waits; then the next one in
//               the queue has it. No log is needed: the queue is the same every time.
//
// While a program has one thread there is nothing to order, and nothing is logged or waited for. So a replay does not
// depend on how many locks were taken while it loaded: Python takes one for each file in each folder that it looks
// into.
//
// An operation is what happens under a Turn: taking, trying or releasing a lock, signalling, posting, starting and
// ending a thread, asking the coordinator. What a program shares without any of these (a flag that it spins on) has no
// order that anybody could keep: a replay that depends on it parts, and says so.
//
// Threads: any of the program. Cost: some 20 ns for each operation; no allocation but when a thread is made.

#include <cstdint>

#include "protocol/program_protocol.hpp"

namespace isochron::interpose {

enum class OrderMode : std::uint8_t { off, logged, followed, unordered, baton };

OrderMode order_mode();
/// After attaching, from the program's first thread.
void begin_order(protocol::ClockMode clock);
/// A forked child has no part in it.
void end_order();

/// One operation. Inside of another one, as in a signal handler, it is nothing.
class Turn {
 public:
  Turn();
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  bool outer_;
  bool counts_ = false;  // it is in the log
};

/// To wait for another thread: enlist() under the Turn in which it was found necessary, then, after that Turn, wait().
/// A thread that is let go looks again whether it has what it waited for.
void enlist(const void* object);
void wait();
/// Under a Turn: so many of those that wait for it may go on, first come, first served.
void let_go(const void* object, std::uint32_t most);
/// With the baton: goes behind the others that could run; false if there are none.
bool step_back();

/// Waits in the kernel for something outside of the program, while others run. `is_ready` says without waiting whether
/// it came, from any thread: what threads of the program do to each other through pipes has its place in the order too.
class Outside {
 public:
  using IsReady = bool (*)(void* with);
  Outside(IsReady is_ready, void* with);
  ~Outside();
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

 private:
  bool passed_on_;
};

/// Around a request that lets time pass. Before: fills in what the coordinator must know of the other threads; the
/// baton is passed on by asked(), when the coordinator has taken the request in and said that others may run, and had
/// again after the answer.
bool before_ask(protocol::Exchange& exchange);
void asked();
void answered(std::int64_t ticket);

}  // namespace isochron::interpose
