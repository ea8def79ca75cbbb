#include "bridge/fmi/step_meter.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "core/cdr.hpp"
#include "core/input_error.hpp"
#include "journal/disk.hpp"
#include "journal/mcap_reader.hpp"
#include "rt/cpu_clock.hpp"

namespace isochron::fmi {

StepMeter::StepMeter(const NodeSpec& spec) : cost_(spec.cost), random_(spec.cost.seed, spec.name) {
  if (cost_.kind == StepCost::Kind::recorded) read_tape(spec.name);
}

void StepMeter::read_tape(const std::string& node) {
  PosixDisk disk;
  auto reader = McapReader::open(disk, cost_.tape);
  if (!reader.ok()) throw InputError({}, reader.error().what);
  const std::string topic = "/" + node + "." + cost_flow;
  if (reader->channel(topic) == nullptr) {
    throw InputError({}, "`" + cost_.tape + "` has no costs of node " + node,
                     "record them with a run of the same scenario in which its compute is measured");
  }
  auto cursor = reader->messages({.topics = {topic}});
  while (const auto message = cursor.next()) {
    if (message->data.size() < cdr_header_size + sizeof(std::int64_t)) {
      throw InputError({}, "`" + cost_.tape + "` has a cost of node " + node + " that cannot be read");
    }
    std::int64_t cost = 0;
    std::memcpy(&cost, message->data.data() + cdr_header_size, sizeof cost);
    tape_.push_back(std::max<std::int64_t>(cost, 1));
  }
}

std::int64_t StepMeter::drawn() {
  const double ns = static_cast<double>(cost_.ns) + random_.normal() * static_cast<double>(cost_.deviation);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(ns));
}

void StepMeter::around(std::int64_t time_ns, const std::function<void()>& step) {
  const auto cpu = rt::CpuClock::this_thread();
  const bool measured = cost_.kind == StepCost::Kind::measured;
  const auto before = measured ? cpu.now() : std::nullopt;
  step();
  std::int64_t cost = cost_.ns;
  if (measured) {
    const auto used = *cpu.now() - *before;
    cost = std::max<std::int64_t>(1, std::llround(static_cast<double>(used.count()) / cost_.speed));
  } else if (cost_.kind == StepCost::Kind::drawn) {
    cost = drawn();
  } else if (cost_.kind == StepCost::Kind::recorded) {
    if (steps_ == tape_.size()) {
      throw std::runtime_error("`" + cost_.tape + "` has the costs of " + std::to_string(steps_) + " steps, no more");
    }
    cost = tape_[steps_];
  }
  ++steps_;
  const std::int64_t begun = std::max(time_ns, done_);
  last_ = {cost, begun - time_ns};
  done_ = begun + cost;
}

}  // namespace isochron::fmi
