// A program of several threads that knows nothing of Isochron, as planners and control loops are. It prints what it
// saw.
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

namespace {

std::atomic<std::uint64_t> sink{0};

void compute(int rounds) {
  std::uint64_t x = 88172645463325252u;
  for (int i = 0; i < rounds * 1000; ++i) x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  sink += x;
}

// urgent RANK MS: a 1 kHz loop beside a thread that plans all the time; how late the loop is, in the middle and at the
// 99th percentile, in microseconds. RANK 0: the loop has no priority of its own.
void urgent(int rank, int ms) {
  std::atomic<bool> stop{false};
  std::thread planner([&] {
    while (!stop) compute(20);
  });
  std::vector<double> late;
  std::thread loop([&] {
    if (rank > 0) {
      sched_param parameter{};
      parameter.sched_priority = rank;
      if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter) != 0) std::printf("refused\n");
    }
    auto next = Steady::now();
    for (int i = 0; i < ms; ++i) {
      next += 1ms;
      std::this_thread::sleep_until(next);
      late.push_back(std::chrono::duration<double, std::micro>(Steady::now() - next).count());
      compute(5);
    }
    stop = true;
  });
  loop.join();
  planner.join();
  std::sort(late.begin(), late.end());
  std::printf("middle %.3f\nlate %.3f\n", late[late.size() / 2], late[late.size() * 99 / 100]);
}

// ranks: three threads with the same to compute, of which the last has the highest priority and the first is nice; the
// order in which they end
void ranks() {
  std::mutex mutex;
  std::condition_variable go;
  bool gone = false;
  std::string order;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      sched_param parameter{};
      parameter.sched_priority = i == 2 ? 40 : 0;
      pthread_setschedparam(pthread_self(), i == 2 ? SCHED_RR : i == 1 ? SCHED_OTHER : SCHED_IDLE, &parameter);
      std::unique_lock lock(mutex);
      go.wait(lock, [&] { return gone; });
      lock.unlock();
      compute(3000);
      lock.lock();
      order += std::to_string(i);
    });
  }
  std::this_thread::sleep_for(10ms);
  {
    const std::lock_guard lock(mutex);
    gone = true;
  }
  go.notify_all();
  for (std::thread& thread : threads) thread.join();
  int policy = 0;
  sched_param own{};
  pthread_getschedparam(pthread_self(), &policy, &own);
  std::printf("order %s\nown %d %d\ncores %u\n", order.c_str(), policy, own.sched_priority,
              std::thread::hardware_concurrency());
}

// random SEED: threads that compute, sleep, lock, hand each other work and wait for it with and without a limit, as the
// seed says. What it prints does not depend on how they are scheduled.
class RandomThreads {
 public:
  explicit RandomThreads(unsigned seed) : seed_(seed) {}

  void run() {
    unsigned seed = seed_ * 2654435761u + 1;
    const unsigned workers = 1 + next(seed) % 5;
    const unsigned makers = 1 + next(seed) % 3;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < workers; ++i)
      threads.emplace_back([this, i, limited = next(seed) % 2 == 0] { work(i, limited); });
    std::vector<std::thread> making;
    for (unsigned i = 0; i < makers; ++i) making.emplace_back([this, start = next(seed)] { make(start); });
    for (std::thread& thread : making) thread.join();
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    some_.notify_all();
    for (std::thread& thread : threads) thread.join();
    std::printf("made %d\ndone %d\nsum %llu\n", made_, done_, static_cast<unsigned long long>(sum_));
  }

 private:
  static unsigned next(unsigned& seed) {
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
  }
  void make(unsigned seed) {
    for (unsigned n = 3 + next(seed) % 10; n > 0; --n) {
      const unsigned kind = next(seed) % 4;
      if (kind == 0) std::this_thread::sleep_for(std::chrono::microseconds(next(seed) % 1500));
      if (kind == 1) compute(static_cast<int>(next(seed) % 100));
      {
        const std::lock_guard lock(mutex_);
        work_.push(next(seed) % 1000);
        ++made_;
        if (kind == 2) compute(static_cast<int>(next(seed) % 20));
      }
      some_.notify_one();
    }
  }
  void work(unsigned number, bool limited) {
    unsigned seed = seed_ + number;
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto ready = [this] { return over_ || !work_.empty(); };
      if (limited) {
        some_.wait_for(lock, std::chrono::microseconds(100 + next(seed) % 1000), ready);
      } else {
        some_.wait(lock, ready);
      }
      if (work_.empty()) {
        if (over_) return;
        continue;
      }
      const unsigned item = work_.front();
      work_.pop();
      lock.unlock();
      compute(static_cast<int>(item % 40));
      if (item % 7 == 0) std::this_thread::yield();
      if (item % 5 == 0) std::this_thread::sleep_for(std::chrono::microseconds(item));
      lock.lock();
      sum_ += item;
      ++done_;
    }
  }

  unsigned seed_;
  std::mutex mutex_;
  std::condition_variable some_;
  std::queue<unsigned> work_;
  bool over_ = false;
  int made_ = 0, done_ = 0;
  std::uint64_t sum_ = 0;
};

