// `isochron test`: do scenarios, or runs of them, keep to what they expect? For CI.

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "apps/isochron/child_process.hpp"
#include "apps/isochron/command.hpp"
#include "apps/isochron/parallel.hpp"
#include "apps/isochron/terminal.hpp"
#include "apps/isochron/test_result.hpp"
#include "apps/isochron/trust.hpp"
#include "core/foreign_text.hpp"
#include "core/input_error.hpp"
#include "journal/disk.hpp"
#include "run/expectations.hpp"
#include "run/recorded_scenario.hpp"

namespace isochron::app {
namespace {

using Json = nlohmann::ordered_json;
using End = TestCase::End;

struct Flags {
  std::vector<std::string> files, sets;
  std::string junit, folder = "runs/test", expect;
  int jobs = 0, retries = 0;
  bool json = false, trust = false;
};

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// One file, on its way to a result.
struct Job {
  std::string file;
  bool journal = false;  // to be judged; else a scenario to be run
  bool together = true;  // may run while others do
  std::string base;      // its journal and its words, without an ending
  int attempts = 0;
  std::unique_ptr<ChildProcess> child = nullptr;
  std::optional<TestResult> result = std::nullopt;
};

bool is_journal(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  char magic[5] = {};
  stream.read(magic, sizeof magic);
  return std::string_view(magic, sizeof magic) == "\x89MCAP" || file.ends_with(".mcap");
}

/// How the run of a journal ended. One that was stopped is judged as far as it came.
Json report_in(McapReader& journal) {
  const auto text = recorded_scenario::report_of(journal);
  const Json report = text ? Json::parse(*text, nullptr, false) : Json();
  if (!report.is_object()) return {{"end", "failed"}, {"why", "the run was killed before it could end"}};
  const std::string end = report.value("end", "");
  return {{"end", end == "interrupted" ? "finished" : end},
          {"why", report.value("why", "")},
          {"wall_s", report.value("wall_s", 0.0)}};
}

/// What a child does with a journal: its report, with what the expectations come to.
int judge_journal(const std::string& file, const std::string& expect_file) {
  try {
    PosixDisk disk;
    auto opened = McapReader::open(disk, file);
    if (!opened.ok()) throw InputError({"", 0, 0}, opened.error().what, "");
    McapReader journal = std::move(opened).value();
    auto expectations =
        expect_file.empty() ? expectations_of(journal) : expectations_in(content_of(expect_file), expect_file);
    if (expectations.empty()) {
      throw InputError({file, 0, 0}, "its scenario expects nothing", "name one that does with --expect SCENARIO");
    }
    const auto outcomes = expect::judge(journal, std::move(expectations), figures_of(journal));
    Json report = report_in(journal);
    report["journal"] = {{"file", file}};
    report["expectations"] = Json::parse(to_json(outcomes));
    print(json_text(report) + "\n");
    return expect::all_held(outcomes) ? exit_fine : exit_no;
  } catch (const std::exception& error) {
    say(std::string(error.what()) + "\n");
    return exit_bad_input;
  }
}

class Tests {
 public:
  explicit Tests(const Flags& flags) : flags_(flags) {
    std::error_code error;
    std::filesystem::create_directories(flags.folder, error);
    if (error) throw InputError({flags.folder, 0, 0}, "cannot be made: " + error.message(), "choose another with -o");
    std::set<std::string> taken;
    for (const std::string& file : flags.files) add(file, taken);
  }

  /// False: stopped by Ctrl-C.
  bool run() {
    const InterruptGuard guard;
    StatusLine status;
    int told = 0;
    while (!all_done()) {
      if (guard.count() == 0) start_some();
      for (; told < guard.count(); ++told) signal_all(told == 0 ? SIGINT : SIGKILL);
      if (guard.count() > 0 && running() == 0) break;
      status.show(std::to_string(done()) + " of " + std::to_string(jobs_.size()) + " done, " +
                  std::to_string(running()) + " running" + (guard.count() > 0 ? ", stopping" : ""));
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      for (Job& job : jobs_) collect(job, guard.count() > 0, status);
    }
    for (Job& job : jobs_) {
      if (!job.result) settle(job, result_without_run(job.file, End::stopped, "stopped by Ctrl-C"), status);
    }
    return guard.count() == 0;
  }

