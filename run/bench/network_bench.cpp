// Nodes in processes, every one sends 64 B to all others each step of 1 ms (FACTS §9's task), run as `isochron launch`
// runs them, beside the same bytes over the bare middleware.

#include "run/bench/network_bench.hpp"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "core/build_parts.hpp"
#include "flow/bench/cells.hpp"
#include "flow/run.hpp"
#include "flow/wall_clock.hpp"
#include "link/dds/dds_carrier.hpp"
#include "link/reactor.hpp"
#include "link/ros/ros_carrier.hpp"
#include "link/tcp_carrier.hpp"
#include "run/bench/bare_exchange.hpp"
#include "run/bench/delayed_hosts.hpp"
#include "run/remote_node.hpp"

namespace isochron::bench {
namespace {

using namespace std::chrono_literals;
using SteadyTime = std::chrono::steady_clock::time_point;

/// The steps of this process's node. Set before processes are forked, so that each has its own.
BestWindow window(1);
struct Watch {
  static void stepped() { window.stepped(); }
};
/// The worst of all members' best windows, where nodes' processes are not ours to hear from.
std::atomic<double>* shared_best = nullptr;
class WatchedCell : public BasicCell<Watch> {
 public:
  using BasicCell::BasicCell;
  void finish(SimTime) override {
    if (shared_best == nullptr) return;
    double worst = shared_best->load();
    while (worst < window.best() && !shared_best->compare_exchange_weak(worst, window.best())) {
    }
  }
};

/// When the node of this process began and ended: meeting the others is no part of it.
SteadyTime began, ended;
template <class Base>
class Timed : public Base {
 public:
  using Base::Base;
  void start(SimTime) override { began = std::chrono::steady_clock::now(); }
  void finish(SimTime) override { ended = std::chrono::steady_clock::now(); }
};
double seconds_between() { return std::chrono::duration<double>(ended - began).count(); }

std::vector<std::uint32_t> all_but(std::uint32_t self, std::uint32_t count) {
  std::vector<std::uint32_t> others;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i != self) others.push_back(i);
  }
  return others;
}
std::vector<std::string> names(std::uint32_t count) {
  std::vector<std::string> all;
  for (std::uint32_t i = 0; i < count; ++i) all.push_back("n" + std::to_string(i));
  return all;
}

/// A federation of its own for each measurement: late packets of the one before are strangers.
std::string federation() {
  static int number = 0;
  return "bench_" + std::to_string(getpid()) + "_" + std::to_string(number++);
}

/// TCP with its reactor.
class OwnTcpCarrier final : public link::Carrier {
 public:
  OwnTcpCarrier(std::vector<Address> addresses, std::uint32_t self, std::vector<std::uint32_t> peers)
      : carrier_(reactor_, std::move(addresses), self, std::move(peers)) {}
  void start(Events events) override { carrier_.start(std::move(events)); }
  void send(std::uint32_t to, std::span<const std::byte> packet) override { carrier_.send(to, packet); }
  void answer(std::uint32_t to, std::span<const std::byte> packet) override { carrier_.answer(to, packet); }
  [[nodiscard]] bool lossless() const override { return carrier_.lossless(); }
  [[nodiscard]] bool flushed(std::uint32_t to) const override { return carrier_.flushed(to); }
  void run() override { carrier_.run(); }
  void stop() override { carrier_.stop(); }

 private:
  link::EpollReactor reactor_;
  link::TcpCarrier carrier_;
};

std::uint16_t free_ports(std::uint16_t count) {
  static std::uint16_t next = static_cast<std::uint16_t>(20'000 + getpid() % 20'000);
  return static_cast<std::uint16_t>((next = static_cast<std::uint16_t>(next + count)) - count);
}

MakeCarrier tcp(std::uint32_t count) {
  const std::uint16_t first = free_ports(static_cast<std::uint16_t>(count));
  std::vector<Address> addresses;
  for (std::uint32_t i = 0; i < count; ++i)
    addresses.push_back(Address::loopback(static_cast<std::uint16_t>(first + i)));
  return [addresses](std::uint32_t self, std::uint32_t members) {
    return std::make_unique<OwnTcpCarrier>(addresses, self, all_but(self, members));
  };
}
MakeCarrier dds(std::uint32_t) {
  return [name = federation()](std::uint32_t self, std::uint32_t members) {
    return std::make_unique<link::DdsCarrier>(name, names(members), self, all_but(self, members),
                                              link::DdsOptions{0, "lo", {}});
  };
}
MakeCarrier ros(std::uint32_t) {
  return [name = federation()](std::uint32_t self, std::uint32_t members) {
    return std::make_unique<link::RosCarrier>(name, names(members), self, all_but(self, members));
  };
}

