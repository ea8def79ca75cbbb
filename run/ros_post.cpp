#include "run/ros_post.hpp"

#include <algorithm>

#include "run/program_record.hpp"
#include "world/messages.hpp"

namespace isochron {
namespace {

constexpr const char* world_flows[] = {"world.tf", "world.joints", "world.state"};

std::string flow_of(const world::Sensor& sensor, const world::Output& output) {
  return sensor.spec().robot + "/" + sensor.spec().name + "." + (output.name.empty() ? "reading" : output.name);
}

constexpr const char* frames = ".frames";
constexpr const char* frame_type = "std_msgs/msg/UInt8MultiArray";

/// The flows that the world and its sensors would have as nodes, and those of radios. A sensor that waits to be asked
/// has none.
std::vector<RosFlow> flows_of(Stage& stage, const std::vector<std::string>& radios) {
  std::vector<RosFlow> flows{{world_flows[0], message_name<tf2_msgs::TFMessage>()},
                             {world_flows[1], message_name<sensor_msgs::JointState>()},
                             {world_flows[2], message_name<world::WorldState>()}};
  for (std::size_t i = 0; i < stage.sensors().size(); ++i) {
    const world::Sensor& sensor = stage.sensors()[i];
    if (sensor.spec().period <= SimSpan::zero()) continue;
    for (const world::Output& output : sensor.outputs())
      flows.push_back({flow_of(sensor, output), output.message_name});
  }
  for (const std::string& radio : radios) flows.push_back({radio + frames, frame_type});
  return flows;
}

/// The stamp that every reading begins with.
void delay_stamp(std::vector<std::byte>& cdr, SimSpan by) {
  SimTime stamp;
  cdr::Reader(std::span<const std::byte>(cdr).subspan(cdr_header_size)).get(stamp);
  cdr::Writer(cdr.data() + cdr_header_size).put(stamp + by);
}

SimTime round_up(SimTime t, SimSpan step) {
  const SimSpan rest = t.since_zero() % step;
  return rest == SimSpan::zero() ? t : t + (step - rest);
}

ChannelDefinition channel(const std::string& part, const std::string& name, const flow::PayloadType& type) {
  return {"/" + part + "/" + name, {type.name, type.schema}, {}};
}

ChannelDefinition log_channel(const std::string& part, const flow::PayloadType& type) {
  ChannelDefinition log = channel(part, "log", type);
  log.options.in_digest = false;
  return log;
}

const std::string& body_of(const std::string& name, const std::string& body) { return body.empty() ? name : body; }

}  // namespace

RosPost::RosPost(const Scenario& scenario, const RosPart& part, Stage& stage, WorldPlant& plant,
                 const std::vector<std::string>& radios)
    : stage_(stage),
      bridge_(scenario, part, flows_of(stage, radios), {&stage, &plant}),
      names_{part.name},
      state_(stage.world().make_state()) {
  find_sources();
  if (reads_) {
    stage.tell_readings([this](std::size_t sensor, const world::Reading& reading) { read(sensor, reading); });
  }
}

void RosPost::find_sources() {
  for (std::size_t flow = 0; flow < bridge_.flows().size(); ++flow) {
    const std::string& name = bridge_.flows()[flow].flow;
    const auto world = std::ranges::find(world_flows, name);
    if (world != std::end(world_flows)) {
      sources_.push_back({flow, static_cast<World>(world - std::begin(world_flows))});
      continue;
    }
    if (name.ends_with(frames)) {
      sources_.push_back({flow, std::nullopt, name.substr(0, name.size() - std::string_view(frames).size())});
      continue;
    }
    for (std::size_t i = 0; i < stage_.sensors().size(); ++i) {
      const world::Sensor& sensor = stage_.sensors()[i];
      for (std::size_t output = 0; output < sensor.outputs().size(); ++output) {
        if (flow_of(sensor, sensor.outputs()[output]) != name) continue;
        sources_.push_back({flow, std::nullopt, "", i, output});
        reads_ = true;
      }
    }
  }
}

std::vector<const flow::PayloadType*> RosPost::payloads() const {
  std::vector<const flow::PayloadType*> all;
  for (const auto& heard : bridge_.subscriptions()) all.push_back(heard.type);
  all.push_back(&bridge_.log_type());
  return all;
}

std::vector<ChannelDefinition> RosPost::channels() const {
  std::vector<ChannelDefinition> all;
  for (const auto& heard : bridge_.subscriptions()) all.push_back(channel(bridge_.name(), heard.name, *heard.type));
  all.push_back(log_channel(bridge_.name(), bridge_.log_type()));
  return all;
}

void RosPost::record(Journal& journal, Producer& producer) {
  std::vector<ChannelId> ids;
  for (ChannelDefinition& one : channels()) ids.push_back(journal.channel(one.topic, one.schema, one.options));
  record([ids, &producer](std::size_t channel, SimTime at, std::span<const std::byte> cdr) {
    producer.write_bytes(ids[channel], at, cdr);
  });
}

void RosPost::open(RunWatch& watch, Clock& clock) {
  watch_ = &watch;
  bridge_.open(watch, clock);
}

void RosPost::exchange(programs::Post& post, SimTime now, SimTime until) {
  ENSURE(watch_ != nullptr && note_, "a bridge takes part before it is open, or nobody records it");
  post_ = &post;
  ahead_ = now - stage_.world().time();
  if (!next_) next_ = round_up(now, bridge_.every());
  publish_world(now);
  publish_readings(now);
  bridge_.show_robots(now, ahead_);
  for (; *next_ == now || *next_ < until; *next_ += bridge_.every()) {
    publish_readings(*next_);
    bridge_.tick(*next_, *this, ahead_);
  }
}

/// They wait until they are available.
void RosPost::read(std::size_t sensor, const world::Reading& reading) {
  for (const Source& source : sources_) {
    if (source.world || !source.radio.empty() || source.sensor != sensor) continue;
    const auto bytes = reading.bytes(source.output);
    std::vector<std::byte> cdr(bytes.begin(), bytes.end());
    if (ahead_ != SimSpan::zero()) delay_stamp(cdr, ahead_);
    add({reading.available() + ahead_, &source, std::move(cdr)});
  }
}

void RosPost::frame(const std::string& radio, SimTime arrives, std::span<const std::uint8_t> octets) {
  for (const Source& source : sources_) {
    if (source.radio != radio) continue;
    const auto write = [&](std::byte* target) {
      cdr::Writer writer(target);
      writer.put(std::uint32_t{0});  // a layout without dimensions
      writer.put(std::uint32_t{0});
      writer.put(std::vector<std::uint8_t>(octets.begin(), octets.end()));
      return writer.size();
    };
    std::vector<std::byte> cdr(cdr_header_size + write(nullptr));
    cdr[1] = std::byte{1};
    write(cdr.data() + cdr_header_size);
    add({arrives, &source, std::move(cdr)});
  }
}

void RosPost::add(Ready ready) {
  ready_.insert(std::ranges::upper_bound(ready_, ready.available, {}, &Ready::available), std::move(ready));
}

bool RosPost::blind(const Ready& ready) const {
  if (!ready.source->radio.empty()) return false;
  const world::SensorSpec& spec = stage_.sensors()[ready.source->sensor].spec();
  return stage_.faults().blind_since(spec.robot + "/" + spec.name, ready.available - ahead_).has_value();
}

void RosPost::publish_readings(SimTime now) {
  if (reads_) stage_.look(now - ahead_);
  while (!ready_.empty() && ready_.front().available <= now) {
    const Ready ready = std::move(ready_.front());
    ready_.pop_front();
    if (blind(ready)) continue;
    bridge_.heard(ready.source->flow, ready.cdr.size(),
                  [&ready](std::span<std::byte> room) { std::ranges::copy(ready.cdr, room.begin()); });
  }
}

template <Message M>
void RosPost::publish(std::size_t flow, const M& message) {
  bridge_.heard(flow, cdr_size(message), [&message](std::span<std::byte> room) { cdr_write(message, room); });
}

void RosPost::publish_world(SimTime now) {
  const bool seen = stage_.world().time().since_zero() % view_every(stage_.step()) == SimSpan::zero();
  bool read = false;
  for (const Source& source : sources_) {
    if (!source.world || (!seen && *source.world != World::state)) continue;
    if (!std::exchange(read, true)) {
      stage_.world().read(state_);
      state_.time = now;
    }
    const auto say = [&](auto message, const auto&... more) {
      world::fill(message, state_, more...);
      publish(source.flow, message);
    };
    const world::Catalog& catalog = stage_.world().catalog();
    switch (*source.world) {
      case World::tf:
        say(tf2_msgs::TFMessage{}, catalog);
        break;
      case World::joints:
        say(sensor_msgs::JointState{}, catalog);
        break;
      case World::state:
        say(world::WorldState{});
        break;
    }
  }
}

void RosPost::took(std::size_t subscription, SimTime at, std::span<const std::byte> cdr) {
  note_(subscription, at, cdr);
}

void RosPost::write(std::uint32_t variable, SimTime at, std::span<const double> values) {
  post_->write(0, at, variable, std::as_bytes(values));
}

void RosPost::said(SimTime at, std::span<const std::byte> log) { note_(bridge_.subscriptions().size(), at, log); }

std::vector<std::unique_ptr<RosPost>> ros_posts(const Scenario& scenario, Stage& stage, WorldPlant& plant,
                                                const std::vector<std::string>& radios) {
  std::vector<std::unique_ptr<RosPost>> posts;
  for (const RosPart& part : ros_parts(scenario)) {
    posts.push_back(std::make_unique<RosPost>(scenario, part, stage, plant, radios));
  }
  return posts;
}

std::vector<ChannelDefinition> ros_channels(const Scenario& scenario) {
  std::vector<ChannelDefinition> all;
  for (const RosPart& part : ros_parts(scenario)) {
    const auto wire = part.make_wire(part.section);
    for (const auto& entry : part.section.subscribe) {
      const Ros2SubscribeSection& heard = entry.second;
      placed(heard.place_of("as"),
             [&] { all.push_back(channel(part.name, entry.first, wire->types().type(heard.as))); });
    }
    if (part.writes()) {
      all.push_back({"/programs/" + part.name, {message_name<ProgramEvent>(), ros2msg_schema<ProgramEvent>()}, {}});
    }
  }
  return all;
}

std::string ros_client(const Scenario& scenario, const Ros2Section& section) {
  std::string client, first;
  const auto look = [&](const std::string& name, const Place& place) {
    const std::string owner = name.substr(0, name.find('/'));
    const auto robot = std::ranges::find(scenario.robots, owner, [](const auto& entry) { return entry.first; });
    const std::string& body = robot == scenario.robots.end() ? owner : body_of(owner, robot->second.body);
    for (const auto& [member, agent] : scenario.agents->members) {
      if (member != owner && body_of(member, agent.body) != body) continue;
      if (client.empty()) client = agent.client, first = name;
      if (client == agent.client) continue;
      throw InputError(place,
                       "`" + name + "` is of client `" + agent.client + "`, and `" + first + "` of client `" + client +
                           "`; a bridge stands at one client",
                       "name agents of one client, or give these the same");
    }
  };
  for (const auto& [name, entry] : section.publish) {
    look(entry.from.empty() ? entry.variable : entry.from, entry.place_of(entry.from.empty() ? "variable" : "from"));
  }
  for (const auto& [name, entry] : section.subscribe) {
    look(entry.to, entry.place_of("to"));
    for (const RosDriveSection& drive : entry.drives) look(drive.actuator, drive.place_of("actuator"));
  }
  return client.empty() ? scenario.agents->members.front().second.client : client;
}

bool ros_drives(const Scenario& scenario, const std::string& body) {
  const auto drives = [&](const auto& subscribe) {
    return std::ranges::any_of(subscribe, [&](const auto& entry) {
      return std::ranges::any_of(entry.second.drives,
                                 [&](const RosDriveSection& drive) { return drive.actuator.starts_with(body + "/"); });
    });
  };
  return (scenario.ros && drives(scenario.ros->subscribe)) || (scenario.ros2 && drives(scenario.ros2->subscribe));
}

}  // namespace isochron
