#include "run/ros2_bridge.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "bridge/ros2/names.hpp"
#include "core/build_parts.hpp"
#include "core/foreign_text.hpp"
#include "core/nearest_name.hpp"
#include "flow/definition.hpp"
#include "run/ros_variables.hpp"
#include "run/run.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;
using namespace ros_variables;

constexpr std::uint32_t world_inputs = 1;
constexpr std::size_t most_kept = 10'000;  // of a subscription with depth 0, between two ticks
constexpr std::uint32_t room_for_events = 16;
constexpr const char* log_type = "rcl_interfaces/msg/Log";
constexpr std::uint8_t warning = 30;

/// What InputError says of a name has no place yet.
template <class F>
decltype(auto) placed(const Place& place, F&& what) {
  try {
    return what();
  } catch (const InputError& error) {
    const Mistake& mistake = error.mistakes().front();
    throw InputError(mistake.place.file.empty() ? place : mistake.place, mistake.what, mistake.hint);
  }
}

std::string short_name(const std::string& node) { return node.substr(node.rfind('/') + 1); }

}  // namespace

bool Ros2Bridge::writes(const Scenario& scenario) {
  return scenario.ros2 && std::ranges::any_of(scenario.ros2->subscribe, [](const auto& entry) {
           return !entry.second.drives.empty() || !entry.second.to.empty();
         });
}

std::vector<std::string> Ros2Bridge::notes(const Scenario& scenario) {
  if (!scenario.ros2) return {};
  std::string heard;
  for (const auto& [name, section] : scenario.ros2->subscribe) {
    heard += (heard.empty() ? "" : ", ") + (section.topic.empty() ? name : section.topic);
  }
  if (heard.empty()) return {"nodes of ROS 2 listen only: what they do is not part of this run"};
  return {"messages of ROS 2 nodes (" + heard +
          ") are taken in when they arrive: their order is not guaranteed, and this run does not repeat"};
}

