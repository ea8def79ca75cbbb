#pragma once
// What a descriptor of a simulated process stands for: an end of a pipe, a socket, an eventfd, a timerfd, an epoll.
// Each answers for itself what can be done with it at a time; who has to wait is kept by the system (system.hpp), which
// is told when something changed.
//
// Threads: owner.

#include <poll.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/time.hpp"
#include "programs/system/address.hpp"
#include "programs/system/stream.hpp"

namespace isochron::programs {

class File;

/// Told when what a file is ready for changed, or will at `at`.
class FileHouse {
 public:
  virtual ~FileHouse() = default;
  virtual void changed(File& file, SimTime at) = 0;
};

/// The result of a call, or an errno, negative; nothing: it would wait.
using CallResult = std::optional<std::int64_t>;

struct ReadInto {
  std::span<std::byte> room;
  bool peek = false;
  Endpoint from;
  bool has_from = false;
  std::uint32_t flags = 0;  // MSG_TRUNC
  std::size_t used = 0;
  SimTime stamp;      // when it arrived
  bool waits = true;  // who reads, where nothing is there
};

class File {
 public:
  explicit File(FileHouse& house) : house_(house) {}
  virtual ~File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// What poll finds.
  [[nodiscard]] virtual short ready(SimTime now) = 0;
  /// When that may change by itself after `now`.
  [[nodiscard]] virtual SimTime changes(SimTime /*now*/) { return SimTime::never(); }
  virtual CallResult read(ReadInto& /*into*/, SimTime /*now*/) { return -EBADF; }
  /// How many bytes it took; fewer than there are: the rest would wait.
  virtual CallResult write(std::span<const std::byte> /*bytes*/, const Endpoint* /*to*/, SimTime /*now*/) {
    return -EBADF;
  }
  /// The last descriptor is closed.
  virtual void closed(SimTime /*now*/) {}
  [[nodiscard]] virtual std::size_t available(SimTime /*now*/) { return 0; }
  /// As a report names it: "a pipe", "tcp 10.0.0.1:1883".
  [[nodiscard]] virtual std::string describe() const = 0;

  struct Waiter {
    std::uint32_t program = 0, link = 0;
    friend bool operator==(const Waiter&, const Waiter&) = default;
  };
  std::vector<Waiter> waiters;
  std::vector<File*> watched_by;  // epolls
  std::uint32_t opens = 0;        // descriptors

 protected:
  void changed(SimTime at) { house_.changed(*this, at); }
  FileHouse& house_;
};

class PipeEnd final : public File {
 public:
  struct Pipe {
    Stream bytes{65536};
    std::uint32_t readers = 0, writers = 0;
    std::vector<PipeEnd*> ends;
  };
  PipeEnd(FileHouse& house, std::shared_ptr<Pipe> pipe, bool writes);
  ~PipeEnd() override;
  short ready(SimTime now) override;
  CallResult read(ReadInto& into, SimTime now) override;
  CallResult write(std::span<const std::byte> bytes, const Endpoint* to, SimTime now) override;
  void closed(SimTime now) override;
  std::size_t available(SimTime now) override { return pipe_->bytes.available(now); }
  std::string describe() const override { return writes_ ? "a pipe, to write" : "a pipe, to read"; }

 private:
  void tell_others(SimTime now);
  std::shared_ptr<Pipe> pipe_;
  bool writes_;
  bool open_ = true;
};

class EventFile final : public File {
 public:
  EventFile(FileHouse& house, std::uint64_t count, bool semaphore)
      : File(house), count_(count), semaphore_(semaphore) {}
  short ready(SimTime now) override;
  CallResult read(ReadInto& into, SimTime now) override;
  CallResult write(std::span<const std::byte> bytes, const Endpoint* to, SimTime now) override;
  std::string describe() const override { return "an eventfd or a semaphore"; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// One of it, if there is any.
  bool take_one(SimTime now);
  void give_one(SimTime now);

 private:
  std::uint64_t count_;
  bool semaphore_;
};

class TimerFile final : public File {
 public:
  using File::File;
  short ready(SimTime now) override { return next_ <= now ? POLLIN : 0; }
  SimTime changes(SimTime now) override { return next_ > now ? next_ : SimTime::never(); }
  CallResult read(ReadInto& into, SimTime now) override;
  void set(SimTime next, SimSpan interval);
  [[nodiscard]] SimTime next() const { return next_; }
  [[nodiscard]] SimSpan interval() const { return interval_; }
  std::string describe() const override { return "a timerfd"; }

 private:
  SimTime next_ = SimTime::never();
  SimSpan interval_;
};

}  // namespace isochron::programs
