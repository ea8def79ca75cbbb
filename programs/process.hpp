#pragma once
// A Process is one program of a robot as the operating system sees it: started with limits, in a group of its own, with
// the shared memory that it talks through, and gone without trace however we end.
//
// Promises: the program dies with us (PR_SET_PDEATHSIG, and the Keeper for what it forked); it cannot keep a core at
//           real-time priority unattended (RLIMIT_RTTIME, renewed by renew()). How much memory it uses is for its owner
//           to watch, by resident(): address space says nothing (a JVM reserves more than most machines have).
// Threads:  the one that started it, for all: the kernel ties PR_SET_PDEATHSIG to that thread.
// Fails:    start() throws InputError when the program cannot be executed.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "core/time.hpp"
#include "programs/spec.hpp"
#include "protocol/program_protocol.hpp"

namespace isochron::programs {

/// A file in memory, mapped here and inheritable.
class SharedMemory {
 public:
  SharedMemory(const char* name, std::size_t size);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] void* data() const { return data_; }

 private:
  int descriptor_ = -1;
  void* data_ = nullptr;
  std::size_t size_;
};

class Process {
 public:
  struct Start {
    const ProgramSpec* spec = nullptr;
    std::string full_name;  // "predator/planner"
    int bell = -1;
    std::string run_token;  // in the environment of everything that we start, as token_of() makes it
    std::string interpose_library;
    protocol::ClockMode clock_mode = protocol::ClockMode::held;
    Epoch epoch = {};
    ComputeRate rate = {};
    std::uint32_t cores = 1;   // of the robot's computer, as the program sees them
    std::uint32_t number = 0;  // of a stack: its number in the simulated system; 0 = it is none
    std::string host;          // and the name of its computer
  };
  explicit Process(const Start& start);
  /// One that a program of ours started, with the pages that it was given.
  Process(pid_t process, std::unique_ptr<SharedMemory> memory);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] int pid_descriptor() const { return pid_descriptor_; }
  [[nodiscard]] int output() const { return output_; }
  [[nodiscard]] protocol::Pages& pages() const { return *static_cast<protocol::Pages*>(memory_->data()); }
  /// After its end: gives its pages back.
  void forget_memory() { memory_.reset(); }
  /// The pages of a process that this one is about to start.
  static void inherit_pages(const protocol::Pages& from, protocol::Pages& to, RandomStream chance);

  /// CPU time of all its threads. Exact when read on the core on which it last ran.
  [[nodiscard]] CpuTime cpu_time() const;
  /// Its threads; empty when it is gone.
  [[nodiscard]] std::vector<pid_t> threads() const;
  /// How many there are, cheaply.
  [[nodiscard]] std::size_t thread_count() const;
  /// Whether any thread of it could execute now.
  [[nodiscard]] bool runnable() const;
  /// Whether it has begun to exit.
  [[nodiscard]] bool exiting() const;
  /// Whether it has children that live or that it has not waited for.
  [[nodiscard]] bool has_children() const;
  /// Bytes of memory that it really uses; 0 when it is gone.
  [[nodiscard]] std::uint64_t resident() const;
  /// Ends it, all of its group; how() gives this reason. Its end is noticed like any other.
  void end_because(std::string why);
  /// Whether it ended; then how() says how.
  bool ended();
  /// "exited with 3", "killed by SIGSEGV (Segmentation fault)"; "" while it runs.
  [[nodiscard]] const std::string& how() const { return how_; }
  [[nodiscard]] bool failed() const { return failed_; }
  /// After its end: CPU time of those that it had started and waited for.
  [[nodiscard]] CpuSpan children_cpu() const { return children_cpu_; }
  /// Lets it go on executing at real-time priority.
  void renew(CpuTime executed);
  void kill_group(int signal) const;

 private:
  void set_up_pages(const Start& start);
  void start(const Start& start);
  void look_at_process();
  std::unique_ptr<SharedMemory> memory_;
  bool adopted_ = false;
  pid_t pid_ = -1;
  int pid_descriptor_ = -1;
  int output_ = -1;
  int task_folder_ = -1;
  int memory_file_ = -1;
  clockid_t clock_{};
  CpuTime rt_limit_;
  bool reaped_ = false;
  bool failed_ = false;
  CpuSpan children_cpu_;
  std::string why_ended_;  // by us
  std::string how_;
};

}  // namespace isochron::programs
