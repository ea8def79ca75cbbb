#include "bridge/fmi/session.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "bridge/fmi/values.hpp"
#include "core/cdr.hpp"
#include "core/input_error.hpp"
#include "core/time_text.hpp"
#include "flow/definition.hpp"

namespace isochron::fmi {
namespace {

Description read_unpacked(const std::string& folder) {
  const std::string file = folder + "/modelDescription.xml";
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return read_description(text, file);
}

bool has_length(Type type) { return type == Type::text || type == Type::binary; }

}  // namespace

Session::Session(NodeSpec spec) : spec_(std::move(spec)), description_(read_unpacked(spec_.folder)), meter_(spec_) {
  if (spec_.exchange && !description_.other.empty()) description_ = description_.by_exchange();
  (void)Binary::load(spec_.folder, description_);
  wire_inputs();
  lay_out_outputs();
}

const Variable& Session::variable(const std::string& name) const {
  const Variable* found = description_.find(name);
  if (found == nullptr) throw InputError({}, "the FMU has no variable `" + name + "`");
  return *found;
}

std::size_t Session::add_to_group(std::vector<Group>& groups, const Variable& variable, std::size_t count,
                                  std::size_t& at) {
  std::size_t index = 0;
  const auto same = [&](const Group& group) {
    return group.batch.type == variable.type && group.clocks == variable.clocks;
  };
  while (index < groups.size() && !same(groups[index])) ++index;
  if (index == groups.size()) {
    Group& made = groups.emplace_back();
    made.batch.type = variable.type;
    made.clocks = variable.clocks;
  }
  Group& group = groups[index];
  at = group.batch.count;
  group.batch.references.push_back(variable.reference);
  group.batch.count += count;
  group.values.resize(group.batch.count * size_of(variable.type));
  if (has_length(variable.type)) {
    group.texts.resize(group.batch.count);
    group.views.resize(group.batch.count);
  }
  return index;
}

void Session::wire_inputs() {
  for (const NodeSpec::Input& input : spec_.inputs) {
    std::vector<Wire>& wires = wires_.emplace_back();
    for (const NodeSpec::Field& field : input.fields) {
      const Variable& target = variable(field.variable);
      Wire wire{MessageField::find(input.type, field.path)};
      wire.count = value_count(description_, target, spec_.parameters);
      wire.conversion = {field.factor, field.offset};
      wire.discrete = target.variability == Variability::discrete || target.type == Type::clock;
      wire.group = add_to_group(inputs_, target, wire.count, wire.at);
      wires.push_back(std::move(wire));
    }
  }
}

void Session::lay_out_outputs() {
  for (const NodeSpec::Output& output : spec_.outputs) {
    Port& port = outputs_.emplace_back();
    for (const std::string& name : output.variables) {
      Slot slot;
      slot.is_time = name.empty();
      if (!slot.is_time) {
        const Variable& source = variable(name);
        slot.type = source.type;
        slot.count = value_count(description_, source, spec_.parameters);
        slot.group = add_to_group(port.groups, source, slot.count, slot.at);
      }
      port.flat = port.flat && !has_length(slot.type);
      port.slots.push_back(slot);
    }
    const bool alone = output.type.find('\n') == std::string::npos;
    const auto schema = alone ? Result<MessageSchema, std::string>(MessageSchema{})
                              : parse_ros2msg(output.type.substr(0, output.type.find('\n')),
                                              std::string_view(output.type).substr(output.type.find('\n') + 1));
    if (!schema) throw InputError({}, schema.error());
    for (std::size_t i = 0; port.flat && !alone && i < port.slots.size(); ++i) {
      port.slots[i].offset = MessageField::find(output.type, schema->messages[0].fields[i].name).offset();
    }
  }
}

double Session::seconds(std::int64_t time_ns) const {
  return description_.start_time.value_or(0) + static_cast<double>(time_ns) / 1e9;
}

void Session::set_parameters(bool structural) {
  for (const auto& [name, value] : spec_.parameters) {
    const Variable& target = variable(name);
    if ((target.causality == Causality::structural_parameter) != structural) continue;
    const std::size_t count = value_count(description_, target, spec_.parameters);
    const Batch batch{target.type, {target.reference}, count};
    if (has_length(target.type)) {
      const Bytes view{value.c_str(), value.size()};
      instance_->set({target.type, {target.reference}, 1}, &view);
    } else {
      instance_->set(batch, parse_values(value, target, count).data());
    }
  }
}

/// Inputs of which nothing was heard keep the FMU's own values.
void Session::read_start_values() {
  for (Group& group : inputs_) {
    get(group);
    for (std::size_t i = 0; i < group.views.size(); ++i) {
      if (group.views[i].data != nullptr) group.texts[i].assign(group.views[i].data, group.views[i].size);
    }
  }
}

void Session::start(std::int64_t time_ns) {
  const Solver::Settings solver{spec_.solver, spec_.tolerance.value_or(description_.tolerance.value_or(1e-6)),
                                static_cast<double>(spec_.solver_step_ns) / 1e9};
  InstanceOptions options{spec_.name, spec_.folder, spec_.log, solver};
  for (const NodeSpec::Output& output : spec_.outputs) {
    if (!output.intermediate) continue;
    for (const std::string& name : output.variables) {
      if (!name.empty()) options.intermediate.push_back(variable(name).reference);
    }
  }
  instance_ = Instance::make(description_, options, log_);
  if (!options.intermediate.empty()) instance_->on_intermediate([this](double time) { look_between(time); });
  instance_->on_tick([this](std::span<const Reference> ticking) { set_clocked(ticking); });
  bool structural = false;
  for (const auto& [name, value] : spec_.parameters) {
    structural = structural || variable(name).causality == Causality::structural_parameter;
  }
  if (structural) instance_->configure([this] { set_parameters(true); });
  set_parameters(false);
  instance_->initialise(seconds(time_ns), spec_.tolerance);
  read_start_values();
  at_ns_ = time_ns;
  meter_.begin(time_ns);
  if (meter_.any()) keep_outputs();
}

/// Text and bytes are the FMU's until its next call: they are copied.
void Session::keep_outputs() {
  for (Port& port : outputs_) {
    for (Group& group : port.groups) get(group);
  }
  Kept& kept = kept_.emplace_back(Kept{at_ns_, meter_.done(), meter_.last(), outputs_});
  for (Port& port : kept.outputs) {
    for (Group& group : port.groups) {
      for (std::size_t i = 0; i < group.views.size(); ++i) {
        if (group.views[i].data == nullptr) continue;
        group.texts[i].assign(group.views[i].data, group.views[i].size);
        group.views[i] = {group.texts[i].c_str(), group.texts[i].size()};
      }
    }
  }
}

void Session::pass_to(std::int64_t time_ns) {
  while (at_ns_ < time_ns) step();
}

void Session::heard(std::size_t input, std::span<const std::byte> message) {
  for (const Wire& wire : wires_[input]) {
    const auto bytes = wire.field.in(message);
    Group& group = inputs_[wire.group];
    if (has_length(group.batch.type)) {
      group.texts[wire.at].assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    } else {
      if (bytes.empty()) continue;  // this message does not have it
      const std::size_t size = size_of(group.batch.type);
      convert(wire.field.type(), bytes.data(), group.batch.type, group.values.data() + wire.at * size, wire.count,
              wire.conversion);
    }
    group.changed = true;
    change_ = std::max(change_, wire.discrete ? Instance::Change::discrete : Instance::Change::continuous);
  }
}

void Session::set_inputs() {
  for (Group& group : inputs_) {
    if (group.changed && group.clocks.empty() && group.batch.type != Type::clock) set(group);
  }
  for (Group& group : inputs_) {
    if (!group.changed || group.batch.type != Type::clock) continue;
    set(group);
    std::ranges::fill(group.values, std::byte{0});  // a clock ticks once for each message
  }
}

/// What waits for a clock is set when it ticks, and as it was at the communication point before.
void Session::set_clocked(std::span<const Reference> ticking) {
  for (Group& group : inputs_) {
    if (group.changed && std::ranges::find_first_of(group.clocks, ticking) != group.clocks.end()) set(group);
  }
}

void Session::set(Group& group) {
  group.changed = false;
  for (std::size_t i = 0; i < group.texts.size(); ++i) group.views[i] = {group.texts[i].c_str(), group.texts[i].size()};
  instance_->set(group.batch, group.views.empty() ? static_cast<const void*>(group.values.data())
                                                  : static_cast<const void*>(group.views.data()));
}

void Session::step() {
  if (instance_->ended()) {
    throw std::runtime_error("the FMU ended the simulation in the step to " + to_string(SimTime::from_ns(at_ns_)));
  }
  const std::int64_t next = at_ns_ + spec_.every_ns;
  const std::function<void()> set = [this] { set_inputs(); };
  try {
    const Instance::Stretch stretch{seconds(at_ns_), seconds(next), static_cast<double>(spec_.every_ns) / 1e9};
    meter_.around(next, [&] { instance_->step(stretch, set, std::exchange(change_, Instance::Change::none)); });
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("in the step from " + to_string(SimTime::from_ns(at_ns_)) + " to " +
                             to_string(SimTime::from_ns(next)) + ": " + error.what());
  }
  at_ns_ = next;
  if (meter_.any()) keep_outputs();
}

/// A time that is seen twice was an event: what it was after it counts.
void Session::look_between(double time) {
  const std::int64_t time_ns = std::llround((time - description_.start_time.value_or(0)) * 1e9);
  if (time_ns <= at_ns_ || time_ns > at_ns_ + spec_.every_ns) return;
  std::erase_if(seen_, [&](const Seen& one) { return one.time_ns >= time_ns; });
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (!spec_.outputs[i].intermediate) continue;
    Port& port = outputs_[i];
    for (Group& group : port.groups) get(group);
    Seen& one = seen_.emplace_back(Seen{i, time_ns, {}});
    one.message.resize(flow::dynamic_type(spec_.outputs[i].type).size);
    fill_flat(port, one.message, time_ns);
  }
}

