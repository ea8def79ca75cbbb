#include "rt/test/interleavings.hpp"

#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>

namespace isochron::rt::check {
namespace {

constexpr std::size_t stack_bytes = 128 * 1024;

struct Store {
  std::uint64_t value;
  Knowledge carried;  // what an acquire load of it learns
};

struct Access {
  int atomic = 0;
  bool writes = false;
};
// Whether the order of two threads' steps makes no difference.
bool independent(Access a, Access b) { return a.atomic != b.atomic || (!a.writes && !b.writes); }

struct Fiber {
  std::unique_ptr<char[]> stack = std::make_unique<char[]>(stack_bytes);
  ucontext_t context{};
  std::function<void()> body;
  bool ended = false;
  int steps = 0;
  Access pending{};  // its next atomic step
  Knowledge knows;
};

// Either which thread goes on, or which store a load returns.
struct Choice {
  unsigned options;    // one bit for each that is still to be tried, the taken one included
  unsigned tried = 0;  // threads only: explored to the end already
  int taken = 0;
};

struct Step {
  int thread;
  const char* what;
  int atomic;
  std::uint64_t value;
};

// The search and its current execution. One at a time, so that Atomic and Plain need not carry a pointer to it.
class Checker {
 public:
  Exploration explore(const Program& program, Limits limits) {
    limits_ = limits;
    do {
      execute(program);
      ++outcome_.executions;
    } while (outcome_.failure.empty() && outcome_.executions < limits.executions && next_path());
    if (outcome_.failure.empty() && outcome_.executions == limits.executions)
      outcome_.failure = "not exhaustive: too many executions";
    return outcome_;
  }

  void add_thread(std::function<void()> body) {
    if (count_ + 1 >= max_threads) std::abort();
    if (static_cast<std::size_t>(count_) == fibers_.size()) fibers_.push_back(std::make_unique<Fiber>());
    Fiber& fiber = *fibers_[count_++];
    fiber.body = std::move(body);
    fiber.ended = false;
    fiber.steps = 0;
  }
  std::function<void()> finally;

  // Called by a fiber before each atomic step: decides who makes the next one.
  void schedule(Access step) {
    if (current_ == 0) return;  // set-up and finally() are alone
    if (++me().steps > limits_.steps_per_thread) {
      ++outcome_.pruned;
      leave();
    }
    me().pending = step;
    if (starting_) return park();
    const int before = current_;
    const int chosen = choose_thread();
    if (chosen != before) switch_to(chosen);
  }

  void fail(const char* what) {
    if (!outcome_.failure.empty()) return;
    outcome_.failure = std::string(what) + "\n";
    for (const Step& s : trace_) {
      char line[120];
      std::snprintf(line, sizeof line, "  thread %d: %s of atomic %d: %llu\n", s.thread, s.what, s.atomic,
                    static_cast<unsigned long long>(s.value));
      outcome_.failure += line;
    }
    if (current_ != 0) leave();
  }

  int new_atomic(std::uint64_t initial) {
    if (atomics_ == max_atomics || current_ != 0) std::abort();
    history_[atomics_].assign(1, {initial, {}});
    return atomics_++;
  }

  std::uint64_t load(int id, Order order) {
    schedule({id, false});
    return read(id, newest(id) - choose(newest(id) - oldest(id) + 1), order, "load");
  }

  void store(int id, std::uint64_t value, Order order) {
    schedule({id, true});
    append(id, value, order, Knowledge{});
    note("store", id, value);
  }

  std::uint64_t exchange(int id, std::uint64_t value, Order order) {
    schedule({id, true});
    const std::uint64_t before = read(id, newest(id), order, "exchange");
    append(id, value, order, history_[id][static_cast<std::size_t>(newest(id))].carried);
    return before;
  }

