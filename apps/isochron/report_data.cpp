#include "apps/isochron/report_data.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "apps/isochron/report_aircraft.hpp"
#include "apps/isochron/report_figures.hpp"
#include "apps/isochron/report_html.hpp"
#include "apps/isochron/report_vehicles.hpp"
#include "core/cdr.hpp"
#include "core/input_error.hpp"
#include "journal/decode.hpp"
#include "journal/digest.hpp"
#include "journal/journal_metadata.hpp"
#include "journal/mcap_reader.hpp"
#include "journal/named_series.hpp"
#include "run/hold_record.hpp"
#include "run/program_record.hpp"
#include "run/run_record.hpp"
#include "world/messages.hpp"

namespace isochron::app {
namespace {

constexpr std::size_t most_pairs = 6;         // more charts than that nobody looks at
constexpr std::size_t doubles_per_body = 13;  // see world::WorldState
constexpr std::uint8_t first_packed = 100;    // of ComputeRecord::kind: from here on no charge

bool starts_with(const std::string& text, std::string_view with) { return text.compare(0, with.size(), with) == 0; }

/// Reads the records of one journal in the order of simulated time.
class Loader {
 public:
  Loader(McapReader& reader, RunData& run) : reader_(reader), run_(run) {}

  void load() {
    take_attachments();
    take_metadata();
    find_bodies();
    auto cursor = reader_.messages({.topics = topics()});
    while (const auto message = cursor.next()) take(*message);
    for (auto& [name, track] : tracks_) run_.tracks.push_back(std::move(track));
    if (unreadable_ > 0) {
      run_.banners.push_back(std::to_string(unreadable_) + " records cannot be understood and are left out.");
    }
  }

 private:
  void take_attachments() {
    for (const mcap::AttachmentIndex& index : reader_.attachments()) {
      if (index.name != "report.json" && index.name != "scenario.yaml") continue;
      const auto bytes = reader_.attachment(index);
      if (!bytes.ok()) {
        run_.banners.push_back(bytes.error().what);
        continue;
      }
      const std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
      index.name == "report.json" ? take_figures(text, run_) : take_scenario(text, run_);
    }
  }

  void take_metadata() {
    const mcap::TextMap about = reader_.metadata(journal_metadata::record);
    const auto entry = [&about](const char* key) {
      const auto found = about.find(key);
      return found == about.end() ? std::string() : found->second;
    };
    if (run_.scenario.empty()) run_.scenario = entry("scenario");
    if (run_.mode.empty()) run_.mode = entry("mode");
    run_.seed = entry("seed");
    for (const auto& [index, who] : reader_.metadata("participants")) {
      if (const auto slash = who.find('/'); slash != std::string::npos) robots_.insert(who.substr(0, slash));
    }
  }

  std::vector<std::string> topics() const {
    std::vector<std::string> all{"/world/state", "/isochron/drift", "/hil/holds"};
    for (const mcap::Channel& channel : reader_.channels()) {
      if (starts_with(channel.topic, "/programs/") || starts_with(channel.topic, "/compute/") ||
          starts_with(channel.topic, turns_prefix)) {
        all.push_back(channel.topic);
      }
    }
    return all;
  }

  /// Body i + 1 of the world's state is transform i: the first body of a world is the world itself.
  void find_bodies() {
    auto cursor = reader_.messages({.topics = {"/tf"}});
    const auto first = cursor.next();
    if (!first) return;
    const auto frames = cdr_read<tf2_msgs::TFMessage>(first->data);
    if (!frames.ok()) return;
    std::vector<std::pair<std::size_t, std::string>> bodies;
    for (std::size_t i = 0; i < frames->transforms.size(); ++i) {
      const std::string& name = frames->transforms[i].child_frame_id;
      if (robots_.empty() || robots_.contains(name)) bodies.emplace_back(i + 1, name);
    }
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      for (std::size_t j = i + 1; j < bodies.size(); ++j) add_pair(bodies[i], bodies[j]);
    }
  }