// poll MS: watches the clock
void poll(int ms) {
  const auto end = Steady::now() + std::chrono::milliseconds(ms);
  std::uint64_t looks = 0;
  while (Steady::now() < end) ++looks;
  std::printf("looks %llu\n", static_cast<unsigned long long>(looks));
}

// many N: as many threads, each of which sleeps a millisecond ten times; the shortest of these sleeps in microseconds
void many(int count) {
  std::atomic<std::int64_t> shortest{INT64_MAX};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 10; ++n) {
        const auto start = Steady::now();
        std::this_thread::sleep_for(1ms);
        const std::int64_t took = std::chrono::duration_cast<std::chrono::microseconds>(Steady::now() - start).count();
        std::int64_t least = shortest;
        while (took < least && !shortest.compare_exchange_weak(least, took)) {
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("shortest %lld\n", static_cast<long long>(shortest.load()));
}

// spread N MS: as many threads that compute until then; what they did in all, and its CPU time in milliseconds
void spread(int count, int ms) {
  std::atomic<std::uint64_t> rounds{0};
  const auto end = Steady::now() + std::chrono::milliseconds(ms);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      while (Steady::now() < end) compute(1), ++rounds;
    });
  }
  for (std::thread& thread : threads) thread.join();
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  const auto took = Steady::now() - end + std::chrono::milliseconds(ms);
  std::printf("rounds %llu\ncpu %.3f\ntook %.3f\n", static_cast<unsigned long long>(rounds.load()),
              static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) * 1e-6,
              std::chrono::duration<double, std::milli>(took).count());
}

// pass N TIMES: as many threads, of which one at a time goes on, and wakes the next
void pass(int count, int times) {
  std::mutex mutex;
  std::condition_variable changed;
  int turn = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < times; ++n) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return turn % count == i; });
        compute(1);
        ++turn;
        changed.notify_all();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("turns %d\n", turn);
}

// talk N: a thread that computes and prints as many lines while the first one waits again and again
void talk(int lines) {
  std::mutex mutex;
  bool over = false;
  std::thread talker([&] {
    for (int i = 0; i < lines; ++i) {
      compute(20 + i % 7 * 10);
      std::printf("line %d\n", i);
      std::fflush(stdout);
    }
    const std::lock_guard lock(mutex);
    over = true;
  });
  const auto goes_on = [&] {
    const std::lock_guard lock(mutex);
    return !over;
  };
  while (goes_on()) std::this_thread::sleep_for(300us);
  talker.join();
}

// once FILE: ends if there is no such file yet, and makes it; otherwise it waits for ever
void once(const char* file) {
  if (std::FILE* made = std::fopen(file, "wx")) {
    std::fclose(made);
    std::this_thread::sleep_for(1ms);
    return;
  }
  std::this_thread::sleep_for(1ms);
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  never.wait(lock, [] { return false; });
}

}  // namespace

int main(int count, char** values) {
  const std::string what = count > 1 ? values[1] : "";
  const auto number = [&](int i) { return count > i ? std::atoi(values[i]) : 0; };
  if (what == "urgent") urgent(number(2), number(3));
  if (what == "ranks") ranks();
  if (what == "random") RandomThreads(static_cast<unsigned>(number(2))).run();
  if (what == "poll") poll(number(2));
  if (what == "many") many(number(2));
  if (what == "spread") spread(number(2), number(3));
  if (what == "talk") talk(number(2));
  if (what == "once") once(values[2]);
  if (what == "pass") pass(number(2), number(3));
  return 0;
}
