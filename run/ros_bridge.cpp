#include "run/ros_bridge.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "core/build_parts.hpp"
#include "core/foreign_text.hpp"
#include "core/nearest_name.hpp"
#include "link/ros/ros_wire.hpp"
#include "run/ros_types.hpp"
#include "run/ros_variables.hpp"
#include "run/run.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;
using namespace ros_variables;

constexpr std::size_t most_arrived = 10'000;  // between two ticks; the oldest goes first
constexpr std::size_t world_inputs = 1;

std::string topic_of(const std::string& given, const std::string& name) { return given.empty() ? name : given; }

/// Only floating-point numbers: a layout's offsets are none of a command.
template <class M>
std::vector<double> reals_of(const M& message) {
  std::vector<double> reals;
  auto take = [&](const std::string&, auto value) {
    if constexpr (std::is_floating_point_v<decltype(value)>) reals.push_back(value);
  };
  ros_types::for_each_number(message, "", take);
  return reals;
}

template <class M>
std::optional<double> number_at(const M& message, const std::string& field) {
  std::optional<double> found;
  auto take = [&](const std::string& path, auto value) {
    if (path == field) found = static_cast<double>(value);
  };
  ros_types::for_each_number(message, "", take);
  return found;
}

template <class M>
std::vector<std::string> fields_of() {
  std::vector<std::string> names;
  auto take = [&](const std::string& path, auto) { names.push_back(path); };
  ros_types::for_each_number(M{}, "", take);
  return names;
}

/// Lists have any number of elements: what stands behind their name is seen when a message comes.
bool may_be_element(const std::string& field) { return field.ends_with("]"); }

}  // namespace

bool RosBridge::writes(const Scenario& scenario) {
  return scenario.ros && std::ranges::any_of(scenario.ros->subscribe, [](const auto& entry) {
           return !entry.second.drives.empty() || !entry.second.to.empty();
         });
}

std::vector<std::string> RosBridge::notes(const Scenario& scenario) {
  if (!scenario.ros) return {};
  std::string heard;
  for (const auto& [name, section] : scenario.ros->subscribe) {
    heard += (heard.empty() ? "" : ", ") + topic_of(section.topic, name);
  }
  if (heard.empty()) return {"ROS nodes listen only: what they do is not part of this run"};
  return {"messages of ROS nodes (" + heard +
          ") are taken in when they arrive: their order is not guaranteed, and this run does not repeat"};
}

RosBridge::RosBridge(const Scenario& scenario, const flow::Graph& graph, const PlanOutside* outside)
    : scenario_(scenario), section_(*scenario.ros), outside_(outside) {
  need_part("ROS 1", section_.place);
  if (section_.every <= SimSpan::zero()) throw InputError(section_.place_of("every"), "must be positive");
  if (scenario.world) {
    mirror_ = std::make_unique<WorldMirror>(scenario);
    input<&RosBridge::saw>("world");
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
      section.from.empty() ? add_variable(name, section) : add_flow(name, section, graph);
    });
  }
  if (writes(scenario)) writes_ = event<WorldWrites>("writes", SimSpan::zero());
  for (const auto& entry : section_.subscribe) collect([&] { add_subscription(entry.first, entry.second); });
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  output<&RosBridge::tick>("tick", flow::observes(section_.every));
}

RosBridge::~RosBridge() = default;

WorldMirror& RosBridge::mirror(const Place& place) {
  if (!mirror_) throw InputError(place, "there is no `world`");
  return *mirror_;
}

void RosBridge::add_flow(const std::string& name, const RosPublishSection& section, const flow::Graph& graph) {
  std::vector<std::string> known;
  const flow::OutputInfo* output = nullptr;
  for (const flow::NodeInfo& node : graph.nodes) {
    for (const flow::OutputInfo& candidate : node.outputs) {
      known.push_back(node.name + "." + candidate.name);
      if (known.back() == section.from) output = &candidate;
    }
  }
  const Place& place = section.place_of("from");
  if (output == nullptr)
    throw InputError(place, "there is no flow `" + section.from + "`", nearest_hint(section.from, known));
  const bool added = ros_types::with_type(output->type->name, [&](const auto* none) {
    using M = std::remove_cvref_t<decltype(*none)>;
    input<&RosBridge::heard<M>>(name);
  });
  if (!added) {
    throw InputError(place, section.from + " carries " + output->type->name + ", which ROS does not know",
                     "these can be published: " + listed(ros_types::names()));
  }
  of_input_.push_back(publications_.size());
  publications_.push_back({topic_of(section.topic, name), ros_types::ros1_name(output->type->name), section.awaited});
}

