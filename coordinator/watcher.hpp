#pragma once
// The watcher takes what programs print, so that none of them blocks on a full pipe, and rings the coordinator's bell
// when one of them ends. A program that prints forever fills nothing: the start and the end of its output are kept.
//
// Threads: one of its own; take() and ended() from any.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "link/program_protocol.hpp"

namespace isochron::coordinator {

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
  Watcher(std::vector<Watched> programs, protocol::Bell& bell, std::size_t output_kept, bool show);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  [[nodiscard]] bool ended(std::size_t program) const {
    return programs_[program]->ended.load(std::memory_order_acquire);
  }
  /// What the program printed so far.
  [[nodiscard]] std::string output(std::size_t program) const;
  [[nodiscard]] std::uint64_t output_size(std::size_t program) const;
  /// Reads what is left and stops.
  void finish();

 private:
  struct Program {
    explicit Program(Watched w, std::size_t room) : watched(std::move(w)), text(room) {}
    Watched watched;
    mutable std::mutex mutex;  // guards text
    BoundedText text;
    std::atomic<bool> ended{false};
    bool open = true;
    std::string line;  // not shown yet
  };
  void watch();
  void drain(Program& program);
  static void show(Program& program, std::string_view text);
  std::vector<std::unique_ptr<Program>> programs_;
  protocol::Bell& bell_;
  bool show_;
  int stop_ = -1;
  std::thread thread_;
};

}  // namespace isochron::coordinator
