#include "run/ros_bridge.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "bridge/ros2/names.hpp"
#include "core/foreign_text.hpp"
#include "core/log.hpp"
#include "core/nearest_name.hpp"
#include "run/ros2_frames.hpp"
#include "run/ros_variables.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;
using namespace ros_variables;

constexpr std::size_t most_kept = 10'000;  // of a subscription with depth 0, between two ticks
constexpr const char* log_name = "rcl_interfaces/msg/Log";
constexpr std::uint8_t warning = 30;

}  // namespace

RosBridge::RosBridge(const Scenario& scenario, const RosPart& part, const std::vector<RosFlow>& flows, RosEyes eyes)
    : scenario_(scenario),
      name_(part.name),
      others_(part.others),
      section_(part.section),
      eyes_(eyes),
      wire_(part.make_wire(section_)) {
  if (section_.every <= SimSpan::zero()) throw InputError(section_.place_of("every"), "must be positive");
  clock_every_ = section_.clock.value_or(section_.every);
  if (clock_every_ < SimSpan::zero() || clock_every_ % section_.every != SimSpan::zero()) {
    throw InputError(section_.place_of("clock"), "must be a multiple of `every`, or 0");
  }
  std::vector<Mistake> mistakes;
  const auto collect = [&](const auto& add) {
    try {
      add();
    } catch (const InputError& error) {
      mistakes.insert(mistakes.end(), error.mistakes().begin(), error.mistakes().end());
    }
  };
  for (const auto& entry : section_.publish) {
    collect([&, &name = entry.first, &section = entry.second] {
      if (section.from.empty() == section.variable.empty()) {
        throw InputError(section.place, "say `from: node.output`, or `variable: NAME`: one of them");
      }
      section.from.empty() ? add_variable(name, section) : add_flow(name, section, flows);
    });
  }
  for (const auto& entry : section_.subscribe) collect([&] { add_subscription(entry.first, entry.second); });
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  if (clock_every_ > SimSpan::zero()) {
    clock_ = add_publication("/clock", message_name<rosgraph_msgs::Clock>(), {});
    publications_[*clock_].qos.depth = 1;
  }
  if (section_.tf_static) {
    static_ = add_publication("/tf_static", message_name<tf2_msgs::TFMessage>(), {});
    publications_[*static_].qos = {true, true, 1, {}};
    plant(section_.place_of("tf_static"));
  }
  find_robots();
}

/// Nothing comes in any more when the rest goes.
RosBridge::~RosBridge() { wire_->close(); }

const flow::PayloadType& RosBridge::log_type() const { return wire_->types().type(log_name); }

WorldPlant& RosBridge::plant(const Place& place) {
  if (eyes_.plant == nullptr) throw InputError(place, "there is no `world`");
  return *eyes_.plant;
}

void RosBridge::find_robots() {
  if (eyes_.plant == nullptr) return;
  const auto& variables = eyes_.plant->variables();
  for (const auto& [robot, section] : scenario_.robots) {
    const auto pose = std::ranges::find(variables, robot + "/pose", &programs::Variable::name);
    if (pose == variables.end() || pose->type != message_name<Motion>()) continue;  // a sensor may be called so
    poses_.emplace_back(robot, static_cast<std::uint32_t>(pose - variables.begin()));
  }
}

std::size_t RosBridge::add_publication(const std::string& topic, const std::string& type,
                                       const Ros2PublishSection& section) {
  for (const Publication& other : publications_) {
    if (other.topic == topic) throw InputError(section.place, "`" + topic + "` is published twice");
  }
  Publication& made = publications_.emplace_back();
  made.topic = topic;
  made.type = type;
  made.qos = section.qos.qos();
  made.awaited = section.awaited;
  return publications_.size() - 1;
}

void RosBridge::add_flow(const std::string& name, const Ros2PublishSection& section,
                         const std::vector<RosFlow>& flows) {
  const Place& place = section.place_of("from");
  for (const char* key : {"as", "frame", "child"}) {
    if (!section.key_places.contains(key)) continue;
    throw InputError(section.place_of(key),
                     std::string("`") + key + "` is of a variable's message; a flow's are as they are",
                     "a sensor's frame is the `frame` of the sensor");
  }
  const auto flow = std::ranges::find(flows, section.from, &RosFlow::name);
  if (flow == flows.end()) {
    std::vector<std::string> known;
    for (const RosFlow& one : flows) known.push_back(one.name);
    throw InputError(place, "there is no flow `" + section.from + "`", nearest_hint(section.from, known));
  }
  const std::vector<std::string> only = wire_->only();
  const bool known = only.empty() || std::ranges::find(only, ros_types::ros1_name(flow->type)) != only.end();
  if (!known || !flow->message) {
    throw InputError(place, section.from + " carries " + flow->type + ", which " + others_ + " do not know",
                     only.empty() ? "flows of messages (package/msg/Name) can be published"
                                  : "these can be published: " + listed(only));
  }
  const std::size_t mine = add_publication(wire_->topic(section.topic, name, section), flow->type, section);
  heard_.push_back({name, section.from});
  of_flow_.push_back(mine);
  if (!section.camera_info) return;
  const auto info = eyes_.stage != nullptr ? camera_info_of(scenario_, eyes_.stage->catalog(), section.from)
                                           : std::optional<sensor_msgs::CameraInfo>();
  if (!info) throw InputError(section.place_of("camera_info"), section.from + " is no picture of a camera");
  const std::string& topic = publications_[mine].topic;
  const std::size_t with = add_publication(topic.substr(0, topic.rfind('/')) + "/camera_info",
                                           message_name<sensor_msgs::CameraInfo>(), section);
  publications_[with].awaited = 0;
  publications_[mine].info = info;
  publications_[mine].info_publication = with;
}

