#include "apps/isochron/run_strict.hpp"

#include <filesystem>

#include "apps/isochron/run_watched.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/input_error.hpp"
#include "journal/diff.hpp"
#include "journal/disk.hpp"

namespace isochron::app {
namespace {

/// Not shared by any byte, and no number that a node would set.
constexpr unsigned char poisons[] = {0xA5, 0x5B};
constexpr const char* capacities[] = {"1", "3"};

/// The journal of the second run, gone with this object.
struct SecondJournal {
  explicit SecondJournal(const std::string& first)
      : path(std::filesystem::path(first).replace_extension(".strict.mcap").string()) {}
  ~SecondJournal() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  std::string path;
};

RunReport run_once(const RunFlags& flags, std::vector<Override> overrides, int which, const std::string& journal) {
  overrides.push_back({"flows.capacity", capacities[which]});
  const Scenario scenario = load_scenario(flags.file, overrides);
  if (!runs_as_flows(scenario)) {
    throw InputError({flags.file, 0, 0}, "--strict is for scenarios that run as flows",
                     "with `time: {mode: repeatable}` and `nodes` or `flows`");
  }
  RunOptions options;
  options.journal = journal;
  options.poison = poisons[which];
  return run_watched(scenario, std::move(options), !flags.json && !flags.quiet);
}

std::string where_they_part(const std::string& first, const std::string& second) {
  PosixDisk disk;
  auto a = McapReader::open(disk, first);
  auto b = McapReader::open(disk, second);
  if (!a || !b) return "";
  const Comparison comparison = compare(*a, *b);
  return comparison.first ? to_string(*comparison.first) : "";
}

}  // namespace

int run_strict(const RunFlags& flags, const std::vector<Override>& overrides) {
  const RunReport first = run_once(flags, overrides, 0, flags.journal);
  if (first.end != RunReport::End::finished) {
    print(first.why + "\n");
    return exit_code(first);
  }
  const SecondJournal journal(first.journal);
  const RunReport second = run_once(flags, overrides, 1, journal.path);
  if (second.end != RunReport::End::finished) {
    print(second.why + "\n");
    return exit_code(second);
  }
  if (first.record.digest.hex == second.record.digest.hex) {
    print("strict: " + green("fine") + ", two runs with other buffers and other memory have one digest\ndigest " +
          bold(first.record.digest.hex) + "\njournal " + first.journal + "\n");
    return exit_fine;
  }
  print("strict: " + red("different") +
        ": a node leaves a field of a message unset, or its result depends on the size of " + "buffers\n" +
        where_they_part(first.journal, journal.path) + "\n");
  return exit_no;
}

}  // namespace isochron::app