void Session::get(Group& group) {
  if (group.batch.count == 0) return;
  instance_->get(group.batch, group.views.empty() ? static_cast<void*>(group.values.data())
                                                  : static_cast<void*>(group.views.data()));
}

Session::Kept& Session::kept_for(std::int64_t due_ns) {
  const auto found = std::ranges::find(kept_, due_ns, &Kept::due_ns);
  if (found == kept_.end()) {
    throw std::runtime_error("at " + to_string(SimTime::from_ns(due_ns)) + " none of its steps is done");
  }
  return *found;
}

std::int64_t Session::next_after(std::int64_t due_ns) {
  const std::int64_t next = kept_for(due_ns).time_ns + spec_.every_ns;
  pass_to(next);
  return std::ranges::find(kept_, next, &Kept::time_ns)->due_ns;
}

const StepCostMessage& Session::cost_at(std::int64_t due_ns) { return kept_for(due_ns).cost; }

Session::Port& Session::port_at(std::size_t output, std::int64_t due_ns) {
  while (!kept_.empty() && kept_.front().due_ns < due_ns) kept_.pop_front();
  if (meter_.varies()) return kept_for(due_ns).outputs[output];
  const std::int64_t time_ns = due_ns - spec_.cost.ns;
  pass_to(time_ns);
  while (!kept_.empty() && kept_.front().time_ns < time_ns) kept_.pop_front();
  if (!kept_.empty() && kept_.front().time_ns == time_ns) return kept_.front().outputs[output];
  if (at_ns_ != time_ns) {
    throw std::runtime_error("flow " + spec_.outputs[output].flow + ": " + to_string(SimTime::from_ns(time_ns)) +
                             " is not one of its communication points, which are " +
                             to_string(SimSpan::from_ns(spec_.every_ns)) + " apart");
  }
  Port& port = outputs_[output];
  for (Group& group : port.groups) get(group);
  return port;
}

