#include "run/flow_record.hpp"

#include <algorithm>

#include "journal/small_copy.hpp"

namespace isochron {
namespace {

/// Whether a text is as a pattern says, in which * stands for anything.
bool matches(std::string_view text, std::string_view pattern) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return text == pattern;
  if (text.substr(0, star) != pattern.substr(0, star)) return false;
  text.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (matches(text.substr(i), pattern)) return true;
  }
  return false;
}

bool chosen(const std::vector<std::string>& patterns, const std::string& topic) {
  return patterns.empty() || std::any_of(patterns.begin(), patterns.end(),
                                         [&](const std::string& pattern) { return matches(topic, pattern); });
}

constexpr std::size_t faults_kept = 20;
constexpr std::uint32_t most_room = 64U << 20U;  // bytes of all rings

/// As flow::SentObserver says it.
bool told_from_one_thread(flow::How how) {
  return how == flow::How::thread || how == flow::How::processes || how == flow::How::tcp;
}

/// One ring for all flows: small enough to stay in the caches, unless messages are large or may be.
std::size_t room_for_all(const flow::System& system) {
  constexpr std::size_t small_message = 16U << 10U, enough = 8U << 20U;
  for (const flow::PortRef flow : system.flows()) {
    const flow::PayloadType& type = *system.graph().nodes[flow.node].outputs[flow.port].type;
    if (!type.flat || type.size > small_message) return most_room;
  }
  return enough;
}

}  // namespace

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
  const bool one_thread = only || told_from_one_thread(scenario.flows.executor);
  Producer* const together = one_thread ? &record.journal().producer("flows", room_for_all(system)) : nullptr;
  const std::size_t ring = std::clamp(most_room / std::max(system.flow_count(), 1U), 64U << 10U, 8U << 20U);
  for (const flow::PortRef flow : system.flows()) {
    const flow::OutputInfo& output = system.graph().nodes[flow.node].outputs[flow.port];
    const FlowPlan::Topic& topic = plan.topics[recorded_.size()];
    const auto tally = tallies_.find(topic.program);
    RecordedFlow recorded{.channel = {},
                          .producer = nullptr,
                          .node = ParticipantId(only ? 0 : flow.node),
                          .held_back = scenario.time.pace.factor.has_value(),
                          .pacer = Pacer(scenario.time.pace, record.clock(), watch),
                          .tally = tally == tallies_.end() ? nullptr : &tally->second,
                          .source = system.graph().nodes[flow.node].name,
                          .watch = topic.watch};
    if (topic.journaled && chosen(scenario.journal.record, topic.name) && (!only || flow.node == *only)) {
      const bool described = !output.type->schema.empty();
      ChannelOptions options;
      options.metadata.insert(topic.metadata.begin(), topic.metadata.end());
      options.in_digest = topic.in_digest;
      options.metadata["isochron.participant"] = system.graph().nodes[flow.node].name;
      options.message_encoding = described ? "cdr" : "raw";
      recorded.raw = !described && output.type->flat;
      recorded.channel = record.journal().channel(
          topic.name, {output.type->name, output.type->schema, described ? "ros2msg" : "raw"}, options);
      recorded.producer = one_thread ? together : &record.journal().producer(topic.name, ring);
    }
    recorded_.push_back(std::move(recorded));
  }
}

void FlowRecorder::sent(const flow::Sent& message) {
  if (!begun_.load(std::memory_order_acquire)) begin();
  RecordedFlow& recorded = recorded_[message.flow];
  if (recorded.held_back || watch_.control().wishes()) hold_back(recorded, message.time);
  if (drift_) {
    drift_->progress(recorded.node.index(), message.time);
  } else if (message.when != WallTime{}) {
    record_.progress(recorded.node, message.time, message.when);
  } else {
    record_.progress(recorded.node, message.time);
  }
  newest_.store(message.time.ns(), std::memory_order_relaxed);
  if (recorded.tally != nullptr) recorded.tally->take(*static_cast<const ProgramEvent*>(message.value));
  if (recorded.watch) recorded.watch(message.value);
  if (recorded.producer == nullptr) return;
  const std::size_t size = recorded.raw ? message.type->size : message.type->encoded_size(message.value);
  const std::span<std::byte> room = recorded.producer->reserve(recorded.channel, message.time, size);
  if (room.data() == nullptr) return;
  if (recorded.raw) {
    small_copy(room.data(), static_cast<const std::byte*>(message.value), size);
  } else {
    message.type->encode(message.value, room);
  }
  recorded.producer->commit();
}

/// The pace counts from the first message: nodes may have waited for others before it.
void FlowRecorder::begin() {
  const std::lock_guard lock(begin_mutex_);
  if (begun_.load(std::memory_order_relaxed)) return;
  for (RecordedFlow& each : recorded_) each.pacer.begin(behind_);
  begun_.store(true, std::memory_order_release);
}

void FlowRecorder::hold_back(RecordedFlow& recorded, SimTime time) {
  recorded.held->store(true, std::memory_order_relaxed);
  recorded.pacer.wait_for(time);
  watch_.control().hold(time, record_.clock(), watch_.stop_flag());
  recorded.held->store(false, std::memory_order_relaxed);
}

bool FlowRecorder::holds(std::string_view node) const {
  return std::any_of(recorded_.begin(), recorded_.end(), [&](const RecordedFlow& recorded) {
    return recorded.held->load(std::memory_order_relaxed) && (node.empty() || node == recorded.source);
  });
}

void FlowRecorder::Tally::take(const ProgramEvent& event) {
  if (event.what == "fault" && faults.size() < faults_kept) {
    faults.push_back(report.name + " at " + to_string(event.at) + ": " +
                     std::string(event.value.begin(), event.value.end()));
  }
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
  } else if (event.what == "end") {
    report.end = "end at " + to_string(event.at);
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

std::vector<std::string> FlowRecorder::faults() const {
  std::vector<std::string> all;
  for (const auto& [name, tally] : tallies_) all.insert(all.end(), tally.faults.begin(), tally.faults.end());
  return all;
}

std::vector<std::string> FlowRecorder::lateness() const {
  std::vector<std::string> all;
  for (const RecordedFlow& recorded : recorded_) {
    if (std::string late = recorded.pacer.lateness(); !late.empty() && all.empty()) all.push_back(std::move(late));
  }
  return all;
}

}  // namespace isochron
