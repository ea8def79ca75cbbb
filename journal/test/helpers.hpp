#pragma once
// What the journal's tests need from outside: a clock, a disk in memory that fails on demand, and a message.

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "core/clock.hpp"
#include "core/disk.hpp"
#include "core/message.hpp"
#include "journal/mcap_format.hpp"

namespace isochron::test {

class SteadyClock final : public Clock {
 public:
  WallTime now() override {
    return WallTime::from_ns(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count());
  }
  void sleep_until(WallTime t) override {
    std::this_thread::sleep_until(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(t.ns())));
  }
};

/// Stands still until told.
class HandClock final : public Clock {
 public:
  WallTime now() override { return now_; }
  void sleep_until(WallTime t) override { now_ = std::max(now_, t); }
  void pass(WallSpan span) { now_ += span; }

 private:
  WallTime now_;
};

/// Files in memory. Full after `room` bytes; takes at most `most` bytes at once.
class MemoryDisk final : public Disk {
 public:
  using Content = std::shared_ptr<mcap::Bytes>;
  std::size_t room = SIZE_MAX;
  std::size_t most = SIZE_MAX;
  std::map<std::string, Content> files;

  Result<std::unique_ptr<File>, DiskError> create(const std::string& path) override {
    files[path] = std::make_shared<mcap::Bytes>();
    return std::unique_ptr<File>(std::make_unique<Opened>(*this, files[path]));
  }
  Result<std::unique_ptr<File>, DiskError> open(const std::string& path) override {
    if (!files.contains(path)) return fail(DiskError{DiskFault::not_found, "cannot open " + path});
    return std::unique_ptr<File>(std::make_unique<Opened>(*this, files[path]));
  }
  Result<Done, DiskError> rename(const std::string& from, const std::string& to) override {
    files[to] = files[from];
    files.erase(from);
    return done();
  }
  Result<Done, DiskError> remove(const std::string& path) override {
    files.erase(path);
    return done();
  }
  void put(const std::string& path, mcap::Bytes bytes) {
    files[path] = std::make_shared<mcap::Bytes>(std::move(bytes));
  }

 private:
  class Opened final : public File {
   public:
    Opened(MemoryDisk& disk, Content content) : disk_(disk), content_(std::move(content)) {}
    Result<std::size_t, DiskError> append(std::span<const std::byte> bytes) override {
      const std::size_t n = std::min({bytes.size(), disk_.most, disk_.room});
      if (n == 0) return fail(DiskError{DiskFault::full, "the disk is full"});
      disk_.room -= n;
      content_->insert(content_->end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
      return n;
    }
    Result<std::size_t, DiskError> read_at(std::uint64_t offset, std::span<std::byte> into) override {
      if (offset >= content_->size()) return std::size_t{0};
      const std::size_t n = std::min({into.size(), content_->size() - static_cast<std::size_t>(offset), disk_.most});
      std::copy_n(content_->begin() + static_cast<std::ptrdiff_t>(offset), n, into.begin());
      return n;
    }
    Result<std::uint64_t, DiskError> size() override { return std::uint64_t{content_->size()}; }
    Result<Done, DiskError> sync() override { return done(); }

   private:
    MemoryDisk& disk_;
    Content content_;
  };
};

struct Point {
  double x = 0, y = 0;
};
ISOCHRON_MESSAGE(Point, "test_msgs/msg/Point", x, y)

struct Pose {
  SimTime stamp;
  Point position;
  std::array<double, 4> orientation{};
  std::vector<Point> path;
  std::string frame;
  bool valid = false;
  std::int16_t count = 0;
};
ISOCHRON_MESSAGE(Pose, "test_msgs/msg/Pose", stamp, position, orientation, path, frame, valid, count)

inline Pose pose_at(int i) {
  Pose pose;
  pose.stamp = SimTime::from_ns(i * 1'000'000LL);
  pose.position = {0.5 * i, -1.25 * i};
  pose.orientation = {1, 0, 0.125 * i, 0};
  for (int k = 0; k < i % 4; ++k) pose.path.push_back({1.0 * k, 2.0 * i});
  pose.frame = "frame_" + std::to_string(i);
  pose.valid = i % 2 == 1;
  pose.count = static_cast<std::int16_t>(-i);
  return pose;
}

}  // namespace isochron::test
