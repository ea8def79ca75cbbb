#include "expect/watcher.hpp"

#include <algorithm>
#include <limits>

namespace isochron::expect {
namespace {

constexpr std::size_t most_waiting = 1'000'000;
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

/// Of a thing that has x and y only.
bool is_height_in_a_plane(const Operand& operand, const Names& names) {
  if (operand.thing.empty() || !operand.name.ends_with(".z")) return false;
  return names.find(operand.name.substr(0, operand.name.size() - 1) + "y").has_value();
}

}  // namespace

Watcher::Watcher(const Watch& watch, Told told)
    : watch_(watch),
      told_(std::move(told)),
      slots_(watch.operands.size()),
      values_(watch.operands.size()),
      waiting_(watch.operands.size()),
      unfound_(watch.operands.size()) {}

void Watcher::look_for_names(const Names& names) {
  for (std::size_t i = 0; i < slots_.size() && unfound_ > 0; ++i) {
    Slot& slot = slots_[i];
    if (slot.reader || slot.in_a_plane) continue;
    const auto found = names.find(watch_.operands[i].name);
    if (!found && is_height_in_a_plane(watch_.operands[i], names)) {
      slot.has_value = true;  // zero
      slot.in_a_plane = true;
      --unfound_;
      continue;
    }
    const bool wants_text = watch_.operands[i].text.has_value();
    if (!found || (found->quantity == Quantity::text) != wants_text) continue;
    slot.reader.emplace(names.reader(*found));
    slot.channel = found->channel;
    slot.silent_without_sample = found->made != NamedNumber::Made::as_recorded;
    channels_.emplace(slot.channel, SimTime::before_all());
    --unfound_;
  }
}

Watcher::Sample Watcher::sample(std::size_t operand, std::span<const std::byte> record, double& value) {
  Slot& slot = slots_[operand];
  if (const auto& wanted = watch_.operands[operand].text) {
    const auto text = slot.reader->text(record);
    value = text && *text == *wanted ? 1 : 0;
    return text ? Sample::there : Sample::gone;
  }
  const auto number = slot.reader->number(record);
  value = number.value_or(0);
  if (number) return Sample::there;
  return slot.silent_without_sample ? Sample::none : Sample::gone;
}

void Watcher::hold(std::size_t operand, Sample sample, double value) {
  if (sample == Sample::none) return;
  slots_[operand].has_value = sample == Sample::there;
  values_[operand] = value;
}

void Watcher::recorded(std::size_t channel, SimTime time, std::span<const std::byte> record) {
  const auto newest = channels_.find(channel);
  if (newest == channels_.end()) return;
  newest->second = std::max(newest->second, time);
  const bool together = channels_.size() == 1 && unfound_ == 0 && waiting_count_ == 0;
  bool news = false;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].reader || slots_[i].channel != channel) continue;
    double value = 0;
    const Sample found = sample(i, record, value);
    news = news || found == Sample::there;
    if (together) {
      hold(i, found, value);
    } else {
      waiting_[i].push_back({newest->second.ns(), value, found});
      ++waiting_count_;
    }
  }
  if (together) {
    now_ = time;
    if (news) told_(time);
    return;
  }
  if (unfound_ > 0) return shed();
  std::int64_t before = never;
  for (const auto& [which, at] : channels_) before = std::min(before, at.ns());
  tell_until(before);
  shed();
}

void Watcher::tell_until(std::int64_t before_ns) {
  while (waiting_count_ > 0) {
    std::int64_t next = never;
    for (const auto& queue : waiting_) {
      if (!queue.empty()) next = std::min(next, queue.front().time);
    }
    if (next >= before_ns) return;
    bool news = false;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      if (waiting_[i].empty() || waiting_[i].front().time != next) continue;
      const Waiting& sample = waiting_[i].front();
      news = news || sample.sample == Sample::there;
      hold(i, sample.sample, sample.value);
      waiting_[i].pop_front();
      --waiting_count_;
    }
    now_ = SimTime::from_ns(next);
    if (news) told_(now_);
  }
}

/// Keeps what waits finite where a channel is silent.
void Watcher::shed() {
  if (waiting_count_ <= most_waiting) return;
  std::int64_t oldest = never;
  for (const auto& queue : waiting_) {
    if (!queue.empty()) oldest = std::min(oldest, queue.front().time);
  }
  tell_until(oldest + 1);
}

void Watcher::finish() {
  if (unfound_ == 0) tell_until(never);
}

std::optional<double> Watcher::value(std::size_t program) const {
  const Program& wanted = watch_.programs[program];
  for (const std::uint32_t operand : wanted.operands()) {
    if (!slots_[operand].has_value) return std::nullopt;
  }
  return wanted.evaluate(values_, now_.seconds());
}

}  // namespace isochron::expect
