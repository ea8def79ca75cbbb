// Nodes in processes, every one sends 64 B to all others each step of 1 ms (FACTS §9's task), run as `isochron launch`
// runs them, beside the same bytes over the bare middleware.

#include "scenario/bench/network_bench.hpp"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "flow/bench/cells.hpp"
#include "flow/run.hpp"
#include "flow/wall_clock.hpp"
#include "link/dds/dds_carrier.hpp"
#include "link/reactor.hpp"
#include "link/ros/ros_carrier.hpp"
#include "link/tcp_carrier.hpp"
#include "scenario/bench/bare_exchange.hpp"
#include "scenario/bench/delayed_hosts.hpp"
#include "scenario/remote_node.hpp"

namespace isochron::bench {
namespace {

using namespace std::chrono_literals;
using SteadyTime = std::chrono::steady_clock::time_point;

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

/// Seconds that `self` of the system took, over this carrier.
double run_node(flow::System& system, std::uint32_t self, link::Carrier& carrier, std::int64_t steps) {
  WallClock clock;
  link::Roster roster{"bench", flow::hash_of(system.graph()), {}, self, flow::Island::neighbours(system.graph(), self)};
  for (const flow::NodeInfo& node : system.graph().nodes) roster.names.push_back(node.name);
  link::Federation members(carrier, clock, roster, {});
  flow::Options options;
  options.until = SimTime::zero() + SimSpan(1ms) * steps;
  options.digest = false;
  options.on_stall = [](const flow::WaitForGraph& graph) { std::fprintf(stderr, "%s\n", to_string(graph).c_str()); };
  options.stall_after = 1s;
  const flow::Outcome outcome = RemoteNode(system, self, options, members, carrier, clock).run();
  for (const flow::NodeFailure& failure : outcome.failures) std::fprintf(stderr, "%s\n", to_string(failure).c_str());
  return outcome.complete ? seconds_between() : -1;
}

double synchronised_steps(const MakeCarrier& make, std::uint32_t members, std::int64_t steps) {
  const double seconds = in_processes(members, [&](std::uint32_t self) {
    flow::System system = all_to_all<Timed<Cell>>(members);
    const auto carrier = make(self, members);
    return run_node(system, self, *carrier, steps);
  });
  return seconds > 0 ? static_cast<double>(steps) / seconds : 0;
}

double memory_steps(std::uint32_t members, std::int64_t steps) {
  flow::System system = all_to_all(members);
  flow::Options options;
  options.how = flow::How::processes;
  options.until = SimTime::zero() + SimSpan(1ms) * steps;
  options.digest = false;
  const auto start = std::chrono::steady_clock::now();
  if (!run(system, options).complete) return 0;
  return static_cast<double>(steps) / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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

struct Peers {
  std::uint32_t members;
  double sil_kit, helics;  // FACTS §9: SIL Kit over TCP, HELICS over TCP
};
constexpr Peers sizes[] = {{2, 28'500, 4'500}, {4, 6'200, 780}, {8, 1'600, 64}};

using Make = MakeCarrier (*)(std::uint32_t);

/// The best of both: neighbours on the machine only ever make them worse.
void bench_steps(Report& report, const std::string& what, const Peers& size, const std::function<double()>& ours,
                 const std::function<double()>& bare) {
  std::pair<double, double> best{0, 0};
  for (int i = 0; i < (report.long_run() ? 7 : 3); ++i) {
    best.first = std::max(best.first, ours());
    best.second = std::max(best.second, bare());
  }
  char versus[160];
  std::snprintf(versus, sizeof versus, "the same bytes bare: %.0f/s (FACTS §9 over TCP: SIL Kit %.0f, HELICS %.0f)",
                best.second, size.sil_kit, size.helics);
  report.ratio_at_least("links_" + what + "_all_" + std::to_string(size.members) + "_steps_per_s", best.first, "1/s",
                        versus, best.second, 0.6);
}

void bench_carrier(Report& report, const std::string& what, Make make, std::int64_t steps) {
  for (const Peers& size : sizes) {
    const std::int64_t n = steps / size.members;
    bench_steps(
        report, what, size, [&] { return synchronised_steps(make(size.members), size.members, n); },
        [&] {
          const auto count = static_cast<std::uint64_t>(n);
          return make == tcp ? bare_tcp_exchange(size.members, count)
                             : bare_exchange(make(size.members), size.members, count);
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
    return run_node(system, self, *carrier, messages);
  });
  return seconds > 0 ? static_cast<double>(messages) / seconds : 0;
}

void bench_throughput(Report& report, const std::string& what, Make make) {
  report.found("links_" + what + "_one_way_64B_messages_per_s", one_way<64>(make(2), 50'000), "1/s");
  report.found("links_" + what + "_one_way_64KB_MB_per_s", one_way<65'536>(make(2), 2'000) * 65.536e-3, "MB/s");
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
  double ours = 0, bare = 0;
  for (int i = 0; i < (report.long_run() ? 20 : 6); ++i) {
    ours = std::max(ours, synchronised_steps(make, hosts, 400));
    bare = std::max(bare, bare_exchange(make, hosts, 400));
  }
  constexpr double limit = 1e3;
  char versus[160];
  std::snprintf(versus, sizeof versus, "the limit of %.0f/s, one delay a step (bare exchange there: %.0f/s)", limit,
                bare);
  report.ratio_at_least("links_3_hosts_1ms_steps_per_s", ours, "1/s", versus, limit, 0.9);
}

}  // namespace

void bench_network(Report& report) {
  for (const Peers& size : sizes) {
    const std::int64_t n = 80'000 / size.members;
    bench_steps(
        report, "shared_memory", size, [&] { return memory_steps(size.members, n); },
        [&] { return bare_memory_exchange(size.members, static_cast<std::uint64_t>(n)); });
  }
  bench_carrier(report, "tcp", tcp, 16'000);
  bench_throughput(report, "tcp", tcp);
  bench_carrier(report, "dds", dds, 8'000);
  bench_throughput(report, "dds", dds);
  const Master master;
  if (master.there()) {
    bench_carrier(report, "ros", ros, 4'000);
    bench_throughput(report, "ros", ros);
  } else {
    report.found("links_ros", NAN, "1/s", "not measured: no rosmaster can be started");
  }
  bench_delayed(report);
}

}  // namespace isochron::bench