void Session::fill(std::size_t output, std::span<std::byte> message, std::int64_t due_ns, const Room& room) {
  const Port& port = port_at(output, due_ns);
  const std::int64_t time_ns = meter_.varies() ? kept_for(due_ns).time_ns : due_ns - spec_.cost.ns;
  if (port.flat) {
    fill_flat(port, message, time_ns);
  } else {
    fill_cdr(port, room);
  }
}

void Session::fill_flat(const Port& port, std::span<std::byte> message, std::int64_t time_ns) const {
  for (const Slot& slot : port.slots) {
    if (slot.is_time) {
      const double time = seconds(time_ns);
      std::memcpy(message.data() + slot.offset, &time, sizeof time);
      continue;
    }
    const std::size_t size = size_of(slot.type);
    std::memcpy(message.data() + slot.offset, port.groups[slot.group].values.data() + slot.at * size,
                slot.count * size);
  }
}

void Session::fill_cdr(const Port& port, const Room& room) const {
  const auto write = [&](std::byte* target) {
    std::size_t at = 0;
    const auto put = [&](const void* from, std::size_t size, std::size_t align) {
      const std::size_t next = cdr::align(at, align);
      if (target != nullptr) {
        std::memset(target + at, 0, next - at);
        if (size > 0) std::memcpy(target + next, from, size);
      }
      at = next + size;
    };
    for (const Slot& slot : port.slots) {
      const Group& group = port.groups[slot.group];
      if (!has_length(slot.type)) {
        const std::size_t size = size_of(slot.type);
        put(group.values.data() + slot.at * size, slot.count * size, size);
        continue;
      }
      const Bytes& bytes = group.views[slot.at];
      const auto length = static_cast<std::uint32_t>(bytes.size + (slot.type == Type::text ? 1 : 0));
      put(&length, sizeof length, sizeof length);
      put(bytes.data, bytes.size, 1);
      if (slot.type == Type::text) put("", 1, 1);
    }
    return at;
  };
  const std::size_t size = write(nullptr);
  std::byte* bytes = room(cdr_header_size + size);
  if (bytes == nullptr) throw std::runtime_error("there is no room for a message of the FMU");
  const std::byte head[cdr_header_size] = {std::byte{0}, std::byte{1}, std::byte{0}, std::byte{0}};
  std::memcpy(bytes, head, sizeof head);
  write(bytes + cdr_header_size);
}

void Session::finish() {
  if (instance_ != nullptr) instance_->terminate();
  instance_.reset();
}

}  // namespace isochron::fmi
