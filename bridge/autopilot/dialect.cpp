#include "bridge/autopilot/dialect.hpp"

#include "bridge/autopilot/ardupilot.hpp"

namespace isochron::autopilot {
namespace {

class Ardupilot final : public Dialect {
 public:
  explicit Ardupilot(const ArdupilotSetup& setup) : options_{setup.no_time_sync} {}
  const char* name() const override { return "ArduPilot"; }
  bool speaks_first() const override { return true; }

  void tell(const VehicleState& state, std::vector<Packet>& to) override {
    line_.clear();
    write_line(state, options_, line_);
    const auto bytes = std::as_bytes(std::span(line_));
    to.push_back({0, {bytes.begin(), bytes.end()}});
  }

  Heard hear(std::span<const std::byte> bytes) override {
    Heard heard;
    const auto packet = read_servos(bytes);
    if (!packet.ok()) {
      heard.wrong.push_back(packet.error());
      return heard;
    }
    const std::uint32_t before = last_;
    last_ = packet->frame;
    switch (count_.take(packet->frame)) {
      case FrameCount::Kind::repeated:
        heard.asks_again = true;
        return heard;
      case FrameCount::Kind::restarted:
        heard.restarted = true;
        break;
      case FrameCount::Kind::skipped:
        heard.skipped = packet->frame - before - 1;
        break;
      case FrameCount::Kind::first:
      case FrameCount::Kind::next:
        break;
    }
    heard.controls = controls_of(*packet);
    heard.answers = 1;
    heard.rate = packet->frame_rate;
    return heard;
  }

  void begin_again() override { count_.forget(); }

 private:
  JsonOptions options_;
  FrameCount count_;
  std::uint32_t last_ = 0;
  std::string line_;
};

class Px4 final : public Dialect {
 public:
  explicit Px4(const Px4Setup& setup)
      : options_{setup.truth}, key_(setup.key), parser_(setup.key), sender_(us, component, setup.key) {}
  const char* name() const override { return "PX4"; }
  bool streams() const override { return true; }
  bool answers_all() const override { return flies_; }

  void tell(const VehicleState& state, std::vector<Packet>& to) override {
    Packet& packet = to.emplace_back();
    if (state.at >= heartbeat_) {
      sender_.send(mavlink::Heartbeat{.type = 6, .autopilot = 8, .system_status = 4}, packet.bytes);
      heartbeat_ = state.at + SimSpan(std::chrono::seconds(1));
    }
    latest_us_ = static_cast<std::uint64_t>(state.at.ns() / 1000);
    sender_.set_stamp(latest_us_ / 10);
    send_state(state, options_, sender_, packet.bytes);
  }

  Heard hear(std::span<const std::byte> bytes) override {
    Heard heard;
    parser_.push(bytes);
    while (const auto frame = parser_.next()) {
      if (const auto controls = mavlink::as<mavlink::HilActuatorControls>(*frame)) {
        heard.controls = controls_of(*controls);
        if (controls->time_usec <= latest_us_) {
          heard.of = SimTime::from_ns(static_cast<std::int64_t>(controls->time_usec) * 1000);
        }
        ++heard.answers;
        flies_ = true;
      } else if (const auto command = mavlink::as<mavlink::CommandLong>(*frame)) {
        heard.replies.push_back({0, acknowledged(*command, *frame)});
      }
    }
    const auto complain = [&](std::uint64_t now, std::uint64_t& before, const char* what) {
      if (now > before) heard.wrong.push_back(std::to_string(now - before) + what);
      before = now;
    };
    complain(parser_.figures().skipped_bytes, told_.skipped_bytes, " bytes that belong to no MAVLink frame");
    complain(parser_.figures().bad_checksums, told_.bad_checksums, " frames with a wrong checksum");
    complain(parser_.figures().bad_signatures, told_.bad_signatures, " frames without a right signature");
    return heard;
  }

  void begin_again() override {
    parser_ = mavlink::Parser(key_);
    told_ = {};
    flies_ = false;
    heartbeat_ = SimTime::zero();
  }

 private:
  static constexpr std::uint8_t us = 1, component = 51;
  static constexpr std::uint16_t set_message_interval = 511;

  /// It asks for the true state; everything else is not ours to do.
  Bytes acknowledged(const mavlink::CommandLong& command, const mavlink::Frame& frame) {
    mavlink::CommandAck ack;
    ack.command = command.command;
    ack.target_system = frame.system;
    ack.target_component = frame.component;
    constexpr std::uint8_t accepted = 0, unsupported = 3;
    ack.result = command.command == set_message_interval ? accepted : unsupported;
    Bytes bytes;
    sender_.send(ack, bytes);
    return bytes;
  }

  mavlink::SimulatorOptions options_;
  std::optional<mavlink::SigningKey> key_;
  mavlink::Parser parser_;
  mavlink::Parser::Figures told_;
  mavlink::Sender sender_;
  bool flies_ = false;
  SimTime heartbeat_;
  std::uint64_t latest_us_ = 0;  // that it was told
};

class Betaflight final : public Dialect {
 public:
  explicit Betaflight(const BetaflightSetup& setup) : sticks_(setup.sticks) {}
  const char* name() const override { return "Betaflight"; }

  void tell(const VehicleState& state, std::vector<Packet>& to) override {
    Packet& packet = to.emplace_back();
    packet.beyond = 1;
    write_fdm(state, packet.bytes);
    if (!sticks_) return;
    Packet& more = to.emplace_back();
    more.beyond = 2;
    write_sticks(state.at, *sticks_, more.bytes);
  }

  Heard hear(std::span<const std::byte> bytes) override {
    Heard heard;
    const auto controls = read_motors(bytes);
    if (!controls.ok()) {
      heard.wrong.push_back(controls.error());
      return heard;
    }
    heard.controls = *controls;
    heard.answers = 1;
    return heard;
  }

  void begin_again() override {}

 private:
  std::optional<Sticks> sticks_;
};

}  // namespace

std::unique_ptr<Dialect> make_dialect(const ArdupilotSetup& setup) { return std::make_unique<Ardupilot>(setup); }
std::unique_ptr<Dialect> make_dialect(const Px4Setup& setup) { return std::make_unique<Px4>(setup); }
std::unique_ptr<Dialect> make_dialect(const BetaflightSetup& setup) { return std::make_unique<Betaflight>(setup); }

}  // namespace isochron::autopilot
