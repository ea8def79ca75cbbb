// Quadrotors at 400 Hz in lock-step with autopilots that answer at once, through the scenario, with a journal.
//
//     world ── state ──► socket ──► a thread that answers with the same controls ──► socket ── controls ──► world
//
// Beside it the same packets between two threads and nothing else.

#include "run/bench/autopilot_bench.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "bridge/autopilot/ardupilot.hpp"
#include "bridge/autopilot/mavlink.hpp"
#include "journal/disk.hpp"
#include "run/run.hpp"
#include "run/wall_clock.hpp"

namespace isochron::bench {
namespace {

using autopilot::Bytes;
namespace mavlink = autopilot::mavlink;

constexpr std::uint16_t first_udp = 19402, first_tcp = 14960;
constexpr std::size_t line_bytes = 330, sensor_bytes = 160;  // of a state, about
constexpr int exchanges = 20'000;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

int udp_socket() {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const timeval limit{0, 200'000};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return fd;
}

/// Says the same in every frame.
class NullAutopilot {
 public:
  NullAutopilot(bool px4, std::uint16_t port)
      : thread_([this, px4, port] { px4 ? run_px4(port) : run_ardupilot(port); }) {}
  ~NullAutopilot() {
    stop_ = true;
    thread_.join();
  }

 private:
  void run_ardupilot(std::uint16_t port) {
    const int fd = udp_socket();
    const sockaddr_in to = loopback(port);
    autopilot::ServoPacket packet;
    packet.frame_rate = 400;
    packet.pulses.fill(1100);
    Bytes bytes;
    char room[2048];
    while (!stop_) {
      bytes.clear();
      write_servos(packet, bytes);
      sendto(fd, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
      if (recv(fd, room, sizeof room, 0) > 0) ++packet.frame;
    }
    close(fd);
  }

  void run_px4(std::uint16_t port) {
    const sockaddr_in to = loopback(port);
    int fd = -1;
    while (!stop_) {
      fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) break;
      close(fd);
      fd = -1;
      usleep(1000);
    }
    if (fd < 0) return;
    const int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    mavlink::Sender sender(1, 1);
    mavlink::Parser parser;
    std::array<std::byte, 4096> room{};
    Bytes bytes;
    for (ssize_t got = 0; (got = recv(fd, room.data(), room.size(), 0)) > 0;) {
      parser.push(std::span(room).first(static_cast<std::size_t>(got)));
      bytes.clear();
      while (const auto frame = parser.next()) {
        const auto sensor = mavlink::as<mavlink::HilSensor>(*frame);
        if (!sensor) continue;
        mavlink::HilActuatorControls controls;
        controls.time_usec = sensor->time_usec;
        controls.mode = 129;
        sender.send(controls, bytes);
      }
      if (!bytes.empty()) (void)send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    close(fd);
  }

  std::atomic<bool> stop_{false};
  std::thread thread_;
};

std::string model(int vehicles) {
  std::string bodies, actuators;
  for (int i = 0; i < vehicles; ++i) {
    const std::string name = "uav" + std::to_string(i);
    bodies += "<body name=\"" + name + "\" pos=\"" + std::to_string(2 * i) + " 0 1\"><freejoint/>" +
              "<geom type=\"box\" size=\"0.1 0.1 0.03\" mass=\"1.2\"/><site name=\"" + name + "_imu\"/>";
    for (int r = 0; r < 4; ++r) {
      const std::string rotor = name + "_" + std::to_string(r);
      bodies += "<site name=\"" + rotor + "\" pos=\"" + (r < 2 ? "0.16" : "-0.16") + (r % 2 == 0 ? " 0.16" : " -0.16") +
                " 0.05\"/>";
      actuators += "<general name=\"" + rotor + "\" site=\"" + rotor +
                   "\" gear=\"0 0 1 0 0 0\" ctrllimited=\"true\" ctrlrange=\"0 6\"/>";
    }
    bodies += "</body>\n";
  }
  return "<mujoco><option timestep=\"0.0025\"/><worldbody><geom type=\"plane\" size=\"0 0 1\"/>\n" + bodies +
         "</worldbody><actuator>" + actuators + "</actuator></mujoco>\n";
}

std::string scenario_text(int vehicles, bool px4) {
  std::string text =
      "name: lockstep\nduration: 20s\nworld: {model: quads.xml, step: 2.5ms}\ntime: {mode: callback}\nrobots:\n";
  for (int i = 0; i < vehicles; ++i) {
    const std::string name = "uav" + std::to_string(i);
    const std::string link = px4 ? "px4: {port: " + std::to_string(first_tcp + i)
                                 : "ardupilot: {port: " + std::to_string(first_udp + 10 * i);
    text += "  " + name + ":\n    sensors: {imu: {type: imu, site: " + name +
            "_imu, every: 2.5ms}}\n    programs: {pilot: {link: {" + link + "}, every: 2.5ms, motors: [" + name +
            "_0, " + name + "_1, " + name + "_2, " + name + "_3]}}}\n";
  }
  return text;
}

/// The real-time factor.
double fly(int vehicles, bool px4, const std::string& folder) {
  std::ofstream(folder + "/quads.xml") << model(vehicles);
  std::ofstream(folder + "/quads.yaml") << scenario_text(vehicles, px4);
  std::vector<std::unique_ptr<NullAutopilot>> pilots;
  for (int i = 0; i < vehicles; ++i) {
    pilots.push_back(
        std::make_unique<NullAutopilot>(px4, static_cast<std::uint16_t>(px4 ? first_tcp + i : first_udp + 10 * i)));
  }
  WallClock clock;
  PosixDisk disk;
  RunWatch watch;
  RunOptions options;
  options.journal = folder + "/quads.mcap";
  return run_scenario(load_scenario(folder + "/quads.yaml"), options, clock, disk, watch).real_time_factor();
}

/// Exchanges per second of packets of these sizes between two threads.
double bare(bool stream, std::size_t there, std::size_t back) {
  int ends[2] = {-1, -1};
  const sockaddr_in to = loopback(0);
  if (stream) {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    bind(listener, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    listen(listener, 1);
    sockaddr_in at{};
    socklen_t size = sizeof at;
    getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(ends[0], reinterpret_cast<sockaddr*>(&at), size) != 0) return std::nan("");
    ends[1] = accept(listener, nullptr, nullptr);
    close(listener);
    const int yes = 1;
    for (const int fd : ends) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  } else {
    sockaddr_in at[2];
    socklen_t size = sizeof at[0];
    for (int i = 0; i < 2; ++i) {
      ends[i] = socket(AF_INET, SOCK_DGRAM, 0);
      bind(ends[i], reinterpret_cast<const sockaddr*>(&to), sizeof to);
      getsockname(ends[i], reinterpret_cast<sockaddr*>(&at[i]), &size);
    }
    for (int i = 0; i < 2; ++i) {
      if (connect(ends[i], reinterpret_cast<sockaddr*>(&at[1 - i]), size) != 0) return std::nan("");
    }
  }
  std::thread other([&] {
    std::vector<char> room(there), answer(back);
    for (int i = 0; i < exchanges; ++i) {
      for (std::size_t got = 0; got < there;) {
        const ssize_t more = recv(ends[1], room.data(), there - got, 0);
        if (more <= 0) return;
        got += static_cast<std::size_t>(more);
      }
      if (send(ends[1], answer.data(), back, MSG_NOSIGNAL) < 0) return;
    }
  });
  std::vector<char> state(there), room(back);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < exchanges; ++i) {
    if (send(ends[0], state.data(), there, MSG_NOSIGNAL) < 0) break;
    for (std::size_t got = 0; got < back;) {
      const ssize_t more = recv(ends[0], room.data(), back - got, 0);
      if (more <= 0) break;
      got += static_cast<std::size_t>(more);
    }
  }
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  other.join();
  for (const int fd : ends) close(fd);
  return exchanges / took;
}

}  // namespace

void bench_autopilots(Report& report) {
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("isochron_autopilots_" + std::to_string(getpid()))).string();
  std::filesystem::create_directories(folder);
  for (const bool px4 : {false, true}) {
    const std::string kind = px4 ? "px4" : "ardupilot";
    const auto [factor, beside] = side_by_side(
        3, [&] { return fly(1, px4, folder); },
        [&] { return px4 ? bare(true, sensor_bytes, 93) : bare(false, line_bytes, 40); });
    report.at_least("lockstep_1_" + kind + "_400hz_real_time_factor", factor, "x", 20);
    report.ratio_at_least("lockstep_1_" + kind + "_exchanges_per_s", factor * 400, "1/s",
                          px4 ? "bare TCP between two threads" : "bare UDP between two threads", beside, 0.6);
  }
  report.at_least("lockstep_10_ardupilot_400hz_real_time_factor", fly(10, false, folder), "x", 3);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

}  // namespace isochron::bench