void RosBridge::add_variable(const std::string& name, const RosPublishSection& section) {
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
  const std::size_t mine = publications_.size();
  publications_.push_back({topic_of(section.topic, name), type, section.awaited});
  std::vector<double> room(plant.variables()[index].size / sizeof(double));
  Subject subject{
      section.variable.substr(0, section.variable.find('/')), section.frame.empty() ? "world" : section.frame, {}, {}};
  ros_types::with_type(type, [&](const auto* none) {
    using M = std::remove_cvref_t<decltype(*none)>;
    if constexpr (requires(M & m, Subject s) { fill(m, s); }) {
      publications_[mine].at_tick = [this, &plant, index, mine, subject, room, message = M{}](SimTime now) mutable {
        plant.read(index, now, std::as_writable_bytes(std::span(room)));
        subject.now = now;
        subject.values = room;
        fill(message, subject);
        publish(mine, message);
      };
    }
  });
}

/// What a message does to the world, checked against the type's fields and the world's names.
template <class M>
std::function<void(const M&, SimTime)> RosBridge::writer_for(const RosSubscribeSection& section) {
  struct Drive {
    std::string field;
    std::uint32_t variable, writable;
    double gain = 1;
  };
  std::vector<Drive> drives;
  std::optional<Drive> whole;
  const auto find = [&](const std::string& name, const Place& place) {
    WorldPlant& plant = mirror(place).plant();
    const std::uint32_t variable = variable_of(plant, name, place);
    if (!plant.variables()[variable].writable) throw InputError(place, "`" + name + "` cannot be written");
    const auto all = writables_of(plant);
    return Drive{"", variable, static_cast<std::uint32_t>(std::ranges::find(all, variable) - all.begin())};
  };
  for (const RosDriveSection& drive : section.drives) {
    drives.push_back(find(drive.actuator, drive.place_of("actuator")));
    drives.back().field = drive.field;
    drives.back().gain = drive.gain;
    if (mirror_->plant().variables()[drives.back().variable].size != sizeof(double)) {
      throw InputError(drive.place_of("actuator"), "`" + drive.actuator + "` takes more than one number", "use `to`");
    }
    const auto fields = fields_of<M>();
    if (!may_be_element(drive.field) && std::ranges::find(fields, drive.field) == fields.end()) {
      throw InputError(drive.place_of("field"), section.as + " has no number `" + drive.field + "`",
                       nearest_hint(drive.field, fields));
    }
  }
  if (!section.to.empty()) {
    whole = find(section.to, section.place_of("to"));
    const std::size_t takes = mirror_->plant().variables()[whole->variable].size / sizeof(double);
    const std::size_t has = reals_of(M{}).size();
    if (has != 0 && has != takes) {
      throw InputError(section.place_of("to"), "`" + section.to + "` takes " + std::to_string(takes) + " numbers, " +
                                                   section.as + " has " + std::to_string(has));
    }
  }
  std::ranges::stable_sort(drives, {}, &Drive::writable);
  return [this, drives, whole](const M& message, SimTime at) {
    for (auto drive = drives.begin(); drive != drives.end();) {
      double sum = 0;
      bool all = true;
      const Drive& first = *drive;
      for (; drive != drives.end() && drive->writable == first.writable; ++drive) {
        const auto value = number_at(message, drive->field);
        all = all && value;
        if (value) sum += drive->gain * *value;
      }
      if (all) write(first.writable, first.variable, std::span(&sum, 1), at);
    }
    if (whole) write(whole->writable, whole->variable, reals_of(message), at);
  };
}

void RosBridge::add_subscription(const std::string& name, const RosSubscribeSection& section) {
  const std::string topic = topic_of(section.topic, name);
  const bool known = ros_types::with_type(section.as, [&](const auto* none) {
    using M = std::remove_cvref_t<decltype(*none)>;
    auto flow = event<M>(name, section.delay);
    auto deliver = [flow, topic, delay = section.delay, act = writer_for<M>(section)](std::span<const std::byte> bytes,
                                                                                      SimTime now) mutable {
      const auto message = link::ros_read<M>(bytes);
      if (!message.ok()) return (void)std::fprintf(stderr, "%s: %s\n", topic.c_str(), message.error().c_str());
      flow.send(now + delay, *message);
      act(*message, now + delay);
    };
    subscriptions_.push_back({topic, ros_types::ros1_name<M>(), section.awaited, std::move(deliver)});
  });
  if (!known) {
    throw InputError(section.place_of("as"), "`" + section.as + "` is no message type that goes over ROS",
                     nearest_hint(section.as, ros_types::names()));
  }
}