Ros2Bridge::Ros2Bridge(const Scenario& scenario, const flow::Graph& graph, const PlanOutside* outside)
    : scenario_(scenario), section_(*scenario.ros2), outside_(outside) {
  need_part("DDS", section_.place);
  std::vector<Mistake> mistakes;
  const auto collect = [&](const auto& add) {
    try {
      add();
    } catch (const InputError& error) {
      mistakes.insert(mistakes.end(), error.mistakes().begin(), error.mistakes().end());
    }
  };
  if (section_.every <= SimSpan::zero()) throw InputError(section_.place_of("every"), "must be positive");
  constexpr std::uint32_t last_domain = 232;  // the ports of those beyond do not exist
  if (section_.domain > last_domain) throw InputError(section_.place_of("domain"), "must be 0 to 232");
  clock_every_ = section_.clock.value_or(section_.every);
  if (clock_every_ < SimSpan::zero() || clock_every_.ns() % section_.every.ns() != 0) {
    throw InputError(section_.place_of("clock"), "must be a multiple of `every`, or 0");
  }
  collect([&] {
    placed(section_.place_of("name"), [&] { ros2::check_node_name(section_.name); });
    const std::string space =
        placed(section_.place_of("namespace"), [&] { return ros2::full_namespace(section_.space); });
    node_ = (space == "/" ? "" : space) + "/" + section_.name;
  });
  for (const FilePath& path : section_.types) {
    collect([&] { placed(section_.place_of("types"), [&] { types_.add(path.path); }); });
  }
  if (scenario.world) {
    mirror_ = std::make_unique<WorldMirror>(scenario);
    input<&Ros2Bridge::saw>("world");
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  for (const auto& entry : section_.publish) {
    collect([&, &name = entry.first, &section = entry.second] {
      if (section.from.empty() == section.variable.empty()) {
        throw InputError(section.place, "say `from: node.output`, or `variable: NAME`: one of them");
      }
      section.from.empty() ? add_variable(name, section) : add_flow(name, section, graph);
    });
  }
  if (writes(scenario)) writes_ = event<WorldWrites>("writes", SimSpan::zero(), room_for_events);
  for (const auto& entry : section_.subscribe) collect([&] { add_subscription(entry.first, entry.second); });
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  if (clock_every_ > SimSpan::zero()) {
    clock_ = add_publication("/clock", message_name<rosgraph_msgs::Clock>(), {});
    publications_[*clock_].qos.depth = 1;
  }
  if (section_.tf_static) {
    static_ = add_publication("/tf_static", message_name<tf2_msgs::TFMessage>(), {});
    publications_[*static_].qos = {true, true, 1, {}};
    mirror(section_.place_of("tf_static"));
  }
  log_ = add_output({"log", flow::FlowKind::event, {}, {}, {}, room_for_events, &types_.type(log_type)}, nullptr);
  output<&Ros2Bridge::tick>("tick", flow::observes(section_.every));
}

Ros2Bridge::~Ros2Bridge() = default;

WorldMirror& Ros2Bridge::mirror(const Place& place) {
  if (!mirror_) throw InputError(place, "there is no `world`");
  return *mirror_;
}

std::string Ros2Bridge::topic_of(const std::string& given, const std::string& name, const Section& section) const {
  const std::string space = node_.substr(0, node_.rfind('/'));
  return placed(section.place_of("topic"), [&] {
    return ros2::full_name(given.empty() ? name : given, space.empty() ? "/" : space, section_.name);
  });
}

std::size_t Ros2Bridge::add_publication(const std::string& topic, const std::string& type,
                                        const Ros2PublishSection& section) {
  for (const Publication& other : publications_) {
    if (other.topic == topic) throw InputError(section.place, "`" + topic + "` is published twice");
  }
  Publication made;
  made.topic = topic;
  made.type = type;
  made.qos = section.qos.qos();
  made.awaited = section.awaited;
  publications_.push_back(std::move(made));
  return publications_.size() - 1;
}

void Ros2Bridge::add_flow(const std::string& name, const Ros2PublishSection& section, const flow::Graph& graph) {
  std::vector<std::string> known;
  const flow::OutputInfo* output = nullptr;
  for (const flow::NodeInfo& node : graph.nodes) {
    for (const flow::OutputInfo& candidate : node.outputs) {
      known.push_back(node.name + "." + candidate.name);
      if (known.back() == section.from) output = &candidate;
    }
  }
  const Place& place = section.place_of("from");
  for (const char* key : {"as", "frame", "child"}) {
    if (!section.key_places.contains(key)) continue;
    throw InputError(section.place_of(key),
                     std::string("`") + key + "` is of a variable's message; a flow's are as they are",
                     "a sensor's frame is the `frame` of the sensor");
  }
  if (output == nullptr)
    throw InputError(place, "there is no flow `" + section.from + "`", nearest_hint(section.from, known));
  if (output->type->schema.empty() || output->type->name.find("/msg/") == std::string::npos) {
    throw InputError(place, section.from + " carries " + output->type->name + ", which is no message of ROS 2",
                     "flows of messages (package/msg/Name) can be published");
  }
  add_input(name, *output->type);
  const std::size_t mine = add_publication(topic_of(section.topic, name, section), output->type->name, section);
  of_input_.push_back(mine);
  publications_[mine].payload = output->type;
  if (!section.camera_info) return;
  const auto info = mirror_ ? camera_info_of(scenario_, mirror_->stage().catalog(), section.from) : std::nullopt;
  if (!info) throw InputError(section.place_of("camera_info"), section.from + " is no picture of a camera");
  const std::string& topic = publications_[mine].topic;
  const std::size_t with = add_publication(topic.substr(0, topic.rfind('/')) + "/camera_info",
                                           message_name<sensor_msgs::CameraInfo>(), section);
  publications_[with].awaited = 0;
  publications_[mine].info = info;
  publications_[mine].info_publication = with;
}

void Ros2Bridge::add_variable(const std::string& name, const Ros2PublishSection& section) {
  const Place& place = section.place_of("variable");
  WorldPlant& plant = mirror(place).plant();
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
  const std::string definition = types_.definition(type);
  if (!section.frame.empty() && definition.find("std_msgs/Header header\n") == std::string::npos) {
    throw InputError(section.place_of("frame"), type + " has no header");
  }
  if (!section.child.empty() && definition.find("child_frame_id\n") == std::string::npos) {
    throw InputError(section.place_of("child"), type + " has no child_frame_id");
  }
  const std::size_t mine = add_publication(topic_of(section.topic, name, section), ros2::full_type_name(type), section);
  std::vector<double> room(plant.variables()[index].size / sizeof(double));
  const std::string robot = section.variable.substr(0, section.variable.find('/'));
  Subject subject{
      section.child.empty() ? robot : section.child, section.frame.empty() ? "world" : section.frame, {}, {}};
  ros_types::with_type(type, [&](const auto* none) {
    using M = std::remove_cvref_t<decltype(*none)>;
    if constexpr (requires(M & m, Subject s) { ros_variables::fill(m, s); }) {
      publications_[mine].at_tick = [this, &plant, index, mine, subject, room, message = M{}](SimTime now) mutable {
        plant.read(index, now, std::as_writable_bytes(std::span(room)));
        subject.now = now;
        subject.values = room;
        ros_variables::fill(message, subject);
        say(mine, message);
      };
    }
  });
}

void Ros2Bridge::add_subscription(const std::string& name, const Ros2SubscribeSection& section) {
  const Place& place = section.place_of("as");
  const flow::PayloadType& type = placed(place, [&]() -> const flow::PayloadType& { return types_.type(section.as); });
  auto schema = parse_ros2msg(type.name, type.schema);
  if (!schema) throw InputError(place, schema.error());
  WorldPlant* plant = mirror_ ? &mirror_->plant() : nullptr;
  const std::uint32_t output =
      add_output({name, flow::FlowKind::event, {}, {}, section.delay, room_for_events, &type}, nullptr);
  subscriptions_.push_back({topic_of(section.topic, name, section), type.name, section.qos.qos(), section.awaited,
                            section.delay, output, ros2::Checker(*schema), Ros2Commands(section, *schema, plant)});
}

// ---- while it runs ----

void Ros2Bridge::start(SimTime now) {
  ENSURE(outside_ != nullptr, "a plan without an outside is only for checking");
  const std::string space = node_.substr(0, node_.rfind('/'));
  ros_ = std::make_unique<ros2::Graph>(section_.name, space.empty() ? "/" : space,
                                       link::DdsOptions{section_.domain, section_.interface, section_.hosts},
                                       [this](const std::string& what) { news(what); });
  for (Publication& p : publications_) p.handle = ros_->advertise(p.topic, p.type, p.qos);
  for (std::size_t i = 0; i < subscriptions_.size(); ++i) {
    Subscription& s = subscriptions_[i];
    s.handle = ros_->subscribe(s.topic, s.type, s.qos, [this, i](std::span<const std::byte> cdr) { came(i, cdr); });
  }
  serve_ros2(*ros_, node_, {scenario_, outside_->watch, outside_->clock, robots_, section_.use_sim_time});
  if (section_.use_sim_time) {
    ros_->tell_all_nodes("set_parameters", "rcl_interfaces/srv/SetParameters", use_sim_time_request());
  }
  if (mirror_) {
    const auto& variables = mirror_->plant().variables();
    for (const auto& [robot, section] : scenario_.robots) {
      const auto pose = std::ranges::find(variables, robot + "/pose", &programs::Variable::name);
      if (pose != variables.end()) poses_.emplace_back(robot, static_cast<std::uint32_t>(pose - variables.begin()));
    }
  }
  ros_->start();
  if (static_) say(*static_, sensor_transforms(scenario_, mirror_->stage().catalog()));
  await_others();
  (void)now;
}

void Ros2Bridge::await_others() {
  Clock& clock = outside_->clock;
  const WallTime since = clock.now();
  bool told = false;
  for (;;) {
    std::string missing;
    for (const Publication& p : publications_) {
      if (ros_->listeners(p.handle) < p.awaited) missing += "\n  ros2 waits for a subscriber of " + p.topic;
    }
    for (const Subscription& s : subscriptions_) {
      if (ros_->speakers(s.handle) < s.awaited) missing += "\n  ros2 waits for a publisher of " + s.topic;
    }
    if (missing.empty() || outside_->watch.stopping()) return;
    if (!told && clock.now() - since > WallSpan(2s)) {
      std::fprintf(stderr, "the run has not begun:%s\n  (domain %u%s)\n", missing.c_str(), section_.domain,
                   section_.interface.empty() ? ", any interface: multicast must reach them, or set `hosts`"
                                              : (", interface " + section_.interface).c_str());
      told = true;
    }
    clock.sleep_until(clock.now() + 10ms);
  }
}

void Ros2Bridge::finish(SimTime) {
  ros_.reset();
  for (const Subscription& s : subscriptions_) {
    if (s.dropped == 0) continue;
    std::fprintf(stderr, "ros2: %llu messages of %s were dropped: more came between two ticks than its depth, %u\n",
                 static_cast<unsigned long long>(s.dropped), s.topic.c_str(), s.qos.depth);
  }
}

void Ros2Bridge::send(Publication& publication, std::size_t size, const ros2::Graph::Fill& fill) {
  if (ros_->publish(publication.handle, size, fill) || publication.late) return;
  publication.late = true;
  news("a subscriber of " + publication.topic + " is too slow: messages to it are lost");
}

template <Message M>
void Ros2Bridge::say(std::size_t publication, const M& message) {
  send(publications_[publication], cdr_size(message), [&](std::span<std::byte> room) { cdr_write(message, room); });
}

void Ros2Bridge::heard(std::uint32_t input, const void* payload, SimTime) {
  Publication& p = publications_[of_input_[input - (mirror_ ? world_inputs : 0)]];
  const flow::PayloadType& type = *p.payload;
  send(p, type.encoded_size(payload), [&](std::span<std::byte> room) {
    type.encode(payload, room);
    if (!p.info) return;
    cdr::Reader(room.subspan(cdr_header_size)).get(p.info->header);
  });
  if (p.info) say(p.info_publication, *p.info);
}

/// On DDS's thread.
void Ros2Bridge::came(std::size_t subscription, std::span<const std::byte> cdr) {
  Subscription& s = subscriptions_[subscription];
  if (const char* why = s.checker.refuses(cdr); *why != '\0') {
    return news("what came on " + s.topic + " is no " + s.type + ": " + why + "; dropped");
  }
  std::vector<std::byte> copy(cdr.begin(), cdr.end());
  copy[2] = copy[3] = std::byte{0};  // options: some writers count their padding there
  const std::lock_guard lock(mutex_);
  if (s.arrived.size() >= (s.qos.depth == 0 ? most_kept : s.qos.depth)) {
    s.arrived.pop_front();
    ++s.dropped;
  }
  s.arrived.push_back(std::move(copy));
}

void Ros2Bridge::deliver(Subscription& s, const std::vector<std::byte>& cdr, SimTime now) {
  const flow::PayloadType& type = output_type(s.output);
  if (type.flat) {
    flat_.resize(type.size);
    if (!type.decode(flat_.data(), cdr)) return news("what came on " + s.topic + " is no " + s.type + "; dropped");
    send_event(s.output, now + s.delay, flat_);
  } else {
    send_event(s.output, now + s.delay, cdr);
  }
  if (s.commands.empty()) return;
  const auto done = s.commands.act(cdr, [&](std::uint32_t writable, std::span<const double> values) {
    writes_->fill(now + s.delay, [&](WorldWrites& out) {
      out.variables.assign(1, writable);
      out.values.assign(values.begin(), values.end());
    });
  });
  if (!done.ok()) news("what came on " + s.topic + " does nothing: " + done.error());
}

void Ros2Bridge::show_robots(SimTime now) {
  shown_.clear();
  for (const auto& [robot, variable] : poses_) {
    RobotStates::State one{robot, {}};
    mirror_->plant().read(variable, now, std::as_writable_bytes(std::span(&one.motion, 1)));
    shown_.push_back(std::move(one));
  }
  robots_.set(now, shown_);
}

void Ros2Bridge::news(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (told_.size() < most_kept && told_.insert(what).second) news_.push_back(what);
}

/// On the terminal, and in the journal.
void Ros2Bridge::tell(const std::string& what, SimTime now) {
  std::fprintf(stderr, "ros2: %s\n", foreign_text(what).c_str());
  const auto write = [&](std::byte* target) {
    cdr::Writer writer(target);
    writer.put(now);
    writer.put(warning);
    writer.put(short_name(node_));
    writer.put(foreign_text(what));
    writer.put(std::string());
    writer.put(std::string());
    writer.put(std::uint32_t{0});
    return writer.size();
  };
  std::vector<std::byte> bytes(cdr_header_size + write(nullptr));
  bytes[1] = std::byte{1};
  write(bytes.data() + cdr_header_size);
  send_event(log_, now, bytes);
}

void Ros2Bridge::tick(Tick& tick, SimTime now) {
  ++tick.number;
  outside_->watch.control().hold(now, outside_->clock, outside_->watch.stop_flag());
  show_robots(now);
  for (const Publication& p : publications_) {
    if (p.at_tick) p.at_tick(now);
  }
  if (clock_ && now.ns() % clock_every_.ns() == 0) say(*clock_, rosgraph_msgs::Clock{now});
  std::vector<std::deque<std::vector<std::byte>>> arrived(subscriptions_.size());
  std::vector<std::string> news;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < arrived.size(); ++i) arrived[i].swap(subscriptions_[i].arrived);
    news.swap(news_);
  }
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    for (const auto& cdr : arrived[i]) deliver(subscriptions_[i], cdr, now);
  }
  for (const std::string& what : news) tell(what, now);
}

}  // namespace isochron