void RosBridge::add_variable(const std::string& name, const Ros2PublishSection& section) {
  const Place& place = section.place_of("variable");
  WorldPlant& plant = this->plant(place);
  const std::uint32_t index = variable_of(plant, section.variable, place);
  const std::vector<std::string> types = types_for(plant.variables()[index]);
  if (types.empty()) {
    throw InputError(place, section.variable + " is a " + plant.variables()[index].type,
                     "a sensor is published with `from: ROBOT/SENSOR.reading`");
  }
  const std::string type = section.as.empty() ? types.front() : ros_types::ros1_name(section.as);
  if (std::ranges::find(types, type) == types.end()) {
    throw InputError(section.place_of("as"), section.variable + " cannot be a " + section.as,
                     "it can be: " + listed(types));
  }
  if (section.camera_info)
    throw InputError(section.place_of("camera_info"), section.variable + " is no picture of a camera");
  const std::string definition = wire_->types().definition(type);
  if (!section.frame.empty() && definition.find("std_msgs/Header header\n") == std::string::npos) {
    throw InputError(section.place_of("frame"), type + " has no header");
  }
  if (!section.child.empty() && definition.find("child_frame_id\n") == std::string::npos) {
    throw InputError(section.place_of("child"), type + " has no child_frame_id");
  }
  const std::size_t mine =
      add_publication(wire_->topic(section.topic, name, section), ros2::full_type_name(type), section);
  std::vector<double> room(plant.variables()[index].size / sizeof(double));
  const std::string robot = section.variable.substr(0, section.variable.find('/'));
  Subject subject{
      section.child.empty() ? robot : section.child, section.frame.empty() ? "world" : section.frame, {}, {}};
  ros_types::with_type(type, [&](const auto* none) {
    using M = std::remove_cvref_t<decltype(*none)>;
    if constexpr (requires(M & m, Subject s) { fill(m, s); }) {
      publications_[mine].at_tick = [this, &plant, index, mine, subject, room, message = M{}](SimTime now,
                                                                                              SimSpan ahead) mutable {
        plant.read(index, now - ahead, std::as_writable_bytes(std::span(room)));
        subject.now = now;
        subject.values = room;
        fill(message, subject);
        say(mine, message);
      };
    }
  });
}

void RosBridge::add_subscription(const std::string& name, const Ros2SubscribeSection& section) {
  const Place& place = section.place_of("as");
  const std::vector<std::string> only = wire_->only();
  if (!only.empty() && std::ranges::find(only, ros_types::ros1_name(section.as)) == only.end()) {
    throw InputError(place, "`" + section.as + "` is no message type that goes over ROS",
                     nearest_hint(section.as, only));
  }
  const flow::PayloadType& type =
      placed(place, [&]() -> const flow::PayloadType& { return wire_->types().type(section.as); });
  const auto schema = parse_ros2msg(type.name, type.schema);
  if (!schema) throw InputError(place, schema.error());
  inboxes_.push_back({wire_->topic(section.topic, name, section), type.name, section.qos.qos(), section.awaited,
                      RosCommands(section, *schema, eyes_.plant)});
  subscriptions_.push_back({name, &type, section.delay});
}

// ---- while it runs ----

void RosBridge::open(RunWatch& watch, Clock& clock) {
  watch_ = &watch;
  wall_ = &clock;
  wire_->open([this](const std::string& what) { news(what); });
  for (Publication& p : publications_) p.handle = wire_->advertise(p.topic, p.type, p.qos);
  for (Inbox& inbox : inboxes_) {
    inbox.handle = wire_->subscribe(inbox.topic, inbox.type, inbox.qos,
                                    [this, &inbox](std::span<const std::byte> cdr) { came(inbox, cdr); });
  }
  wire_->start({scenario_, watch, clock, robots_});
  open_ = true;
  if (static_) say(*static_, sensor_transforms(scenario_, eyes_.stage->catalog()));
  await_others();
}