/// Whether `self` of the system came to its end, over this carrier.
bool run_node(flow::System& system, std::uint32_t self, link::Carrier& carrier, std::int64_t steps) {
  WallClock clock;
  link::Roster roster{"bench", flow::hash_of(system.graph()), {}, self, flow::Island::neighbours(system.graph(), self)};
  for (const flow::NodeInfo& node : system.graph().nodes) roster.names.push_back(node.name);
  link::Federation members(carrier, clock, roster, {});
  flow::Options options;
  options.until = SimTime::zero() + SimSpan(1ms) * steps;
  options.digest = false;
  options.on_stall = [](const flow::WaitForGraph& graph) { std::fprintf(stderr, "%s\n", to_string(graph).c_str()); };
  options.stall_after = 1s;
  const flow::FlowOutcome outcome = RemoteNode(system, self, options, members, carrier, clock).run();
  for (const flow::NodeFailure& failure : outcome.failures) std::fprintf(stderr, "%s\n", to_string(failure).c_str());
  return outcome.complete;
}

double synchronised_steps(const MakeCarrier& make, std::uint32_t members, const Course& course) {
  window = BestWindow(course.window);
  const double seconds = in_processes(members, [&](std::uint32_t self) {
    flow::System system = all_to_all<WatchedCell>(members);
    const auto carrier = make(self, members);
    const bool whole = run_node(system, self, *carrier, static_cast<std::int64_t>(course.steps()));
    return whole ? window.best() : -1;
  });
  return seconds > 0 ? static_cast<double>(course.window) / seconds : 0;
}

