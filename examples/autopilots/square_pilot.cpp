// An autopilot that knows nothing of Isochron: it takes off, flies a square and lands, through the simulator interface
// of ArduPilot, PX4 or Betaflight, as these programs use it. It stands in for them where they are not installed.
//
//     square_pilot ardupilot|px4|betaflight PORT [work N] [side M] [height M] [stop SECONDS]
//
// `work N`: it computes N rounds of a filter's covariance in each loop, as an estimator would.

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "bridge/autopilot/mavlink.hpp"
#include "examples/autopilots/flight.hpp"

namespace {

namespace mavlink = isochron::autopilot::mavlink;
using isochron::autopilot::Bytes;

struct Options {
  int work = 0;
  double side = 2, height = 1.2, stop = 1e9;
};

sockaddr_in loopback(int port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(port));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

/// What all three have in common: from a state to motors, and a word about how it went.
class Pilot {
 public:
  explicit Pilot(const Options& options) : options_(options) {}

  /// Nothing: it has landed.
  std::optional<std::array<double, 4>> fly(const flight::State& state) {
    using flight::operator-;
    if (!mission_) {
      began_ = state.time;
      mission_ = std::make_unique<flight::Mission>(state.position, options_.height, options_.side, 0.8);
    }
    burden_.carry(options_.work);
    const double time = state.time - began_;
    const auto goal = mission_->at(time);
    const double off = flight::length(goal.position - state.position);
    if (mission_->cruises(time)) error_.add(off);
    if (goal.done || time > options_.stop) {
      std::printf("landed after %.1f s, %.2f m from where it began; on the way %.3f m off (rms), %.3f m at most\n",
                  time, std::hypot(state.position[0] - goal.position[0], state.position[1] - goal.position[1]),
                  error_.rms(), error_.most());
      std::fflush(stdout);
      return std::nullopt;
    }
    return controller_.fly(state, goal);
  }