  // It fails on any visible store with another value, and succeeds only on the newest.
  bool compare_exchange(int id, std::uint64_t& expected, std::uint64_t desired, Order success, Order failure) {
    schedule({id, true});
    std::vector<int> readable;
    for (int i = newest(id); i >= oldest(id); --i) {
      if (i == newest(id) || history_[id][static_cast<std::size_t>(i)].value != expected) readable.push_back(i);
    }
    const int index = readable[static_cast<std::size_t>(choose(static_cast<int>(readable.size())))];
    const Store seen = history_[id][static_cast<std::size_t>(index)];
    if (seen.value != expected) {
      expected = read(id, index, failure, "failed compare-exchange");
      return false;
    }
    read(id, index, success, "compare-exchange");
    append(id, desired, success, seen.carried);
    return true;
  }

  void plain_read(PlainState& s) {
    if (!happened_before(s.writer, s.written_at)) return fail("a data race: read of an element being written");
    s.read_at[static_cast<std::size_t>(current_)] = now();
  }

  void plain_write(PlainState& s) {
    if (!happened_before(s.writer, s.written_at)) return fail("a data race: two writes of an element");
    for (int t = 0; t < max_threads; ++t) {
      if (!happened_before(t, s.read_at[static_cast<std::size_t>(t)]))
        return fail("a data race: write of an element being read");
    }
    s.writer = current_;
    s.written_at = now();
  }

  int steps() { return current_ == 0 ? 0 : me().steps; }

 private:
  void execute(const Program& program) {
    atomics_ = count_ = 0;
    current_ = 0;
    depth_ = 0;
    finally = nullptr;
    trace_.clear();
    setup_ = Knowledge{};
    setup_.clock[0] = 1;
    Execution run;
    program(run);
    sleep_ = 0;
    starting_ = true;
    for (int t = 1; t <= count_; ++t) start(t);
    starting_ = false;
    if (runnable() != 0) switch_to(choose_thread());
    // Back here when all ended, or one left.
    current_ = 0;
    if (broken_off_) {
      broken_off_ = false;
      return;
    }
    for (int t = 1; t <= count_; ++t) setup_.join(fibers_[static_cast<std::size_t>(t - 1)]->knows);
    for (int a = 0; a < atomics_; ++a) setup_.view[static_cast<std::size_t>(a)] = static_cast<std::uint16_t>(newest(a));
    if (finally) finally();
  }

  void start(int thread) {
    Fiber& fiber = *fibers_[static_cast<std::size_t>(thread - 1)];
    fiber.knows = setup_;
    fiber.knows.clock[static_cast<std::size_t>(thread)] = 1;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = stack_bytes;
    fiber.context.uc_link = &home_;
    makecontext(&fiber.context, &Checker::run_fiber, 0);
    switch_to(thread);  // up to its first atomic step
    current_ = 0;
  }
  void park() { swapcontext(&me().context, &home_); }

  static void run_fiber();

  void fiber_body() {
    me().body();
    me().ended = true;
    if (!starting_ && runnable() != 0) {
      current_ = choose_thread();
      setcontext(&me().context);
    }
  }  // the last one returns to home_

  // A thread that was tried before at this point, or at an earlier one, sleeps while only steps that commute with its
  // own are made: whatever it could do here was explored there. (Sleep sets, Godefroid 1996.)
  int choose_thread() {
    const unsigned awake = runnable() & ~sleep_;
    if (depth_ == path_.size()) {
      if (awake == 0) {
        ++outcome_.redundant;
        leave();
      }
      path_.push_back({awake, 0, std::countr_zero(awake)});
    }
    const Choice& choice = path_[depth_++];
    unsigned sleep = 0;
    for (int t = 1; t <= count_; ++t) {
      if (((sleep_ | choice.tried) >> t & 1U) != 0 && independent(pending(t), pending(choice.taken))) sleep |= 1U << t;
    }
    sleep_ = sleep;
    return choice.taken;
  }

  int choose(int of) {
    if (of == 1) return 0;
    if (depth_ == path_.size()) path_.push_back({(1U << of) - 1, 0, 0});
    return path_[depth_++].taken;
  }

  void leave() {
    broken_off_ = true;
    setcontext(&home_);
    std::abort();
  }

  void switch_to(int thread) {
    ucontext_t* from = current_ == 0 ? &home_ : &me().context;
    current_ = thread;
    swapcontext(from, &me().context);
  }