template <class M>
void RosBridge::publish(std::size_t publication, const M& message) {
  link::ros_write(message, bytes_);
  ros_->publish(publications_[publication].handle, bytes_.data(), bytes_.size());
}

template <class M>
void RosBridge::heard(const M& message, SimTime, flow::InputId input) {
  publish(of_input_[input.index - (mirror_ ? world_inputs : 0)], message);
}

void RosBridge::write(std::uint32_t writable, std::uint32_t variable, std::span<const double> values, SimTime at) {
  const programs::Variable& what = mirror_->plant().variables()[variable];
  if (values.size() * sizeof(double) != what.size ||
      !std::ranges::all_of(values, [](double v) { return std::isfinite(v); })) {
    std::fprintf(stderr, "ros: what came for %s is not %zu numbers; dropped\n", what.name.c_str(),
                 what.size / sizeof(double));
    return;
  }
  writes_->fill(at, [&](WorldWrites& out) {
    out.variables.assign(1, writable);
    out.values.assign(values.begin(), values.end());
  });
}

void RosBridge::came(std::size_t subscription, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  const std::lock_guard lock(mutex_);
  if (arrived_.size() == most_arrived) arrived_.pop_front();
  arrived_.push_back({subscription, std::vector<std::byte>(bytes, bytes + size)});
}

/// Pause, step and query as ROS services. A step is the next time at which anything is sent.
void RosBridge::serve() {
  RunControl& control = outside_->watch.control();
  const auto say = [this, &control](std::string what) {
    const SimTime now = SimTime::from_ns(now_ns_.load());
    const nlohmann::json answer{{"did", std::move(what)},
                                {"scenario", scenario_.name},
                                {"time_s", now.since_zero().seconds()},
                                {"duration_s", scenario_.duration.seconds()},
                                {"paused", control.paused()},
                                {"stall", control.stall()}};
    return link::RosGraph::Answer{true, json_text(answer)};
  };
  ros_->serve(section_.name + "/pause", [&control, say] {
    control.pause();
    return say("paused");
  });
  ros_->serve(section_.name + "/resume", [&control, say] {
    control.resume();
    return say("resumed");
  });
  ros_->serve(section_.name + "/step", [&control, say] {
    control.pause();
    control.step(1);
    return say("stepped");
  });
  ros_->serve(section_.name + "/query", [say] { return say(""); });
}

void RosBridge::start(SimTime) {
  ENSURE(outside_ != nullptr, "a plan without an outside is only for checking");
  try {
    ros_ = link::RosGraph::open(section_.name, section_.use_sim_time);
    for (Publication& p : publications_) p.handle = ros_->advertise(p.topic, p.type);
    for (std::size_t i = 0; i < subscriptions_.size(); ++i) {
      subscriptions_[i].handle =
          ros_->subscribe(subscriptions_[i].topic, subscriptions_[i].type,
                          [this, i](const void* data, std::size_t size) { came(i, data, size); });
    }
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(std::string(error.what()) + "; start `roscore`, or set ROS_MASTER_URI");
  }
  serve();
  await_others();
}

void RosBridge::await_others() {
  Clock& clock = outside_->clock;
  const WallTime since = clock.now();
  bool told = false;
  for (;;) {
    std::string missing;
    for (const Publication& p : publications_) {
      if (ros_->listeners(p.handle) < p.awaited) missing += "\n  ros waits for a subscriber of " + p.topic;
    }
    for (const Subscription& s : subscriptions_) {
      if (ros_->speakers(s.handle) < s.awaited) missing += "\n  ros waits for a publisher of " + s.topic;
    }
    if (missing.empty() || outside_->watch.stopping()) return;
    if (!told && clock.now() - since > WallSpan(800ms)) {
      std::fprintf(stderr, "the run has not begun:%s\n", missing.c_str());
      told = true;
    }
    clock.sleep_until(clock.now() + 10ms);
  }
}

void RosBridge::finish(SimTime) { ros_.reset(); }

void RosBridge::tick(Tick& tick, SimTime now) {
  ++tick.number;
  outside_->watch.control().hold(now, outside_->clock, outside_->watch.stop_flag());
  now_ns_.store(now.ns());
  for (const Publication& p : publications_) {
    if (p.at_tick) p.at_tick(now);
  }
  ros_->clock(now.ns());
  std::deque<Arrived> arrived;
  {
    const std::lock_guard lock(mutex_);
    arrived.swap(arrived_);
  }
  for (const Arrived& one : arrived) subscriptions_[one.subscription].deliver(one.bytes, now);
}

}  // namespace isochron