  [[nodiscard]] std::vector<TestResult> results() const {
    std::vector<TestResult> all;
    for (const Job& job : jobs_) all.push_back(*job.result);
    return all;
  }

 private:
  void add(const std::string& file, std::set<std::string>& taken) {
    Job& job = jobs_.emplace_back();
    job.file = file;
    std::string name = std::filesystem::path(file).stem().string();
    for (int n = 2; !taken.insert(name).second; ++n) {
      name = std::filesystem::path(file).stem().string() + "_" + std::to_string(n);
    }
    job.base = flags_.folder + "/" + name;
    job.journal = is_journal(file);
    if (job.journal) return;
    try {
      std::vector<Override> overrides;
      for (const std::string& set : flags_.sets) overrides.push_back(override_of(set));
      const Scenario scenario = load_scenario(file, overrides);
      demand_trust(scenario, file, flags_.trust);
      job.together = may_be_parallel(scenario);
    } catch (const InputError& error) {
      job.result = result_without_run(file, End::broken, error.what());
      const Place& place = error.mistakes().empty() ? Place{} : error.mistakes()[0].place;
      job.result->cases[0].line = place.line;
      job.result->cases[0].column = place.column;
      job.result->bad_input = true;
      StatusLine none;
      tell(*job.result, none);
    }
  }
  static Override override_of(const std::string& set) {
    const auto equals = set.find('=');
    if (equals == std::string::npos) {
      throw InputError({"--set " + set, 0, 0}, "is not PATH=VALUE", "as in --set time.quantum=250us");
    }
    return {set.substr(0, equals), set.substr(equals + 1)};
  }

  [[nodiscard]] std::size_t running() const {
    return static_cast<std::size_t>(std::ranges::count_if(jobs_, [](const Job& job) { return job.child != nullptr; }));
  }
  [[nodiscard]] std::size_t done() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(jobs_, [](const Job& job) { return job.result.has_value(); }));
  }
  [[nodiscard]] bool all_done() const { return done() == jobs_.size(); }

  void start_some() {
    const std::size_t most =
        flags_.jobs > 0 ? static_cast<std::size_t>(flags_.jobs) : std::max(1U, std::thread::hardware_concurrency());
    for (Job& job : jobs_) {
      if (job.result || job.child || running() >= most) continue;
      const bool alone = std::ranges::any_of(jobs_, [](const Job& other) { return other.child && !other.together; });
      if (alone || (!job.together && running() > 0)) continue;  // measured runs have the machine for themselves
      start(job);
    }
  }

  void start(Job& job) {
    ++job.attempts;
    if (job.journal) {
      job.child =
          std::make_unique<ChildProcess>([&] { return judge_journal(job.file, flags_.expect); }, job.base + ".json");
      return;
    }
    std::vector<std::string> words{ChildProcess::ourselves, "run", job.file, "--json", "--quiet", "--trust"};
    for (const std::string& set : flags_.sets) words.insert(words.end(), {"--set", set});
    words.insert(words.end(), {"--journal", job.base + ".mcap"});
    job.child = std::make_unique<ChildProcess>(words, job.base + ".json", job.base + ".log");
  }

  void signal_all(int which) {
    for (Job& job : jobs_) {
      if (job.child) job.child->signal(which);
    }
  }

  void collect(Job& job, bool stopping, StatusLine& status) {
    if (!job.child || !job.child->ended()) return;
    TestResult result = result_of(job);
    job.child.reset();
    std::error_code ignored;
    std::filesystem::remove(job.base + ".json", ignored);
    if (std::filesystem::file_size(job.base + ".log", ignored) == 0)
      std::filesystem::remove(job.base + ".log", ignored);
    result.attempts = job.attempts;
    if (result.end() != End::passed && stopping) {
      result = result_without_run(job.file, End::stopped, "stopped by Ctrl-C");
    } else if (result.end() != End::passed && !result.bad_input && !job.journal && job.attempts <= flags_.retries) {
      return;  // once more
    }
    settle(job, std::move(result), status);
  }