double memory_steps(std::uint32_t members, const Course& course) {
  window = BestWindow(course.window);
  void* memory = mmap(nullptr, sizeof *shared_best, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ENSURE(memory != MAP_FAILED, "shared memory");
  shared_best = new (memory) std::atomic<double>(-1);
  flow::System system = all_to_all<WatchedCell>(members);
  flow::Options options;
  options.how = flow::How::processes;
  options.until = SimTime::zero() + SimSpan(1ms) * static_cast<std::int64_t>(course.steps());
  options.digest = false;
  const bool whole = run(system, options).complete;
  const double best = shared_best->load();
  shared_best = nullptr;
  munmap(memory, sizeof(std::atomic<double>));
  return whole && best > 0 ? static_cast<double>(course.window) / best : 0;
}

/// A ROS master of our own, while this lives.
class Master {
 public:
  Master() {
    const std::uint16_t port = free_ports(1);
    setenv("ROS_MASTER_URI", ("http://127.0.0.1:" + std::to_string(port)).c_str(), 1);
    setenv("ROS_HOSTNAME", "127.0.0.1", 1);
    pid_ = fork();
    if (pid_ == 0) {
      if (freopen("/dev/null", "w", stdout) == nullptr || freopen("/dev/null", "w", stderr) == nullptr) _exit(1);
      execlp("rosmaster", "rosmaster", "--core", "-p", std::to_string(port).c_str(), nullptr);
      _exit(127);
    }
    for (int i = 0; i < 200 && !there_; ++i) {
      there_ = answers(port);
      if (!there_) std::this_thread::sleep_for(100ms);
    }
  }
  ~Master() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Master(const Master&) = delete;
  Master& operator=(const Master&) = delete;
  [[nodiscard]] bool there() const { return there_; }

 private:
  static bool answers(std::uint16_t port) {
    const int end = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool yes = connect(end, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    close(end);
    return yes;
  }
  pid_t pid_ = -1;
  bool there_ = false;
};

constexpr std::uint32_t sizes[] = {2, 4, 8};  // members

using Make = MakeCarrier (*)(std::uint32_t);

/// The best of both: neighbours on the machine only ever make them worse. In several rounds, because the kernel may put
/// the processes of one onto one core and keep them there, where they are several times as fast.
void bench_steps(Report& report, const std::string& what, const std::uint32_t members, int rounds,
                 const std::function<double()>& ours, const std::function<double()>& bare) {
  std::pair<double, double> best{0, 0};
  for (int i = 0; i < (report.long_run() ? 7 : rounds); ++i) {
    best.first = std::max(best.first, ours());
    best.second = std::max(best.second, bare());
  }
  char versus[80];
  std::snprintf(versus, sizeof versus, "the same bytes bare: %.0f/s", best.second);
  report.ratio_at_least("links_" + what + "_all_" + std::to_string(members) + "_steps_per_s", best.first, "1/s", versus,
                        best.second, 0.6);
}

/// Windows of so many steps of two members, fewer with more members.
Course course_for(const std::uint32_t members, std::uint64_t steps) { return {2 * steps / members, 4}; }

void bench_carrier_steps(Report& report, const std::string& what, Make make, std::uint64_t steps) {
  for (const std::uint32_t members : sizes) {
    const Course course = course_for(members, steps);
    bench_steps(
        report, what, members,
        members == 2  ? 3
        : make == ros ? 1
                      : 2,  // many take seconds to meet through a master
        [&] { return synchronised_steps(make(members), members, course); },
        [&] {
          return make == tcp ? bare_tcp_exchange(members, course) : bare_exchange(make(members), members, course);
        });
  }
}

template <std::size_t size>
struct Block {
  std::array<std::byte, size> bytes;
};
template <std::size_t size>
class Source : public flow::UserNode {
  void fill(Block<size>& block) { block.bytes[0] = std::byte{1}; }
  flow::Output<Block<size>> out_ = output<&Source::fill>("out", flow::every(1ms), 64);
};
template <std::size_t size>
class Sink : public flow::UserNode {
  void got(const Block<size>& block) { sum_ += static_cast<int>(block.bytes[0]); }
  int sum_ = 0;
  flow::Input<Block<size>> in_ = input<&Sink::got>("in");
};

template <std::size_t size>
double one_way(const MakeCarrier& make, std::int64_t messages) {
  const double seconds = in_processes(2, [&](std::uint32_t self) {
    flow::System system;
    system.add<Timed<Source<size>>>("n0");
    system.add<Timed<Sink<size>>>("n1");
    system.connect("n0.out", "n1.in");
    const auto carrier = make(self, 2);
    return run_node(system, self, *carrier, messages) ? seconds_between() : -1;
  });
  return seconds > 0 ? static_cast<double>(messages) / seconds : 0;
}

void bench_throughput(Report& report, const std::string& what, Make make) {
  report.found("links_" + what + "_one_way_64B_messages_per_s", one_way<64>(make(2), 50'000), "1/s");
  report.found("links_" + what + "_one_way_64KB_MB_per_s", one_way<65'536>(make(2), 2'000) * 65.536e-3, "MB/s");
}

void bench_carrier(Report& report, const std::string& what, Make make, std::uint64_t steps) {
  bench_carrier_steps(report, what, make, steps);
  bench_throughput(report, what, make);
}

/// With one delay between any two hosts and messages that are due a step later, a step takes one delay: nobody can
/// begin a step before the others' last messages are there, and nothing else needs to travel.
void bench_delayed(Report& report) {
  constexpr auto delay = 1ms;
  constexpr std::uint32_t hosts = 3;
  DelayedHosts net(hosts, delay);
  if (!net.trouble().empty()) {
    report.found("links_3_hosts_1ms_steps_per_s", NAN, "1/s", "not measured: " + net.trouble());
    return;
  }
  std::vector<Address> addresses;
  for (std::uint32_t i = 0; i < hosts; ++i) {
    addresses.push_back(Address::v4(10, 78, 0, static_cast<std::uint8_t>(i + 1), 7500));
  }
  const MakeCarrier make = [&](std::uint32_t self, std::uint32_t members) {
    net.enter(self);
    return std::make_unique<OwnTcpCarrier>(addresses, self, all_but(self, members));
  };
  const Course course{100, 8};
  double ours = 0, bare = 0, one_way = 0;
  for (int i = 0; i < (report.long_run() ? 10 : 2); ++i) {
    ours = std::max(ours, synchronised_steps(make, hosts, course));
    bare = std::max(bare, bare_hosts_exchange(net, hosts, course));
    one_way = std::max(one_way, bare_hosts_exchange(net, 2, course));
  }
  char versus[240];
  std::snprintf(
      versus, sizeof versus,
      "one way between two hosts, plain sockets: %.0f/s, the most that this network allows (nominally 1000/s; "
      "three hosts with plain sockets: %.0f/s)",
      one_way, bare);
  report.ratio_at_least("links_3_hosts_1ms_steps_per_s", ours, "1/s", versus, one_way, 0.9);
  report.found("links_3_hosts_1ms_share_of_nominal", ours / 1e3, "x", "1000 steps/s, one delay of 1 ms each");
}

void bench_shared_memory(Report& report) {
  for (const std::uint32_t members : sizes) {
    const Course course = course_for(members, 5'000);
    bench_steps(
        report, "shared_memory", members, 3, [&] { return memory_steps(members, course); },
        [&] { return bare_memory_exchange(members, course); });
  }
}

void bench_ros(Report& report) {
  const Master master;
  if (master.there()) return bench_carrier(report, "ros", ros, 1'000);
  report.found("links_ros", NAN, "1/s", "not measured: no rosmaster can be started");
}

}  // namespace

void bench_network(Report& report, std::string_view only) {
  const auto wanted = [only](std::string_view what) { return only.empty() || only == what; };
  if (wanted("shared_memory")) bench_shared_memory(report);
  if (wanted("tcp")) bench_carrier(report, "tcp", tcp, 2'000);
  if (wanted("dds") && has_part("DDS")) bench_carrier(report, "dds", dds, 1'000);
  if (wanted("ros") && has_part("ROS 1")) bench_ros(report);
  if (wanted("hosts")) bench_delayed(report);
}

}  // namespace isochron::bench
