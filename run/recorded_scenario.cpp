#include "run/recorded_scenario.hpp"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/cdr.hpp"
#include "run/ros_wire.hpp"
#include "run/run.hpp"
#include "run/trust.hpp"

namespace isochron {
namespace {

constexpr const char* file_key = "file";
constexpr const char* folder_key = "folder";
constexpr const char* mark_key = "mark";

std::optional<std::string> attached_text(McapReader& journal, std::string_view name) {
  for (const mcap::AttachmentIndex& index : journal.attachments()) {
    if (index.name != name) continue;
    const auto data = journal.attachment(index);
    if (data.ok()) return std::string(reinterpret_cast<const char*>(data->data()), data->size());
  }
  return std::nullopt;
}

InputError refuse(const McapReader& journal, std::string what, std::string hint) {
  return InputError({journal.name(), 0, 0}, std::move(what), std::move(hint));
}

/// When Ctrl-C or a violation ended the run; nothing if it came to its own end.
std::optional<SimSpan> stopped_at(McapReader& journal) {
  const auto text = attached_text(journal, "report.json");
  if (!text) throw refuse(journal, "the run was killed before it could end", "it has no digest to compare with");
  const auto report = nlohmann::json::parse(*text, nullptr, false);
  if (!report.is_object()) return std::nullopt;
  if (const std::string end = report.value("end", ""); end != "interrupted" && end != "violated") return std::nullopt;
  return SimSpan::from_ns(std::llround(report.value("simulated_s", 0.0) * 1e9));
}

void charge_as_recorded(ComputeSection& compute, const std::string& journal) {
  if (compute.contract != Contract::measured && compute.contract != Contract::recorded) return;
  compute.contract = Contract::recorded;
  compute.recorded.path = journal;
}

void check_repeats(const Scenario& scenario, const McapReader& journal) {
  const char* again = "run it in mode repeatable, or record it in mode consistent";
  if (scenario.time.mode == Mode::realtime || scenario.time.mode == Mode::hil ||
      scenario.time.mode == Mode::heartbeat) {
    throw refuse(journal,
                 std::string("a run in mode ") + Words<Mode>::list[static_cast<std::size_t>(scenario.time.mode)] +
                     " is bound to the wall clock and does not repeat",
                 again);
  }
  if (has_boards(scenario)) throw refuse(journal, "a board took part in it, and no board runs the same twice", again);
  if (const auto ros = ros_spoilers(scenario); !ros.empty())
    throw refuse(journal, ros.front() + "; such a run does not repeat", "leave out what it subscribes to");
  if (!scenario.nodes.empty() && scenario.flows.executor == flow::How::free)
    throw refuse(journal, "its nodes ran free, without time management; such a run does not repeat", again);
}

}  // namespace

std::optional<std::string> recorded_scenario::text_of(McapReader& journal) {
  return attached_text(journal, attachment);
}

std::optional<std::string> recorded_scenario::report_of(McapReader& journal) {
  return attached_text(journal, "report.json");
}

mcap::TextMap recorded_scenario::origin_of(const Scenario& scenario) {
  std::error_code ignored;
  const std::string folder = std::filesystem::absolute(scenario.folder, ignored).lexically_normal().string();
  return {{file_key, scenario.file}, {folder_key, folder}, {mark_key, own_mark(scenario.text, folder)}};
}

bool recorded_scenario::is_own(McapReader& journal) {
  const auto text = attached_text(journal, attachment);
  const mcap::TextMap origin = journal.metadata(record);
  const auto folder = origin.find(folder_key), mark = origin.find(mark_key);
  return text && folder != origin.end() && mark != origin.end() && bears_own_mark(mark->second, *text, folder->second);
}

namespace {

Scenario read_again(McapReader& journal, const std::string& folder, const std::vector<Override>& overrides) {
  const auto text = attached_text(journal, recorded_scenario::attachment);
  if (!text) throw refuse(journal, "has no scenario inside", "only journals that `isochron run` wrote have one");
  const mcap::TextMap origin = journal.metadata(recorded_scenario::record);
  const auto at = [&](const char* key, const std::string& otherwise) {
    const auto found = origin.find(key);
    return found != origin.end() ? found->second : otherwise;
  };
  return read_scenario(*text, at(file_key, recorded_scenario::attachment),
                       !folder.empty() ? folder : at(folder_key, "."), overrides);
}

/// What makes measured programs owe what the journal says.
std::vector<Override> charges_of(const Scenario& scenario, const McapReader& journal) {
  std::error_code ignored;
  const std::string tape = "{recorded: " + std::filesystem::absolute(journal.name(), ignored).string() + "}";
  std::vector<Override> overrides;
  const auto add = [&](const ComputeSection& compute, const std::string& path) {
    if (compute.contract == Contract::measured || compute.contract == Contract::recorded)
      overrides.push_back({path, tape});
  };
  if (scenario.time.mode == Mode::callback) return overrides;
  bool any = false;
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) {
      any = any || !program.compute;
      if (program.compute) add(*program.compute, "robots." + robot + ".programs." + name + ".compute");
    }
  }
  if (any) add(scenario.time.compute, "time.compute");
  for (const auto& [name, node] : scenario.nodes) {
    if (node.compute) add(*node.compute, "nodes." + name + ".compute");
  }
  return overrides;
}

}  // namespace

