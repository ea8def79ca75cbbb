// `isochron report`: some journals in, one page out.

#include <filesystem>

#include "apps/isochron/command.hpp"
#include "apps/isochron/report_page.hpp"
#include "apps/isochron/report_scatter.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/input_error.hpp"
#include "core/time_text.hpp"
#include "journal/disk.hpp"

namespace isochron::app {
namespace {

struct ReportOptions {
  std::vector<std::string> journals;
  std::string output = "report.html";
  std::string from, to;
  bool scatter = false;
  std::string signal;
  std::vector<std::string> plots;
};

constexpr std::size_t most_cards = 12;  // more runs than that are shown together

double window_edge(const std::string& text, const char* flag, double otherwise) {
  if (text.empty()) return otherwise;
  const auto ns = parse_ns(text);
  if (!ns.ok()) throw InputError({flag, 0, 0}, ns.error());
  return static_cast<double>(*ns) * 1e-9;
}

/// A slip of the hand (`-o run.mcap`) must not cost the run.
void refuse_overwriting(const ReportOptions& options) {
  for (const std::string& journal : options.journals) {
    std::error_code error;
    if (std::filesystem::equivalent(journal, options.output, error)) {
      throw InputError({options.output, 0, 0}, "is one of the journals and would be overwritten",
                       "choose another file with --output");
    }
  }
}

void write_page(Disk& disk, const std::string& file, const std::string& page) {
  auto made = disk.create(file);
  if (!made.ok()) throw InputError({"", 0, 0}, made.error().what, "choose another file with --output");
  const auto written = append_all(**made, std::as_bytes(std::span(page)));
  if (!written.ok()) throw InputError({"", 0, 0}, written.error().what, "choose another file with --output");
}

/// Hours of data take seconds to read: says how far it is.
std::vector<RunData> load_runs(Disk& disk, const ReportOptions& options) {
  StatusLine line;
  std::vector<RunData> runs;
  for (const std::string& journal : options.journals) {
    const std::string which = std::to_string(runs.size() + 1) + " of " + std::to_string(options.journals.size());
    line.show("reading " + journal + " (" + which + ")");
    runs.push_back(load_run(disk, journal));
    for (const std::string& variable : options.plots) {
      line.show("reading " + variable + " of " + journal + " (" + which + ")");
      load_variable(disk, runs.back(), variable);
    }
  }
  return runs;
}

int report(const ReportOptions& options) {
  const ScheduleWindow defaults;
  const ScheduleWindow window{window_edge(options.from, "--from", defaults.from_s),
                              window_edge(options.to, "--to", defaults.to_s)};
  refuse_overwriting(options);
  PosixDisk disk;
  const std::vector<RunData> runs = load_runs(disk, options);
  const bool together = options.scatter || runs.size() > most_cards;
  const std::string page = together ? scatter_page(disk, runs, options.signal)
                                    : report_page(runs, window, scatter_section(disk, runs, options.signal));
  write_page(disk, options.output, page);
  for (const RunGroup& group : groups_of(runs)) {
    if (group.runs.size() < 2) continue;
    say(group.name + ": " + std::to_string(group.runs.size()) + " runs, " + std::to_string(group.different(runs)) +
        " different\n");
  }
  for (const RunData& run : runs) {
    for (const std::string& banner : run.banners) say(yellow("note: ") + run.file + ": " + banner + "\n");
  }
  print(options.output + "\n");
  return exit_fine;
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* verb =
      app.add_subcommand("report", "one HTML page of one or more runs: verdicts, drift, distances, schedule");
  verb->add_option("JOURNAL", options->journals, "what `isochron run` left; several are compared")->required();
  verb->add_option("-o,--output", options->output, "where the page goes; report.html if left out");
  verb->add_option("--plot", options->plots,
                   "any number, over time and as a histogram: prey.position.x; `journal names` lists them")
      ->type_name("NAME")
      ->allow_extra_args(false);
  verb->add_option("--from", options->from, "show the schedule from here, such as 1.5s");
  verb->add_option("--to", options->to, "show the schedule up to here");
  verb->add_flag("--scatter", options->scatter,
                 "many runs of flows together: how many differ, and by how much; always so for more than 12");
  verb->add_option("--signal", options->signal, "what to show of them; the number that differs most if left out")
      ->type_name("NAME");
  verb->callback([&action, options] { action = [options] { return report(*options); }; });
}

}  // namespace isochron::app
