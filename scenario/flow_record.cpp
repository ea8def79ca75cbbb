#include "scenario/flow_record.hpp"

#include <algorithm>

namespace isochron {

FlowRecorder::FlowRecorder(const FlowPlan& plan, const Scenario& scenario, RunRecord& record, RunWatch& watch,
                           std::optional<std::uint32_t> only)
    : record_(record),
      watch_(watch),
      stall_channel_(record.journal().channel<WaitRecord>("/isochron/stall", {.in_digest = false})),
      stall_producer_(&record.journal().producer("/isochron/stall", 1U << 20U)) {
  for (const auto& [name, every] : plan.programs) {
    tallies_[name] = {every, ProgramReport{.name = name}, SimTime::zero(), SimTime::before_all()};
  }
  const flow::System& system = plan.system;
  const std::size_t ring =
      std::clamp<std::size_t>((64U << 20U) / std::max(system.flow_count(), 1U), 64U << 10U, 8U << 20U);
  for (const flow::PortRef flow : system.flows()) {
    const flow::OutputInfo& output = system.graph().nodes[flow.node].outputs[flow.port];
    const FlowPlan::Topic& topic = plan.topics[lanes_.size()];
    const auto tally = tallies_.find(topic.program);
    Lane lane{{},
              nullptr,
              ParticipantId(only ? 0 : flow.node),
              Pacer(scenario.time.pace, record.clock(), watch),
              tally == tallies_.end() ? nullptr : &tally->second,
              topic.watch};
    if (topic.journaled && (!only || flow.node == *only)) {
      const bool described = !output.type->schema.empty();
      ChannelOptions options;
      options.in_digest = topic.in_digest;
      options.metadata["isochron.participant"] = system.graph().nodes[flow.node].name;
      options.message_encoding = described ? "cdr" : "raw";
      lane.channel = record.journal().channel(
          topic.name, {output.type->name, output.type->schema, described ? "ros2msg" : "raw"}, options);
      lane.producer = &record.journal().producer(topic.name, ring);
    }
    lanes_.push_back(std::move(lane));
  }
}

void FlowRecorder::sent(const flow::Sent& message) {
  std::call_once(began_, [this] {
    for (Lane& each : lanes_) each.pacer.begin();
  });
  Lane& lane = lanes_[message.flow];
  lane.pacer.wait_for(message.time);
  watch_.control().hold(message.time, record_.clock(), watch_.stop_flag());
  record_.progress(lane.node, message.time);
  newest_.store(message.time.ns(), std::memory_order_relaxed);
  if (lane.tally != nullptr) lane.tally->take(*static_cast<const ProgramEvent*>(message.value));
  if (lane.watch) lane.watch(message.value);
  if (lane.producer == nullptr) return;
  const std::size_t size = message.type->encoded_size(message.value);
  const std::span<std::byte> room = lane.producer->reserve(lane.channel, message.time, size);
  if (room.data() == nullptr) return;
  message.type->encode(message.value, room);
  lane.producer->commit();
}

void FlowRecorder::Tally::take(const ProgramEvent& event) {
  if (event.what == "release") {
    ++report.activations;
    if (due != SimTime::before_all() && every > SimSpan::zero()) {
      if (event.at > due + every) ++report.overruns;  // the one before ended after this was due
      report.missed_deadlines += static_cast<std::uint64_t>(std::max<std::int64_t>((event.stamp - due) / every - 1, 0));
    }
    due = event.stamp;
    released = event.at;
  } else if (event.what == "write" && event.at > released) {
    report.executed += event.at - released;
    released = event.at;
  } else if (event.what == "end" || event.what == "fault") {
    report.end = event.what + " at " + to_string(event.at);
  }
}

void FlowRecorder::stalled(const flow::WaitForGraph& graph) {
  const std::lock_guard lock(stall_mutex_);
  ++stalls_;
  for (const flow::Waiting& waiting : graph) {
    stall_producer_->write(stall_channel_, newest(),
                           WaitRecord{stalls_, waiting.node, to_string(waiting.what), waiting.flow, waiting.at,
                                      waiting.whom, waiting.since.seconds()});
  }
}

std::vector<ProgramReport> FlowRecorder::programs() const {
  std::vector<ProgramReport> all;
  for (const auto& [name, tally] : tallies_) {
    all.push_back(tally.report);
    all.back().waited = std::max(SimSpan::zero(), newest().since_zero() - tally.report.executed);
  }
  return all;
}

std::vector<std::string> FlowRecorder::lateness() const {
  std::vector<std::string> all;
  for (const Lane& lane : lanes_) {
    if (std::string late = lane.pacer.lateness(); !late.empty() && all.empty()) all.push_back(std::move(late));
  }
  return all;
}

}  // namespace isochron
