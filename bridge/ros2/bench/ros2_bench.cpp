// ros2_round_trips_per_s      two processes, 64 B each way:   ours ─ rt/there ─► echo ─ rt/back ─► ours
// ros2_images, ros2_clouds    one process publishes at a robot's rate, another hears: what it costs the publisher

#include "bridge/ros2/bench/ros2_bench.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>
#include <utility>

#include "bare_message.h"  // made by idlc from bare_message.idl
#include "bridge/ros2/graph.hpp"
#include "core/cdr.hpp"
#include "link/dds/dds_domain.hpp"
#include "msg/ros_messages.hpp"

namespace isochron::bench {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t payload = 64;
constexpr const char* type = "std_msgs/msg/UInt8MultiArray";

link::DdsOptions options() { return {static_cast<std::uint32_t>(100 + getppid() % 50), "lo", {}}; }
link::DdsOptions parent_options() { return {static_cast<std::uint32_t>(100 + getpid() % 50), "lo", {}}; }

double seconds_since(SteadyClock::time_point then) {
  return std::chrono::duration<double>(SteadyClock::now() - then).count();
}

/// A child that does that until it is killed.
class Child {
 public:
  template <class F>
  explicit Child(F&& work) : pid_(fork()) {
    if (pid_ != 0) return;
    alarm(60);
    work();
    _exit(0);
  }
  ~Child() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  /// CPU seconds of it, once it has ended by itself.
  double cpu_when_done() {
    rusage used{};
    wait4(std::exchange(pid_, 0), nullptr, 0, &used);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
  }

 private:
  pid_t pid_;
};

void say(ros2::Graph& graph, std::size_t topic, std::span<const std::byte> bytes) {
  graph.publish(topic, bytes.size(),
                [&](std::span<std::byte> room) { std::memcpy(room.data(), bytes.data(), bytes.size()); });
}

double bridge_round_trips(double for_s) {
  const Child echo([] {
    ros2::Graph graph("echo", "/", options(), [](const std::string&) {});
    const std::size_t back = graph.advertise("/back", type, {});
    graph.subscribe("/there", type, {}, [&](std::span<const std::byte> cdr) { say(graph, back, cdr); });
    graph.start();
    std::this_thread::sleep_for(60s);
  });
  std::atomic<std::uint64_t> heard = 0;
  ros2::Graph graph("bench", "/", parent_options(), [](const std::string&) {});
  const std::size_t there = graph.advertise("/there", type, {});
  std::vector<std::byte> message(payload);
  message[1] = std::byte{1};
  const std::size_t back = graph.subscribe("/back", type, {}, [&](std::span<const std::byte> cdr) {
    heard.fetch_add(1, std::memory_order_relaxed);
    say(graph, there, cdr);
  });
  graph.start();
  for (int i = 0; i < 1000 && (graph.listeners(there) == 0 || graph.speakers(back) == 0); ++i) {
    std::this_thread::sleep_for(10ms);
  }
  std::this_thread::sleep_for(200ms);
  say(graph, there, message);
  std::this_thread::sleep_for(200ms);
  const std::uint64_t before = heard.load();
  const auto since = SteadyClock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(for_s));
  return static_cast<double>(heard.load() - before) / seconds_since(since);
}

/// The same with Cyclone alone: a waitset, take, write.
class Bare {
 public:
  Bare(const link::DdsOptions& options, const char* in, const char* out) : place_(options) {
    const link::DdsQos qos(dds_create_qos());
    dds_qset_reliability(qos.get(), DDS_RELIABILITY_RELIABLE, DDS_MSECS(100));
    dds_qset_history(qos.get(), DDS_HISTORY_KEEP_LAST, 10);
    const auto topic = [&](const char* name) {
      return dds_create_topic(place_.entity(), &isochron_bench_BareMessage_desc, name, nullptr, nullptr);
    };
    writer_ = dds_create_writer(place_.entity(), topic(out), qos.get(), nullptr);
    reader_ = dds_create_reader(place_.entity(), topic(in), qos.get(), nullptr);
    waitset_ = dds_create_waitset(place_.entity());
    dds_waitset_attach(waitset_, dds_create_readcondition(reader_, DDS_ANY_STATE), 0);
  }
  void write() {
    std::array<std::uint8_t, payload> bytes{};
    isochron_bench_BareMessage sample{};
    sample.bytes._length = sample.bytes._maximum = payload;
    sample.bytes._buffer = bytes.data();
    dds_write(writer_, &sample);
  }
  /// How many came; each is answered.
  std::uint64_t answer() {
    dds_waitset_wait(waitset_, nullptr, 0, DDS_MSECS(100));
    std::uint64_t heard = 0;
    void* sample = nullptr;
    dds_sample_info_t info;
    while (dds_take(reader_, &sample, &info, 1, 1) > 0) {
      if (info.valid_data) dds_write(writer_, sample), ++heard;
      dds_return_loan(reader_, &sample, 1);
      sample = nullptr;
    }
    return heard;
  }
  [[nodiscard]] bool met() const {
    return dds_get_matched_subscriptions(writer_, nullptr, 0) > 0 &&
           dds_get_matched_publications(reader_, nullptr, 0) > 0;
  }

