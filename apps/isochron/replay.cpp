// `isochron replay`: runs what a journal recorded once more and proves that the same happened.

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/isochron/command.hpp"
#include "apps/isochron/portable_math.hpp"
#include "apps/isochron/run_watched.hpp"
#include "apps/isochron/terminal.hpp"
#include "apps/isochron/trust.hpp"
#include "core/foreign_text.hpp"
#include "core/input_error.hpp"
#include "core/time_text.hpp"
#include "journal/diff.hpp"
#include "journal/digest.hpp"
#include "journal/disk.hpp"
#include "run/recorded_scenario.hpp"

namespace isochron::app {
namespace {

struct ReplayFlags {
  std::string recorded, folder, journal;
  bool json = false;
  bool quiet = false;
  bool trust = false;
};

McapReader open(Disk& disk, const std::string& file) {
  auto reader = McapReader::open(disk, file);
  if (!reader.ok()) throw InputError({"", 0, 0}, reader.error().what, "");
  return std::move(reader).value();
}

/// Where the second run's record goes: as asked, or next to nothing that is there already.
std::string journal_for(const ReplayFlags& flags) {
  const std::string file =
      !flags.journal.empty() ? flags.journal : std::filesystem::path(flags.recorded).stem().string() + ".replay.mcap";
  std::error_code ignored;
  if (std::filesystem::equivalent(file, flags.recorded, ignored))
    throw InputError({file, 0, 0}, "is the journal to be replayed and would be overwritten", "choose another file");
  return file;
}

/// A folder that programs do not look into. The second record grows there: in the folder of the first it would be a
/// file that was not there then, and a program that lists its folder, as Python does for every import, would do
/// something else.
class Aside {
 public:
  Aside() {
    std::string made = (std::filesystem::temp_directory_path() / "isochron-replay-XXXXXX").string();
    if (mkdtemp(made.data()) == nullptr)
      throw InputError({made, 0, 0}, "cannot be made: " + std::string(std::strerror(errno)), "set TMPDIR");
    folder_ = made;
  }
  ~Aside() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  [[nodiscard]] std::string file() const { return (folder_ / "replay.mcap").string(); }
  /// Puts it where it belongs.
  void keep_as(const std::string& name) const {
    std::error_code other_disk;
    std::filesystem::rename(file(), name, other_disk);
    if (!other_disk) return;
    std::error_code error;
    std::filesystem::copy_file(file(), name, std::filesystem::copy_options::overwrite_existing, error);
    if (error) throw InputError({name, 0, 0}, "cannot be written: " + error.message(), "choose another file");
  }

 private:
  std::filesystem::path folder_;
};

struct Proof {
  std::string recorded, replayed;  // digests
  std::string journal;             // of the second run; "" when it was not kept
  RunReport report;
  Comparison comparison;
  [[nodiscard]] bool same() const { return recorded == replayed && !comparison.first; }
};

void print_json(const Proof& proof) {
  nlohmann::ordered_json out{{"same", proof.same()},
                             {"recorded_digest", proof.recorded},
                             {"replayed_digest", proof.replayed},
                             {"equal_records", proof.comparison.equal_records},
                             {"simulated_s", proof.report.simulated.seconds()},
                             {"wall_s", proof.report.wall.seconds()},
                             {"journal", proof.journal},
                             {"notes", proof.comparison.notes}};
  if (proof.comparison.first) out["first_difference"] = to_string(*proof.comparison.first);
  print(json_text(out, 2) + "\n");
}

void print_text(const Proof& proof) {
  std::string text = proof.same()
                         ? green("the same") + ": " + std::to_string(proof.comparison.equal_records) +
                               " records, digest " + bold(proof.replayed) + "\n"
                         : red("not the same") + ": recorded " + proof.recorded + ", replayed " + proof.replayed + "\n";
  if (proof.comparison.first) text += to_string(*proof.comparison.first) + "\n";
  text += to_string(proof.report.simulated) + " replayed in " + format_ns_short(proof.report.wall.ns()) + "\n";
  for (const std::string& note : proof.comparison.notes) text += yellow("note: ") + note + "\n";
  if (!proof.same()) {
    for (const std::string& note : proof.report.notes) text += yellow("note: ") + note + "\n";
  }
  if (!proof.journal.empty()) text += "journal " + proof.journal + "\n";
  print(text);
}

int replay(const ReplayFlags& flags) {
  PosixDisk disk;
  McapReader recorded = open(disk, flags.recorded);
  const Digest before = digest_of(recorded);
  const Scenario scenario = scenario_to_replay(recorded, flags.folder);
  demand_trust(scenario, recorded, flags.trust);
  settle_math(scenario);
  const std::string file = journal_for(flags);
  const Aside aside;
  Proof proof;
  proof.report =
      run_watched(scenario, {.journal = aside.file(), .marks = marks_of(recorded)}, !flags.json && !flags.quiet);
  if (proof.report.end == RunReport::End::interrupted) return aside.keep_as(file), exit_interrupted;
  McapReader replayed = open(disk, aside.file());
  proof.recorded = before.hex;
  proof.replayed = proof.report.record.digest.hex;
  const bool ragged = ends_ragged(recorded, scenario);
  const std::map<std::string, std::uint64_t> counts = ragged ? counts_of(recorded) : decltype(counts_of(recorded)){};
  if (ragged) proof.replayed = digest_of_beginning(replayed, counts).hex;
  if (ragged && proof.replayed == proof.recorded) {
    for (const auto& [topic, count] : counts) proof.comparison.equal_records += count;
    proof.comparison.notes.push_back(
        "the run was stopped while its nodes were at different times; the replay went a little farther, and its "
        "records begin with all of these");
  } else {
    proof.comparison = compare(recorded, replayed);
  }
  if (!before.complete) proof.comparison.notes.push_back("the recorded digest is incomplete: " + before.why_incomplete);
  if (!proof.same() || !flags.journal.empty()) {  // else it says nothing that the recorded one does not
    aside.keep_as(file);
    proof.journal = file;
  }
  flags.json ? print_json(proof) : print_text(proof);
  return proof.same() ? exit_fine : exit_no;
}

}  // namespace

void add_replay(CLI::App& app, Action& action) {
  auto flags = std::make_shared<ReplayFlags>();
  CLI::App* verb = app.add_subcommand(
      "replay", "run a journal's scenario again with the computing times it recorded, and prove the same digest");
  verb->add_option("JOURNAL", flags->recorded, "what `isochron run` left")->required();
  verb->add_option("--folder", flags->folder, "where the scenario's files are now, if they were moved")
      ->type_name("FOLDER");
  verb->add_option("--journal", flags->journal, "keep the second record here; left out, it is kept if it differs")
      ->type_name("FILE");
  verb->add_flag("--json", flags->json, "one JSON object instead of text");
  verb->add_flag("--quiet", flags->quiet, "show no progress");
  add_trust_flag(*verb, flags->trust);
  verb->callback([&action, flags] { action = [flags] { return replay(*flags); }; });
}

}  // namespace isochron::app