  void add_pair(const std::pair<std::size_t, std::string>& a, const std::pair<std::size_t, std::string>& b) {
    if (run_.pairs.size() == most_pairs) {
      const std::string note = "distances are shown for the first " + std::to_string(most_pairs) + " pairs only";
      if (std::find(run_.notes.begin(), run_.notes.end(), note) == run_.notes.end()) run_.notes.push_back(note);
      return;
    }
    run_.pairs.push_back({a.second, b.second, {}});
    bodies_of_pair_.emplace_back(a.first, b.first);
  }

  void take(const MessageView& message) {
    const std::string& topic = message.channel->topic;
    if (topic == "/world/state") {
      take_state(message);
    } else if (topic == "/isochron/drift") {
      take_drift(message);
    } else if (starts_with(topic, "/programs/")) {
      take_event(message, topic.substr(10));
    } else if (starts_with(topic, turns_prefix)) {
      take_turn(message, topic.substr(turns_prefix.size()));
    } else if (topic == "/hil/holds") {
      take_hold(message);
    } else {
      take_compute(message, topic.substr(9));
    }
  }

  void take_state(const MessageView& message) {
    const auto state = cdr_read<world::WorldState>(message.data);
    if (!state.ok()) return void(++unreadable_);
    const double at = state->stamp.seconds();
    for (std::size_t i = 0; i < run_.pairs.size(); ++i) {
      const auto [a, b] = bodies_of_pair_[i];
      if (std::max(a, b) * doubles_per_body + 2 >= state->bodies.size()) continue;
      const double* p = &state->bodies[a * doubles_per_body];
      const double* q = &state->bodies[b * doubles_per_body];
      const double apart = std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
      if (std::isfinite(apart)) run_.pairs[i].line.push_back({at, apart});
    }
  }

  void take_drift(const MessageView& message) {
    const auto drift = cdr_read<DriftRecord>(message.data);
    if (!drift.ok() || !std::isfinite(drift->drift_s)) return void(++unreadable_);
    run_.drift.push_back({drift->until.seconds(), drift->drift_s});
  }

  ProgramTrack& track(const std::string& program) {
    ProgramTrack& found = tracks_[program];
    found.program = program;
    return found;
  }

  void take_event(const MessageView& message, const std::string& program) {
    const auto event = cdr_read<ProgramEvent>(message.data);
    if (!event.ok()) return void(++unreadable_);
    ProgramTrack& of = track(program);
    const double at = event->at.seconds();
    if (event->what == "release") {
      of.activations.push_back({event->stamp.seconds(), at, at});
    } else if (!of.activations.empty() && (event->what == "read" || event->what == "write" || event->what == "send")) {
      of.activations.back().end_s = at;
    }
    if (event->what != "release" && event->what != "read" && event->what != "write") {
      of.happened.push_back({at, event->what, event->about, event->stamp.seconds()});
    }
  }

  void take_turn(const MessageView& message, const std::string& program) {
    auto turn = cdr_read<TurnRecord>(message.data);
    if (!turn.ok()) return void(++unreadable_);
    track(program).turns.push_back(
        {turn->asked.seconds(), turn->from.seconds(), turn->to.seconds(), std::move(turn->preempted_by)});
  }

  void take_hold(const MessageView& message) {
    const auto hold = cdr_read<HoldRecord>(message.data);
    if (!hold.ok()) return void(++unreadable_);
    const std::string whom = hold->by.empty() ? hold->cause : hold->by;
    track(hold->target)
        .happened.push_back({hold->answered.seconds(), "held", seconds_text(hold->held_s) + " by " + whom, 0});
  }

  void take_compute(const MessageView& message, const std::string& program) {
    const auto record = cdr_read<ComputeRecord>(message.data);
    if (!record.ok()) return void(++unreadable_);
    if (record->kind >= first_packed) return;
    track(program).charged_s = std::max(track(program).charged_s, static_cast<double>(record->total_ns) * 1e-9);
  }