  unsigned runnable() {
    unsigned bits = 0;
    for (int t = 1; t <= count_; ++t) bits |= fibers_[static_cast<std::size_t>(t - 1)]->ended ? 0U : 1U << t;
    return bits;
  }
  Access pending(int thread) { return fibers_[static_cast<std::size_t>(thread - 1)]->pending; }

  // Takes the next option of the last choice that has one left.
  bool next_path() {
    for (; !path_.empty(); path_.pop_back()) {
      Choice& last = path_.back();
      last.tried |= 1U << last.taken;
      last.options &= ~(1U << last.taken);
      if (last.options == 0) continue;
      last.taken = std::countr_zero(last.options);
      return true;
    }
    return false;
  }

  Fiber& me() { return *fibers_[static_cast<std::size_t>(current_ - 1)]; }
  Knowledge& knows() { return current_ == 0 ? setup_ : me().knows; }
  std::uint16_t now() { return knows().clock[static_cast<std::size_t>(current_)]; }
  bool happened_before(int thread, std::uint16_t at) { return knows().clock[static_cast<std::size_t>(thread)] >= at; }
  int newest(int id) { return static_cast<int>(history_[id].size()) - 1; }
  int oldest(int id) { return knows().view[static_cast<std::size_t>(id)]; }
  void note(const char* what, int id, std::uint64_t value) { trace_.push_back({current_, what, id, value}); }

  std::uint64_t read(int id, int index, Order order, const char* what) {
    const Store& store = history_[id][static_cast<std::size_t>(index)];
    knows().view[static_cast<std::size_t>(id)] = static_cast<std::uint16_t>(index);
    if (order == Order::acquire || order == Order::acq_rel) knows().join(store.carried);
    note(what, id, store.value);
    return store.value;
  }

  void append(int id, std::uint64_t value, Order order, Knowledge carried) {
    knows().view[static_cast<std::size_t>(id)] = static_cast<std::uint16_t>(newest(id) + 1);
    if (order == Order::release || order == Order::acq_rel) {
      carried.join(knows());
      ++knows().clock[static_cast<std::size_t>(current_)];  // what follows is not carried
    }
    history_[id].push_back({value, carried});
  }

  Limits limits_;
  Exploration outcome_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  int count_ = 0;
  int current_ = 0;  // 0: set-up or finally()
  ucontext_t home_{};
  bool broken_off_ = false;
  bool starting_ = false;
  unsigned sleep_ = 0;  // one bit for each thread
  std::vector<Choice> path_;
  std::size_t depth_ = 0;
  std::vector<Step> trace_;
  std::array<std::vector<Store>, max_atomics> history_;
  int atomics_ = 0;
  Knowledge setup_;
};

Checker* checker = nullptr;

void Checker::run_fiber() { checker->fiber_body(); }

}  // namespace

void Knowledge::join(const Knowledge& other) {
  for (std::size_t i = 0; i < view.size(); ++i) view[i] = std::max(view[i], other.view[i]);
  for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other.clock[i]);
}

Exploration explore(const Program& program, Limits limits) {
  Checker mine;
  checker = &mine;
  Exploration outcome = mine.explore(program, limits);
  checker = nullptr;
  return outcome;
}

void Execution::thread(std::function<void()> body) { checker->add_thread(std::move(body)); }
void Execution::finally(std::function<void()> body) { checker->finally = std::move(body); }
void demand(bool holds, const char* what) {
  if (!holds) checker->fail(what);
}
int steps() { return checker->steps(); }
int new_atomic(std::uint64_t initial) { return checker->new_atomic(initial); }
std::uint64_t atomic_load(int id, Order order) { return checker->load(id, order); }
void atomic_store(int id, std::uint64_t value, Order order) { checker->store(id, value, order); }
std::uint64_t atomic_exchange(int id, std::uint64_t value, Order order) { return checker->exchange(id, value, order); }
bool atomic_compare_exchange(int id, std::uint64_t& expected, std::uint64_t desired, Order success, Order failure) {
  return checker->compare_exchange(id, expected, desired, success, failure);
}
void plain_read(PlainState& s) {
  if (checker != nullptr) checker->plain_read(s);
}
void plain_write(PlainState& s) {
  if (checker != nullptr) checker->plain_write(s);
}

}  // namespace isochron::rt::check