void RosBridge::await_others() {
  const WallTime since = wall_->now();
  bool told = false;
  for (;;) {
    std::string missing;
    for (const Publication& p : publications_) {
      if (wire_->listeners(p.handle) < p.awaited) missing += "\n  " + name_ + " waits for a subscriber of " + p.topic;
    }
    for (const Inbox& inbox : inboxes_) {
      if (wire_->speakers(inbox.handle) < inbox.awaited)
        missing += "\n  " + name_ + " waits for a publisher of " + inbox.topic;
    }
    if (missing.empty() || watch_->stopping()) return;
    if (!told && wall_->now() - since > WallSpan(800ms)) {
      const std::string where = wire_->where();
      warn(name_, "the run has not begun:" + missing + (where.empty() ? "" : "\n  (" + where + ")"));
      told = true;
    }
    wall_->sleep_until(wall_->now() + 10ms);
  }
}

void RosBridge::close() {
  if (!std::exchange(open_, false)) return;
  wire_->close();
  for (const Inbox& inbox : inboxes_) {
    if (inbox.dropped == 0) continue;
    warn(name_, std::to_string(inbox.dropped) + " messages of " + inbox.topic +
                    " were dropped: more came between two ticks than its depth, " +
                    std::to_string(inbox.qos.depth == 0 ? most_kept : inbox.qos.depth));
  }
}

void RosBridge::send(Publication& publication, std::size_t size, const RosWire::Fill& fill) {
  if (wire_->publish(publication.handle, size, fill) || publication.late) return;
  publication.late = true;
  news("a subscriber of " + publication.topic + " is too slow: messages to it are lost");
}

template <Message M>
void RosBridge::say(std::size_t publication, const M& message) {
  send(publications_[publication], cdr_size(message), [&](std::span<std::byte> room) { cdr_write(message, room); });
}

void RosBridge::heard(std::size_t flow, std::size_t size, const RosWire::Fill& fill) {
  Publication& p = publications_[of_flow_[flow]];
  if (!p.info) return send(p, size, fill);
  send(p, size, [&](std::span<std::byte> room) {
    fill(room);
    cdr::Reader(room.subspan(cdr_header_size)).get(p.info->header);
  });
  say(p.info_publication, *p.info);
}

/// On the middleware's thread.
void RosBridge::came(Inbox& inbox, std::span<const std::byte> cdr) {
  std::vector<std::byte> copy(cdr.begin(), cdr.end());
  copy[2] = copy[3] = std::byte{0};  // options: some writers count their padding there
  const std::lock_guard lock(mutex_);
  if (inbox.arrived.size() >= (inbox.qos.depth == 0 ? most_kept : inbox.qos.depth)) {
    inbox.arrived.pop_front();
    ++inbox.dropped;
  }
  inbox.arrived.push_back(std::move(copy));
}

void RosBridge::deliver(std::size_t subscription, const std::vector<std::byte>& cdr, SimTime now, Taker& taker) {
  Inbox& inbox = inboxes_[subscription];
  const SimTime at = now + subscriptions_[subscription].delay;
  taker.took(subscription, at, cdr);
  const auto done = inbox.commands.act(
      cdr, [&](std::uint32_t variable, std::span<const double> values) { taker.write(variable, at, values); });
  if (!done.ok()) news("what came on " + inbox.topic + " does nothing: " + done.error());
}

void RosBridge::show_robots(SimTime now, SimSpan ahead) {
  shown_.clear();
  for (const auto& [robot, variable] : poses_) {
    RobotStates::State one{robot, {}};
    eyes_.plant->read(variable, now - ahead, std::as_writable_bytes(std::span(&one.motion, 1)));
    shown_.push_back(std::move(one));
  }
  robots_.set(now, shown_);
}

void RosBridge::news(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (told_.size() < most_kept && told_.insert(what).second) news_.push_back(what);
}

/// On the terminal, and in the journal.
void RosBridge::tell(const std::string& what, SimTime now, Taker& taker) {
  warn(name_, foreign_text(what));
  const auto write = [&](std::byte* target) {
    cdr::Writer writer(target);
    writer.put(now);
    writer.put(warning);
    writer.put(section_.name);
    writer.put(foreign_text(what));
    writer.put(std::string());
    writer.put(std::string());
    writer.put(std::uint32_t{0});
    return writer.size();
  };
  std::vector<std::byte> bytes(cdr_header_size + write(nullptr));
  bytes[1] = std::byte{1};
  write(bytes.data() + cdr_header_size);
  taker.said(now, bytes);
}

void RosBridge::tick(SimTime now, Taker& taker, SimSpan ahead) {
  show_robots(now, ahead);
  for (const Publication& p : publications_) {
    if (p.at_tick) p.at_tick(now, ahead);
  }
  if (clock_ && now.since_zero() % clock_every_ == SimSpan::zero()) say(*clock_, rosgraph_msgs::Clock{now});
  std::vector<std::deque<std::vector<std::byte>>> arrived(inboxes_.size());
  std::vector<std::string> news;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < arrived.size(); ++i) arrived[i].swap(inboxes_[i].arrived);
    news.swap(news_);
  }
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    for (const auto& cdr : arrived[i]) deliver(i, cdr, now, taker);
  }
  for (const std::string& what : news) tell(what, now, taker);
}

}  // namespace isochron
