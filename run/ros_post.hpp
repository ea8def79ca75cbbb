#pragma once
// The bridge to nodes of ROS at the desk, called `ros` or `ros2`: where the world is stepped for programs, in every mode,
// and at a client of a shared world. It acts when the world has stepped to t, on what happens until the next step.
//
//      step to t ─► exchange: readings that are there, world.tf … ─► topics
//                   each tick in [t, next step): variables, /clock ─► topics; what arrived ─► commands, the journal
//
// Promises: what it writes acts at its tick's time and `delay` later, as what a program writes then. A tick sees what the
//           bridge as a node of flows sees.
// Requires: record() and open() before the run. Threads: the coordinator's.
// Fails:    a wrong name or type: InputError, placed. Nobody to talk to: open() says so.

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "journal/journal.hpp"
#include "programs/correspondent.hpp"
#include "run/ros_bridge.hpp"

namespace isochron {

class RosPost final : public programs::Correspondent, private RosBridge::Taker {
 public:
  /// `scenario`, `stage` and `plant` outlive it; the stage tells it of readings as long as it lives. `radios` of cars,
  /// as in car01/v2x, have flows too: what they hear.
  RosPost(const Scenario& scenario, const RosPart& part, Stage& stage, WorldPlant& plant,
          const std::vector<std::string>& radios = {});

  /// What it takes in, one for each subscription, and what it says, as the journal has them.
  [[nodiscard]] std::vector<ChannelDefinition> channels() const;
  /// The payloads of these channels.
  [[nodiscard]] std::vector<const flow::PayloadType*> payloads() const;
  /// Told of all of it, by its place among the channels.
  using Note = std::function<void(std::size_t channel, SimTime at, std::span<const std::byte> cdr)>;
  void record(Note note) { note_ = std::move(note); }
  void record(Journal& journal, Producer& producer);
  /// Returns when those who are awaited are there, or the run is stopped.
  void open(RunWatch& watch, Clock& clock);

  [[nodiscard]] const std::vector<std::string>& names() const override { return names_; }
  void exchange(programs::Post& post, SimTime now, SimTime until) override;
  void leave() override { bridge_.close(); }
  /// A radio hears this at `arrives`, which is not before the next exchange.
  void frame(const std::string& radio, SimTime arrives, std::span<const std::uint8_t> octets);

 private:
  /// Which output of a sensor an entry publishes, or which flow of the world's, or of which radio.
  enum class World { tf, joints, state };
  struct Source {
    std::size_t flow;  // of the bridge
    std::optional<World> world;
    std::string radio = {};
    std::size_t sensor = 0, output = 0;
  };
  struct Ready {
    SimTime available;
    const Source* source;
    std::vector<std::byte> cdr;
  };
  void find_sources();
  void read(std::size_t sensor, const world::Reading& reading);
  void add(Ready ready);
  [[nodiscard]] bool blind(const Ready& ready) const;
  void publish_readings(SimTime now);
  void publish_world(SimTime now);
  template <Message M>
  void publish(std::size_t flow, const M& message);
  void took(std::size_t subscription, SimTime at, std::span<const std::byte> cdr) override;
  void write(std::uint32_t variable, SimTime at, std::span<const double> values) override;
  void said(SimTime at, std::span<const std::byte> log) override;

  Stage& stage_;
  RosBridge bridge_;
  std::vector<std::string> names_;
  std::vector<Source> sources_;
  bool reads_ = false;       // one of them is a sensor
  std::deque<Ready> ready_;  // by availability
  SimSpan ahead_;            // our time, of the stage's: always the same
  std::optional<SimTime> next_;
  RunWatch* watch_ = nullptr;
  programs::Post* post_ = nullptr;
  Note note_;
  world::State state_;
};

/// Those of a scenario, `ros` first.
std::vector<std::unique_ptr<RosPost>> ros_posts(const Scenario& scenario, Stage& stage, WorldPlant& plant,
                                                const std::vector<std::string>& radios = {});
/// What they record, and what is recorded of what they write.
std::vector<ChannelDefinition> ros_channels(const Scenario& scenario);

/// The client of a shared world at which the bridge stands: it simulates what the entries name. Throws InputError where
/// several do.
std::string ros_client(const Scenario& scenario, const Ros2Section& section);
/// Whether a node of ROS drives an actuator of this body.
bool ros_drives(const Scenario& scenario, const std::string& body);

}  // namespace isochron
