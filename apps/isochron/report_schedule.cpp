#include "apps/isochron/report_schedule.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/isochron/report_html.hpp"
#include "core/foreign_text.hpp"

namespace isochron::app {
namespace {

using Json = nlohmann::ordered_json;

template <class T, class Time>
std::vector<T> within(const std::vector<T>& all, const ScheduleWindow& window, Time time) {
  std::vector<T> some;
  for (const T& one : all) {
    if (time(one) >= window.from_s && time(one) <= window.to_s) some.push_back(one);
  }
  return some;
}

/// A bar: on a virtual core a turn, elsewhere an activation.
struct Bar {
  double ready_s = 0, from_s = 0, to_s = 0;
  std::string preempted_by;
};

std::vector<Bar> bars_of(const ProgramTrack& track, const ScheduleWindow& window) {
  std::vector<Bar> bars;
  for (const CoreTurn& turn : within(track.turns, window, [](const CoreTurn& t) { return t.from_s; })) {
    bars.push_back({turn.asked_s, turn.from_s, turn.to_s, turn.preempted_by});
  }
  if (!track.turns.empty()) return bars;
  for (const Activation& one : within(track.activations, window, [](const Activation& a) { return a.begin_s; })) {
    bars.push_back({one.due_s, one.begin_s, one.end_s, ""});
  }
  return bars;
}

/// [ready, from, to, how many, preempted by] in simulated seconds; `group` neighbours become one.
Json bar_marks(const std::vector<Bar>& all, std::size_t group) {
  Json marks = Json::array();
  for (std::size_t i = 0; i < all.size(); i += group) {
    const std::size_t last = std::min(i + group, all.size()) - 1;
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(i);
    const auto preempted = std::ranges::find_if(from, from + static_cast<std::ptrdiff_t>(last - i + 1),
                                                [](const Bar& bar) { return !bar.preempted_by.empty(); });
    const bool any = preempted != from + static_cast<std::ptrdiff_t>(last - i + 1);
    marks.push_back({all[i].ready_s, all[i].from_s, all[last].to_s, last - i + 1, any ? preempted->preempted_by : ""});
  }
  return marks;
}

/// [at, what, how many, about, since].
Json event_marks(const std::vector<Happened>& all, std::size_t group) {
  Json marks = Json::array();
  for (std::size_t i = 0; i < all.size(); i += group) {
    marks.push_back({all[i].at_s, all[i].what, std::min(group, all.size() - i), all[i].about, all[i].since_s});
  }
  return marks;
}

std::size_t group_size(std::size_t marks, std::size_t allowed) {
  return std::max<std::size_t>(1, (marks + allowed - 1) / allowed);
}

/// Ends neither the script element nor the string: `<` occurs in JSON only within strings.
std::string for_script(const Json& json) {
  std::string out;
  for (const char c : json_text(json)) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

Schedule schedule_of(const std::vector<RunData>& runs, const ScheduleWindow& window) {
  Schedule schedule;
  std::size_t kinds = 0;  // of marks: two for each track
  for (const RunData& run : runs) kinds += 2 * run.tracks.size();
  const std::size_t allowed = std::max<std::size_t>(1, most_marks / std::max<std::size_t>(1, kinds));
  Json lanes = Json::array();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const ProgramTrack& track : runs[i].tracks) {
      if (lanes.size() == most_marks / 2) break;
      const auto bars = bars_of(track, window);
      const auto happened = within(track.happened, window, [](const Happened& h) { return h.at_s; });
      const std::size_t group = group_size(bars.size(), allowed), events = group_size(happened.size(), allowed);
      Json one{{"run", letter(i)}, {"colour", i % 8}, {"name", track.program}};
      one["a"] = bar_marks(bars, group);
      one["e"] = event_marks(happened, events);
      schedule.marks += one["a"].size() + one["e"].size();
      schedule.joined = schedule.joined || group > 1 || events > 1;
      lanes.push_back(std::move(one));
    }
  }
  schedule.json = for_script(lanes);
  return schedule;
}

}  // namespace isochron::app