 private:
  link::DdsParticipant place_;
  dds_entity_t writer_ = 0, reader_ = 0, waitset_ = 0;
};

double bare_round_trips(double for_s) {
  const Child echo([] {
    Bare bare(options(), "there", "back");
    for (;;) bare.answer();
  });
  Bare bare(parent_options(), "back", "there");
  for (int i = 0; i < 1000 && !bare.met(); ++i) std::this_thread::sleep_for(10ms);
  std::this_thread::sleep_for(200ms);
  bare.write();
  for (int i = 0; i < 100; ++i) bare.answer();
  const auto since = SteadyClock::now();
  std::uint64_t heard = 0;
  while (seconds_since(since) < for_s) heard += bare.answer();
  return static_cast<double>(heard) / seconds_since(since);
}

struct Stream {
  double lost = 0;  // of those sent
  double cores = 0;
};

/// A child publishes `count` messages of that size `hz` times a second; we hear them. It is made first: DDS does not
/// survive a fork.
Stream stream(std::size_t size, double hz, int count) {
  Child publisher([&] {
    ros2::Graph theirs("says", "/", options(), [](const std::string&) {});
    const std::size_t out = theirs.advertise("/stream", type, {});
    theirs.start();
    for (int i = 0; i < 1000 && theirs.listeners(out) == 0; ++i) std::this_thread::sleep_for(10ms);
    std::vector<std::byte> message(size);
    message[1] = std::byte{1};
    auto next = SteadyClock::now();
    for (int i = 0; i < count; ++i) {
      say(theirs, out, message);
      std::this_thread::sleep_until(next += std::chrono::nanoseconds(std::llround(1e9 / hz)));
    }
    std::this_thread::sleep_for(300ms);
  });
  std::atomic<int> heard = 0;
  ros2::Graph graph("hears", "/", parent_options(), [](const std::string&) {});
  graph.subscribe("/stream", type, {}, [&](std::span<const std::byte>) { ++heard; });
  graph.start();
  const double cpu = publisher.cpu_when_done();
  std::this_thread::sleep_for(300ms);
  return {1 - static_cast<double>(heard.load()) / count, cpu * hz / count};
}

}  // namespace

void bench_ros2(Report& report) {
  const double for_s = report.long_run() ? 3 : 1;
  const auto [ours, bare] = side_by_side(
      3, [&] { return bridge_round_trips(for_s); }, [&] { return bare_round_trips(for_s); });
  report.ratio_at_least("ros2_round_trips_per_s", ours, "1/s", "bare Cyclone DDS", bare, 0.8);
  const int seconds = report.long_run() ? 10 : 3;
  const Stream images = stream(640 * 480 * 3 + 64, 30, 30 * seconds);
  report.at_most("ros2_images_640x480_30hz_lost", images.lost, "of all", 0);
  report.at_most("ros2_images_640x480_30hz_cores", images.cores, "cores", 0.1);
  const Stream clouds = stream(100'000 * 16 + 128, 10, 10 * seconds);
  report.at_most("ros2_clouds_100k_points_10hz_lost", clouds.lost, "of all", 0);
  report.at_most("ros2_clouds_100k_points_10hz_cores", clouds.cores, "cores", 0.1);
}

}  // namespace isochron::bench