  TestResult result_of(const Job& job) const {
    const Json report = Json::parse(content_of(job.base + ".json"), nullptr, false);
    if (report.is_object()) return result_of_report(job.file, report);
    std::string words = job.journal ? complaints_of(*job.child) : content_of(job.base + ".log");
    while (!words.empty() && words.back() == '\n') words.pop_back();
    TestResult result = result_without_run(
        job.file, End::broken,
        words.empty() ? job.child->how_it_ended() + " and left no report" : foreign_tail(words, 2000));
    result.bad_input = job.child->code() == exit_bad_input;
    return result;
  }
  static std::string complaints_of(const ChildProcess& child) {
    std::string text(4096, '\0');
    const ssize_t n = ::read(child.complaints(), text.data(), text.size());
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return text;
  }

  void settle(Job& job, TestResult result, StatusLine& status) {
    job.result = std::move(result);
    tell(*job.result, status);
  }
  void tell(const TestResult& result, StatusLine& status) const {
    status.clear();
    if (std::getenv("GITHUB_ACTIONS") != nullptr) say(annotations_of(result));
    if (!flags_.json) print(lines_of(result));
  }

  const Flags& flags_;
  std::vector<Job> jobs_;
};

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw InputError({path, 0, 0}, "cannot be written", "choose another file with --junit");
}

int test(const Flags& flags) {
  if (flags.jobs < 0) throw InputError({"--jobs", 0, 0}, "must be 1 or more", "");
  if (flags.retries < 0) throw InputError({"--retries", 0, 0}, "must not be negative", "");
  if (!flags.junit.empty()) write_file(flags.junit, "");  // better now than after an hour
  Tests tests(flags);
  const bool complete = tests.run();
  const std::vector<TestResult> results = tests.results();
  if (!flags.junit.empty()) write_file(flags.junit, junit_of(results));
  print(flags.json ? json_text(json_of(results), 2) + "\n" : summary_of(results));
  if (!complete) return exit_interrupted;
  if (std::ranges::any_of(results, &TestResult::bad_input)) return exit_bad_input;
  const bool passed = std::ranges::all_of(results, [](const TestResult& r) { return r.end() == End::passed; });
  return passed ? exit_fine : exit_no;
}

}  // namespace

void add_test(CLI::App& app, Action& action) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand(
      "test", "run scenarios, or judge journals, by what they expect; exit 0 when all hold, 1 when not");
  verb->add_option("FILES", flags->files, "scenarios, which are run, and journals, which are judged")->required();
  verb->add_option("--junit", flags->junit, "write results as JUnit XML, for a CI server")->type_name("FILE");
  verb->add_option("--jobs", flags->jobs,
                   "runs at the same time; as many as there are cores if left out. Measured runs are made alone")
      ->type_name("N");
  verb->add_option("--retries", flags->retries, "rerun what did not pass, up to so many times")
      ->capture_default_str()
      ->type_name("N");
  verb->add_option("--expect", flags->expect, "judge journals by the expectations of this scenario, not by their own")
      ->type_name("SCENARIO");
  verb->add_option("--set", flags->sets, "change a value of all scenarios: --set duration=2s")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  verb->add_option("-o,--output", flags->folder, "folder of the journals")->capture_default_str()->type_name("FOLDER");
  verb->add_flag("--json", flags->json, "one JSON object instead of lines");
  add_trust_flag(*verb, flags->trust);
  verb->footer(
      "A scenario passes when its run finishes and all it expects holds (`expect:`, docs/expectations.md). What never\n"
      "saw a sample does not pass. With GITHUB_ACTIONS set, what fails is annotated in the scenario's file.\n"
      "Ctrl-C ends the runs under way; the results so far are printed and written, and the code is 130.\n"
      "Codes: 0 all passed, 1 something did not, 2 a file is wrong.");
  verb->callback([&action, flags] { action = [flags] { return test(*flags); }; });
}

}  // namespace isochron::app
