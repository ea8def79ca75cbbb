#pragma once
// A program whose robot has several cores for it: its threads execute at the same time, on as many lanes of this
// machine as there are. A window of it lasts, in the robot's time, as long as the busiest core needs:
//
//      robot, 3 cores              here, 2 lanes            the window lasts max(longest thread, sum / cores)
//      |aaaa|    |bbb |            lane 0: aaaa ccc         on each lane, and the longest of these in all
//      |cccc|    |    |            lane 1: bbb
//
// Each lane has the threads that were dealt to it and some of the robot's cores. A thread that used up the window
// stands still until the others have come as far. Whoever of the lanes comes to the end of the window last, or sees a
// request, ends it for all: nobody executes beyond.
//
// Threads: one writer for each part; the rest any. Cost: a lock where a new thread is dealt.

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "core/ensure.hpp"
#include "core/time.hpp"
#include "programs/futex.hpp"
#include "protocol/program_protocol.hpp"

namespace isochron::programs {

class Spread {
 public:
  /// `cores` of the robot, one bell for each lane that it uses; at most as many as cores.
  Spread(std::uint32_t cores, std::vector<protocol::Bell*> bells) : bells_(std::move(bells)), parts_(bells_.size()) {
    ENSURE(!bells_.empty() && bells_.size() <= cores, "a program is spread over more lanes than it has cores");
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      parts_[i].cores = cores / static_cast<std::uint32_t>(parts_.size()) + (i < cores % parts_.size() ? 1 : 0);
    }
  }

  [[nodiscard]] std::uint32_t cores(std::size_t part) const { return parts_[part].cores; }

  /// Whether this thread is of that part. A new one is dealt to the part with the fewest for its cores.
  bool has(std::size_t part, pid_t thread) {
    const std::lock_guard lock(mutex_);
    const auto [at, fresh] = part_of_.try_emplace(thread, 0);
    if (fresh) {
      std::size_t least = 0;
      for (std::size_t i = 1; i < parts_.size(); ++i) {
        if (parts_[i].threads * parts_[least].cores < parts_[least].threads * parts_[i].cores) least = i;
      }
      ++parts_[least].threads;
      at->second = least;
    }
    return at->second == part;
  }

  /// Between windows: a thread goes to a part that has cores to spare.
  void move(pid_t thread, std::size_t to) {
    const std::lock_guard lock(mutex_);
    const auto at = part_of_.find(thread);
    if (at == part_of_.end()) return;
    --parts_[at->second].threads;
    ++parts_[to].threads;
    at->second = to;
  }

  /// The threads of a part that are gone make room for others.
  void forget(pid_t thread) {
    const std::lock_guard lock(mutex_);
    const auto at = part_of_.find(thread);
    if (at == part_of_.end()) return;
    --parts_[at->second].threads;
    part_of_.erase(at);
  }

  /// Before a window, while nobody executes.
  void begin() {
    over_.store(false, std::memory_order_relaxed);
    used_up_.store(false, std::memory_order_relaxed);
    resting_.store(0, std::memory_order_relaxed);
  }
  [[nodiscard]] bool over() const { return over_.load(std::memory_order_acquire); }
  /// The window ends for all.
  void end() {
    if (over_.exchange(true, std::memory_order_acq_rel)) return;
    for (protocol::Bell* bell : bells_) {
      bell->rings.fetch_add(1, std::memory_order_seq_cst);
      futex_wake(bell->rings);
    }
  }
  /// A thread has executed as long as the window lasts.
  void used_up() { used_up_.store(true, std::memory_order_release); }
  /// Nobody of a part wants to go on, or somebody does again.
  void rests(bool rest) { rest ? resting_.fetch_add(1) : resting_.fetch_sub(1); }
  [[nodiscard]] bool all_rest() const { return resting_.load(std::memory_order_acquire) == parts_.size(); }
  /// All rest, and the window is not used up: one may have been woken from another lane just now.
  [[nodiscard]] bool may_go_on() const { return !used_up_.load(std::memory_order_acquire); }

 private:
  struct Part {
    std::uint32_t cores = 0;
    std::uint32_t threads = 0;
  };
  std::vector<protocol::Bell*> bells_;
  std::vector<Part> parts_;
  std::mutex mutex_;  // guards part_of_ and the parts' threads
  std::map<pid_t, std::size_t> part_of_;
  std::atomic<bool> over_{false};
  std::atomic<bool> used_up_{false};
  std::atomic<std::uint32_t> resting_{0};
};

}  // namespace isochron::programs