 private:
  Options options_;
  std::unique_ptr<flight::Mission> mission_;
  flight::Controller controller_{flight::Airframe{}};
  flight::Error error_;
  flight::Burden burden_;
  double began_ = 0;
};

// ---- ArduPilot: --model JSON

bool numbers_after(const char* text, const char* key, double* to, int count) {
  const char* at = std::strstr(text, key);
  if (at == nullptr) return false;
  at += std::strlen(key);
  for (int i = 0; i < count; ++i) {
    while (*at == '[' || *at == ',' || *at == ':' || *at == '"') ++at;
    char* end = nullptr;
    to[i] = std::strtod(at, &end);
    if (end == at) return false;
    at = end;
  }
  return true;
}

int fly_ardupilot(int port, Pilot& pilot) {
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  const timeval limit{1, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  const sockaddr_in simulator = loopback(port);
  struct {
    std::uint16_t magic = 18458, rate = 400;
    std::uint32_t frame = 0;
    std::uint16_t pwm[16] = {};
  } servos;
  for (auto& pulse : servos.pwm) pulse = 1000;
  static char line[65536];
  for (;;) {
    sendto(fd, &servos, sizeof servos, 0, reinterpret_cast<const sockaddr*>(&simulator), sizeof simulator);
    const ssize_t got = recv(fd, line, sizeof line - 1, 0);
    if (got <= 0) continue;  // it is said again
    line[got] = 0;
    flight::State state;
    if (!numbers_after(line, "\"timestamp\"", &state.time, 1) ||
        !numbers_after(line, "\"gyro\"", state.rate.data(), 3) ||
        !numbers_after(line, "\"position\"", state.position.data(), 3) ||
        !numbers_after(line, "\"quaternion\"", state.attitude.data(), 4) ||
        !numbers_after(line, "\"velocity\"", state.velocity.data(), 3)) {
      std::fprintf(stderr, "the simulator's line cannot be read: %s\n", line);
      return 1;
    }
    ++servos.frame;
    const auto motors = pilot.fly(state);
    if (!motors) return 0;
    for (std::size_t i = 0; i < 4; ++i)
      servos.pwm[i] = static_cast<std::uint16_t>(1000 + std::lround((*motors)[i] * 1000));
  }
}

// ---- PX4: simulator_mavlink

class Px4 {
 public:
  explicit Px4(Pilot& pilot) : pilot_(pilot) {}

  int run(int port) {
    int fd = -1;
    const sockaddr_in simulator = loopback(port);
    for (;;) {
      fd = socket(AF_INET, SOCK_STREAM, 0);
      const int yes = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      if (connect(fd, reinterpret_cast<const sockaddr*>(&simulator), sizeof simulator) == 0) break;
      close(fd);
      usleep(500);
    }
    Bytes out;
    sender_.send(mavlink::Heartbeat{.autopilot = 12}, out);
    mavlink::CommandLong ask;
    ask.command = 511;
    ask.params[0] = mavlink::HilStateQuaternion::id;
    ask.params[1] = 5000;
    sender_.send(ask, out);
    std::array<std::byte, 65536> room{};
    for (;;) {
      if (!out.empty() && send(fd, out.data(), out.size(), MSG_NOSIGNAL) < 0) return 0;
      out.clear();
      const ssize_t got = recv(fd, room.data(), room.size(), 0);
      if (got <= 0) return 0;
      parser_.push(std::span(room).first(static_cast<std::size_t>(got)));
      if (!take_in(out)) return 0;
    }
  }

 private:
  /// The newest state counts: who is slow does not fly by old ones.
  bool take_in(Bytes& out) {
    bool fresh = false;
    while (const auto frame = parser_.next()) {
      if (const auto sensor = mavlink::as<mavlink::HilSensor>(*frame)) {
        for (std::size_t i = 0; i < 3; ++i) state_.rate[i] = static_cast<double>(sensor->gyr[i]);
        time_ = sensor->time_usec;
      } else if (const auto truth = mavlink::as<mavlink::HilStateQuaternion>(*frame)) {
        take(*truth);
        fresh = truth->time_usec == time_;
      }
    }
    if (!fresh) return true;
    const auto motors = pilot_.fly(state_);
    if (!motors) return false;
    mavlink::HilActuatorControls controls;
    controls.time_usec = time_;
    controls.flags = 1;
    controls.mode = 129;
    for (std::size_t i = 0; i < 4; ++i) controls.controls[i] = static_cast<float>((*motors)[i]);
    sender_.send(controls, out);
    return true;
  }

  void take(const mavlink::HilStateQuaternion& truth) {
    constexpr double metres = 6371000 * 3.14159265358979 / 180 * 1e-7;
    if (!home_known_) {
      home_[0] = truth.lat;
      home_[1] = truth.lon;
      home_[2] = truth.alt;
      home_known_ = true;
    }
    state_.time = static_cast<double>(truth.time_usec) * 1e-6;
    state_.position = {(truth.lat - home_[0]) * metres,
                       (truth.lon - home_[1]) * metres * std::cos(home_[0] * 1e-7 * 0.017453292519943295),
                       -(truth.alt - home_[2]) * 1e-3};
    state_.velocity = {truth.vx * 0.01, truth.vy * 0.01, truth.vz * 0.01};
    for (std::size_t i = 0; i < 4; ++i) state_.attitude[i] = static_cast<double>(truth.attitude[i]);
  }

  Pilot& pilot_;
  mavlink::Parser parser_;
  mavlink::Sender sender_{1, 1};
  flight::State state_;
  std::uint64_t time_ = 0;
  bool home_known_ = false;
  std::array<double, 3> home_{};
};

// ---- Betaflight: SITL

int fly_betaflight(int port, Pilot& pilot) {
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  const sockaddr_in here = loopback(port + 1), simulator = loopback(port);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0) {
    std::perror("the state's port");
    return 1;
  }
  std::optional<std::array<double, 3>> home;
  for (;;) {
    double fdm[18] = {}, more[18];
    if (recv(fd, fdm, sizeof fdm, 0) != sizeof fdm) continue;
    while (recv(fd, more, sizeof more, MSG_DONTWAIT) == sizeof more) std::memcpy(fdm, more, sizeof fdm);
    constexpr double metres = 6371000 * 3.14159265358979 / 180;
    if (!home) home = {fdm[14], fdm[15], fdm[16]};
    flight::State state;
    state.time = fdm[0];
    state.rate = {fdm[1], fdm[2], fdm[3]};
    state.attitude = {fdm[7], fdm[8], fdm[9], fdm[10]};
    state.velocity = {fdm[12], fdm[11], -fdm[13]};
    state.position = {(fdm[15] - (*home)[1]) * metres,
                      (fdm[14] - (*home)[0]) * metres * std::cos((*home)[1] * 0.017453292519943295),
                      -(fdm[16] - (*home)[2])};
    const auto motors = pilot.fly(state);
    if (!motors) return 0;
    float speeds[4];
    for (std::size_t i = 0; i < 4; ++i) speeds[i] = static_cast<float>((*motors)[i]);
    sendto(fd, speeds, sizeof speeds, 0, reinterpret_cast<const sockaddr*>(&simulator), sizeof simulator);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr,
                 "usage: square_pilot ardupilot|px4|betaflight PORT [work N] [side M] [height M] [stop SECONDS]\n");
    return 2;
  }
  Options options;
  for (int i = 3; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    const double value = std::atof(argv[i + 1]);
    if (key == "work") options.work = static_cast<int>(value);
    if (key == "side") options.side = value;
    if (key == "height") options.height = value;
    if (key == "stop") options.stop = value;
  }
  Pilot pilot(options);
  const std::string protocol = argv[1];
  const int port = std::atoi(argv[2]);
  if (protocol == "ardupilot") return fly_ardupilot(port, pilot);
  if (protocol == "px4") return Px4(pilot).run(port);
  if (protocol == "betaflight") return fly_betaflight(port, pilot);
  std::fprintf(stderr, "%s is none of ardupilot, px4, betaflight\n", argv[1]);
  return 2;
}
