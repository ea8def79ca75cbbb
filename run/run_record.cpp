#include "run/run_record.hpp"

#include <algorithm>
#include <filesystem>

#include "core/contained.hpp"
#include "core/time_text.hpp"
#include "journal/file_hashes.hpp"
#include "journal/journal_metadata.hpp"
#include "run/expectations.hpp"
#include "run/recorded_scenario.hpp"
#include "scenario/scenario_files.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;

std::string journal_file(const Scenario& scenario, const RunOptions& options) {
  if (!options.journal.empty()) return options.journal;
  if (!options.node.empty()) return scenario.name + "." + options.node + ".mcap";
  return scenario.journal.file.empty() ? scenario.name + ".mcap" : scenario.journal.file;
}

/// Runs that must repeat wait for the disk rather than lose a record; runs on the wall clock must not wait.
WhenFull when_full(const Scenario& scenario) {
  if (scenario.journal.when_full) return *scenario.journal.when_full;
  return scenario.time.mode == Mode::realtime || has_boards(scenario) ? WhenFull::drop : WhenFull::block;
}

/// Records between two folds, for each participant: what fits into 64 MiB in all.
std::size_t ledger_room(std::size_t participants) {
  return std::clamp<std::size_t>((4U << 20U) / std::max<std::size_t>(participants, 1), 1024, 1U << 18U);
}

/// A part of a run cannot be judged: what it does not record would count as unseen.
std::unique_ptr<expect::Judge> make_judge(const Scenario& scenario, const RunOptions& options) {
  if (scenario.expect.empty() || !options.node.empty() || options.instead) return nullptr;
  return std::make_unique<expect::Judge>(
      expectations_of(scenario),
      expect::JudgeOptions{options.tap, scenario.on_violation == OnEnd::end, options.on_violation});
}

std::unique_ptr<Journal> open_journal(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk,
                                      JournalTap* tap) {
  JournalOptions journal;
  journal.when_full = when_full(scenario);
  journal.tap = tap;
  if (options.on_journal_failure) {
    journal.on_failure = [stop = options.on_journal_failure](const DiskError&) { stop(); };
  }
  for (const auto& [key, value] : options.machine) journal.about_the_run.emplace(key, value);
  journal.about_the_run.emplace("scenario", scenario.name);
  journal.about_the_run.emplace("seed", std::to_string(scenario.seed));
  journal.about_the_run.emplace("mode", Words<Mode>::list[static_cast<std::size_t>(scenario.time.mode)]);
  const std::string file = journal_file(scenario, options);
  auto opened = Journal::create(disk, clock, file, journal);
  if (!opened.ok())
    throw InputError({file, 0, 0}, "the journal cannot be written: " + opened.error().what,
                     "choose another with --journal");
  return std::move(opened).value();
}

/// What the run is made of, for `diff`. The paths are as the scenario's own folder has them, so that two checkouts of
/// the same files are the same.
void note_parts(const Scenario& scenario, Journal& journal) {
  if (scenario.file.empty()) return;
  std::vector<std::string> paths;
  for (const NeededFile& file : needed_files(scenario, std::vector<std::string>{"world"})) {
    if (!file.secret && !file.path.ends_with(".mcap")) paths.push_back(file.path);
  }
  mcap::TextMap hashes;
  const std::filesystem::path folder = std::filesystem::absolute(scenario.folder);
  for (const auto& [path, hash] : hashes_of_files(paths)) {
    hashes.emplace(std::filesystem::path(path).lexically_relative(folder.lexically_normal()).string(), hash);
  }
  hashes.emplace("the scenario as it was run", hash_of_text(scenario.text));
  journal.note(journal_metadata::files, hashes);
  journal.note(journal_metadata::libraries, builds_of_libraries());
}

}  // namespace

RunRecord::RunRecord(const Scenario& scenario, const RunOptions& options, Clock& clock, Disk& disk,
                     std::vector<std::string> participants)
    : clock_(clock),
      disk_(disk),
      file_(journal_file(scenario, options)),
      judge_(make_judge(scenario, options)),
      journal_(open_journal(scenario, options, clock, disk_, judge_ ? judge_.get() : options.tap)),
      ledger_(participants.size(), ledger_room(participants.size())) {
  ends_at_violation_ = scenario.on_violation == OnEnd::end;
  producer_ = &journal_->producer("run", 32U << 20U);
  drift_channel_ = journal_->channel<DriftRecord>("/isochron/drift", {.in_digest = false});
  const auto bytes = std::as_bytes(std::span(scenario.text));
  journal_->attach("scenario.yaml", "application/yaml", bytes);
  journal_->note(recorded_scenario::record, recorded_scenario::origin_of(scenario));
  note_parts(scenario, *journal_);
  mcap::TextMap names;
  for (std::size_t i = 0; i < participants.size(); ++i) names.emplace(std::to_string(i), participants[i]);
  journal_->note("participants", names);
  start_ = looked_ = clock_.now();
}