Scenario scenario_of(McapReader& journal, const std::string& folder) { return read_again(journal, folder, {}); }

Scenario scenario_to_branch(McapReader& journal, const std::string& folder, const std::vector<Override>& overrides) {
  const Scenario as_it_was = read_again(journal, folder, {});
  check_repeats(as_it_was, journal);
  (void)stopped_at(journal);  // throws where the run was killed
  std::vector<Override> all = charges_of(as_it_was, journal);
  all.insert(all.end(), overrides.begin(), overrides.end());
  Scenario scenario = read_again(journal, folder, all);
  scenario.time.pace = {};
  scenario.faults.timeline.clear();
  scenario.on_violation = OnEnd::go_on;
  return scenario;
}

Scenario scenario_to_replay(McapReader& journal, const std::string& folder) {
  Scenario scenario = scenario_of(journal, folder);
  check_repeats(scenario, journal);
  if (const auto end = stopped_at(journal)) {
    // Nodes stop where they are, some farther than others: all of them get there again, and a little beyond.
    const SimSpan beyond = runs_as_flows(scenario) ? std::chrono::milliseconds(100) : SimSpan::zero();
    scenario.duration = std::min(scenario.duration, *end + beyond);
  }
  std::error_code ignored;
  const std::string tape = std::filesystem::absolute(journal.name(), ignored).string();
  charge_as_recorded(scenario.time.compute, tape);
  for (auto& [robot, section] : scenario.robots) {
    for (auto& [name, program] : section.programs) {
      if (program.compute) charge_as_recorded(*program.compute, tape);
    }
  }
  for (auto& [name, node] : scenario.nodes) {
    if (node.compute) charge_as_recorded(*node.compute, tape);
  }
  scenario.time.pace = {};
  scenario.faults.timeline.clear();      // the marks in the journal say what broke
  scenario.on_violation = OnEnd::go_on;  // it ends where the first one did
  return scenario;
}

bool ends_ragged(McapReader& journal, const Scenario& scenario) {
  return runs_as_flows(scenario) && stopped_at(journal).has_value();
}

std::vector<Mark> marks_of(McapReader& journal) {
  std::vector<Mark> marks;
  if (journal.channel(marks_topic) == nullptr) return marks;
  auto cursor = journal.messages({.topics = {marks_topic}});
  while (const auto message = cursor.next()) {
    if (auto mark = cdr_read<Mark>(message->data); mark.ok()) marks.push_back(std::move(mark).value());
  }
  return marks;
}

}  // namespace isochron
