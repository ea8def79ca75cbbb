#include "run/injected_faults.hpp"

#include <array>
#include <cmath>

#include "core/random.hpp"

namespace isochron {
namespace {

constexpr std::array<std::string_view, 8> words{"blind", "cut", "delay", "stop", "slow", "kill", "unplug", "link"};

SimSpan span_of(double seconds) { return SimSpan::from_ns(std::llround(seconds * 1e9)); }

/// "prey/fx" belongs to "prey" and to itself.
bool belongs(std::string_view name, std::string_view to) {
  return name == to || (name.starts_with(to) && name.substr(to.size()).starts_with('/'));
}

/// Whether a message from there to there goes over the link that `ends` names.
bool goes_over(std::string_view ends, std::string_view from, std::string_view to) {
  const std::size_t comma = ends.find(", ");
  if (comma == std::string_view::npos) return belongs(from, ends) != belongs(to, ends);
  const std::string_view a = ends.substr(0, comma), b = ends.substr(comma + 2);
  return (belongs(from, a) && belongs(to, b)) || (belongs(from, b) && belongs(to, a));
}

}  // namespace

bool InjectedFaults::is_fault(std::string_view what) { return std::ranges::find(words, what) != words.end(); }

void InjectedFaults::add(const Mark& mark) {
  faults_.push_back(
      {mark.what, mark.about, mark.at, mark.at + span_of(mark.seconds), mark.force[0], span_of(mark.force[1])});
}

std::optional<SimTime> InjectedFaults::blind_since(std::string_view sensor, SimTime at) const {
  for (const Fault& fault : faults_) {
    if (fault.what == "blind" && fault.about == sensor && fault.lasts(at)) return fault.from;
  }
  return std::nullopt;
}

bool InjectedFaults::cut_off(std::string_view name, SimTime at) const {
  return std::ranges::any_of(faults_, [&](const Fault& fault) {
    return fault.what == "cut" && fault.lasts(at) && belongs(name, fault.about);
  });
}

SimSpan InjectedFaults::take_delay(const std::string& program, SimTime at) {
  SimSpan all;
  std::erase_if(faults_, [&](const Fault& fault) {
    if (fault.what != "delay" || fault.about != program || fault.from + ahead_ > at) return false;
    all += fault.until - fault.from;
    return true;
  });
  return all;
}

SimTime InjectedFaults::stopped_until(const std::string& program, SimTime at) {
  SimTime until = at;
  for (const Fault& fault : faults_) {
    if (fault.what == "stop" && fault.about == program && fault.lasts(at - ahead_))
      until = std::max(until, fault.until + ahead_);
  }
  return until;
}

bool InjectedFaults::take_end(const std::string& program, SimTime at) {
  return std::erase_if(faults_, [&](const Fault& fault) {
           const bool ends = fault.what == "kill" || fault.what == "unplug";
           return ends && fault.about == program && fault.from + ahead_ <= at;
         }) > 0;
}

/// Chance depends on who sends to whom and on the number of the message, not on who asks first.
std::optional<SimSpan> InjectedFaults::carry(const std::string& from, const std::string& to, SimTime at,
                                             std::uint64_t number) {
  SimSpan late;
  for (const Fault& fault : faults_) {
    if (fault.what != "link" || !fault.lasts(at - ahead_) || !goes_over(fault.about, from, to)) continue;
    RandomStream chance(seed_, "link/" + fault.about + "/" + from + "/" + std::to_string(number));
    if (chance.chance(fault.amount)) return std::nullopt;
    late += fault.late;
  }
  return late;
}

std::shared_ptr<const double> InjectedFaults::slowness(const std::string& program) {
  auto& factor = slowness_[program];
  if (factor == nullptr) factor = std::make_shared<double>(1);
  return factor;
}

}  // namespace isochron