RunRecord::~RunRecord() = default;

void RunRecord::look(RunWatch& watch, SimTime now) {
  watch.at(now);
  const WallTime wall = clock_.now();
  if (wall - looked_ < WallSpan(50ms)) return;
  looked_ = wall;
  ledger_.fold([this](SimSpan delta) { drift_.record(delta.ns()); });
  watch.drift(ledger_.max());
}

void RunRecord::set_drift(SimSpan max, SimSpan p99, SimSpan p999, bool exact, std::vector<DriftSeries::Point> series) {
  told_ = Found{max, p99, p999, exact, std::move(series)};
}

RunRecord::Found RunRecord::settle() {
  if (told_) return *told_;
  ledger_.settle([this](SimSpan delta) { drift_.record(delta.ns()); });
  return {ledger_.max(), SimSpan::from_ns(drift_.percentile(99)), SimSpan::from_ns(drift_.percentile(99.9)),
          ledger_.exact(), ledger_.series().points()};
}

void RunRecord::judge(RunReport& report) {
  if (!judge_) return;
  report.expectations = judge_->finish(figures_of(to_json(report)), SimTime::zero() + report.simulated);
  const bool ended = judge_->violated_at() && ends_at_violation_;
  if (ended && report.end == RunReport::End::interrupted) report.end = RunReport::End::violated;
  if (report.end == RunReport::End::violated) report.why = expect::complaint(report.expectations);
}

void RunRecord::finish(RunReport& report) {
  if (report.wall == WallSpan::zero()) report.wall = clock_.now() - start_;
  const Found drift = settle();
  report.drift_max = drift.max;
  report.drift_p99 = drift.p99;
  report.drift_p999 = drift.p999;
  report.drift_exact = drift.exact;
  for (const DriftSeries::Point& point : drift.series) {
    producer_->write(drift_channel_, std::max(point.until, SimTime::zero()),
                     DriftRecord{point.until, point.most.seconds()});
  }
  report.journal = file_;
  if (const std::uint64_t faults = contained_count(); faults > 0) {
    report.notes.push_back(std::to_string(faults) +
                           " times a page or peer sent something that Isochron could not handle; " +
                           "the run went on (see what it printed)");
  }
  // What the journal says of the run is what the command says.
  report.record = journal_->close("report.json", "application/json", [&](const JournalSummary& so_far) {
    report.record = so_far;
    if (so_far.dropped > 0) {
      report.notes.push_back(std::to_string(so_far.dropped) + " records were dropped; the journal is not complete");
    }
    judge(report);
    return to_json(report);
  });
  if (report.record.error && report.end != RunReport::End::failed) {
    report.end = RunReport::End::failed;
    report.why = "the journal could not be written: " + report.record.error->what;
  }
}

Pacer::Pacer(const Pace& pace, Clock& clock, const RunWatch& watch)
    : clock_(clock), watch_(watch), start_(clock.now()) {
  // A pace of 2x passes one wall second for two simulated ones.
  if (pace.factor) rate_.emplace(pace.factor->denominator, pace.factor->numerator);
}

void Pacer::wait_for(SimTime t) {
  if (!rate_) return;
  const WallTime due = start_ + rate_->apply(t.since_zero());
  if (const WallTime now = clock_.now(); now > due + WallSpan(1ms)) {
    latest_ = std::max(latest_, now - due);
    ++times_late_;
    return;
  }
  // In pieces, so that Ctrl-C does not wait for a slow pace.
  while (!watch_.stopping() && clock_.now() < due) clock_.sleep_until(std::min(due, clock_.now() + WallSpan(50ms)));
}

std::string lateness_text(std::uint64_t times, WallSpan most) {
  if (times == 0) return "";
  return "late against the pace " + std::to_string(times) + " times, by " + format_ns_short(most.ns()) + " at most";
}

std::string Pacer::lateness() const { return lateness_text(times_late_, latest_); }

}  // namespace isochron
