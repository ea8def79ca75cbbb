#pragma once
// The watcher takes what programs print, so that none of them blocks on a full pipe, and rings the coordinator's bell
// when one of them ends. A program that prints forever fills nothing: the start and the end of its output are kept.
//
// What was printed before a program stood still is there when it is asked for, so that it can be told with its
// simulated time: take() reads the rest of the pipe itself.
//
// Threads: one of its own; all functions but finish() from any.

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "protocol/program_protocol.hpp"

namespace isochron::programs {

/// Output of any length in bounded room: its first bytes and its last.
class BoundedText {
 public:
  explicit BoundedText(std::size_t room) : room_(room) {}
  void add(const char* bytes, std::size_t size);
  /// All of it, or both ends with a line between that says how much is left out.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  std::size_t room_;
  std::string head_;
  std::string tail_;
  std::uint64_t total_ = 0;
};

class Watcher {
 public:
  struct Watched {
    std::string name;
    int output = -1;
    int pid_descriptor = -1;
  };
  /// take_output: what was printed is kept until take() takes it.
  Watcher(std::vector<Watched> programs, protocol::Bell& bell, std::size_t output_kept, bool show,
          bool take_output = false);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  /// One more; returns its number.
  std::size_t add(Watched program);
  /// Output of a program that came another way.
  void add_output(std::size_t program, std::string_view text);
  [[nodiscard]] bool ended(std::size_t program) const {
    return programs_[program]->ended.load(std::memory_order_acquire);
  }
  /// What the program printed since the last call, so many bytes at most. Only where take_output was asked for.
  [[nodiscard]] std::string take(std::size_t program, std::size_t most = SIZE_MAX);
  /// What the program printed so far.
  [[nodiscard]] std::string output(std::size_t program) const;
  [[nodiscard]] std::uint64_t output_size(std::size_t program) const;
  /// Reads what is left and stops.
  void finish();

 private:
  struct Program {
    explicit Program(Watched w, std::size_t room) : watched(std::move(w)), text(room) {}
    Watched watched;
    mutable std::mutex mutex;  // guards what is below, and the order of reads from the pipe
    BoundedText text;
    std::string fresh;  // not taken yet
    std::atomic<bool> ended{false};
    std::atomic<bool> open{true};
    std::string line;  // not shown yet
  };
  void watch();
  void drain(Program& program);
  static void show(Program& program, std::string_view text);
  std::mutex adding_;  // guards the list against watch(); only the owner changes it
  std::deque<std::unique_ptr<Program>> programs_;
  std::size_t output_kept_;
  protocol::Bell& bell_;
  bool show_;
  bool take_output_;
  int stop_ = -1;
  int more_ = -1;  // rung when one was added
  std::thread thread_;
};

}  // namespace isochron::programs