  McapReader& reader_;
  RunData& run_;
  std::set<std::string> robots_;
  std::vector<std::pair<std::size_t, std::size_t>> bodies_of_pair_;
  std::map<std::string, ProgramTrack> tracks_;
  std::uint64_t unreadable_ = 0;
};

void take_digest(McapReader& reader, RunData& run) {
  const Digest found = digest_of(reader), noted = recorded_digest(reader);
  run.digest = found.hex;
  run.digest_complete = found.complete;
  if (!found.complete) run.notes.push_back("the digest is incomplete: " + found.why_incomplete);
  if (found.complete && !noted.hex.empty() && noted.hex != found.hex) {
    run.banners.push_back("The records do not match the digest that was noted with them (" + noted.hex + ").");
  }
}

void say_damage(const McapReader& reader, RunData& run) {
  if (reader.ending() == Ending::cut) {
    run.banners.emplace_back(
        "This journal was cut: its run was killed, or the file was not copied whole. "
        "What could be read is below.");
  }
  std::set<std::string> places;  // each pass over the file may meet the same one
  for (const Damage& damage : reader.damage()) places.insert(to_string(damage));
  std::size_t told = 0;
  for (const std::string& place : places) {
    if (++told <= 5) run.banners.push_back("Damage: " + place);
  }
  if (told > 5) run.banners.push_back("… and " + std::to_string(told - 5) + " more damaged places.");
  if (!run.ending) run.banners.emplace_back("The run left no figures of its end: no verdict can be given.");
}

/// In callback mode computing costs no simulated time, but it was done: who computed longer than the world lasted was
/// that far ahead of it, whatever the ledger of simulated progress says.
void charge_free_computing(RunData& run) {
  if (run.mode != "callback" || !run.ending) return;
  for (const ProgramTrack& track : run.tracks) {
    const double ahead = track.charged_s - run.ending->simulated_s;
    if (ahead <= run.ending->drift_max_s) continue;
    run.ending->drift_max_s = ahead;
    run.notes.push_back(track.program + " computed longer than the world lasted: computing is free in callback mode");
  }
}

}  // namespace

std::optional<double> RunData::bound_s() const { return ending ? ending->promised_s : std::nullopt; }

std::uint64_t RunData::missed() const {
  std::uint64_t all = 0;
  if (!ending) return all;
  for (const ProgramReport& program : ending->programs) all += program.missed_deadlines;
  return all;
}

RunData load_run(Disk& disk, const std::string& file) {
  auto opened = McapReader::open(disk, file);
  if (!opened.ok())
    throw InputError({"", 0, 0}, opened.error().what, "a report is made from what `isochron run` leaves");
  McapReader reader = std::move(opened).value();
  RunData run;
  run.file = file;
  take_digest(reader, run);
  Loader(reader, run).load();
  load_vehicles(reader, run);
  load_aircraft(reader, run);
  run.records = reader.statistics().message_count;
  run.last_record_s = static_cast<double>(reader.statistics().end_time) * 1e-9;
  charge_free_computing(run);
  say_damage(reader, run);
  return run;
}

void load_variable(Disk& disk, RunData& run, const std::string& wanted) {
  auto opened = McapReader::open(disk, run.file);
  if (!opened.ok()) throw InputError({"", 0, 0}, opened.error().what, "");
  McapReader reader = std::move(opened).value();
  const Names names = names_of(reader);
  const auto series = read_named(reader, names, wanted);
  if (!series.ok()) {
    throw InputError({"--plot " + wanted, 0, 0}, series.error(),
                     "`isochron journal names " + run.file + "` lists them");
  }
  Variable variable{names.name_of(wanted), {}};
  for (std::size_t i = 0; i < series->times.size(); ++i) {
    if (std::isfinite(series->values[i])) variable.line.push_back({series->times[i].seconds(), series->values[i]});
  }
  run.variables.push_back(std::move(variable));
}

}  // namespace isochron::app
