#include "apps/isochron/branches.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/isochron/child_process.hpp"
#include "apps/isochron/portable_math.hpp"
#include "apps/isochron/run_watched.hpp"
#include "apps/isochron/terminal.hpp"
#include "apps/isochron/trust.hpp"
#include "core/time_text.hpp"
#include "journal/diff.hpp"
#include "journal/digest.hpp"
#include "journal/disk.hpp"
#include "run/recorded_scenario.hpp"
#include "run/wall_clock.hpp"
#include "scenario/run_changes.hpp"
#include "scenario/timed_faults.hpp"

namespace isochron::app {
namespace {

using Json = nlohmann::ordered_json;

/// A disk whose one file can be taken over by a copy of this process: what was written is copied, and what comes goes
/// into the copy.
class BranchingDisk final : public Disk {
 public:
  Result<std::unique_ptr<File>, DiskError> create(const std::string& path) override {
    auto made = disk_.create(path);
    if (!made) return fail(made.error());
    auto file = std::make_unique<BranchingFile>(std::move(*made));
    newest_ = file.get();
    return std::unique_ptr<File>(std::move(file));
  }
  Result<std::unique_ptr<File>, DiskError> open(const std::string& path) override { return disk_.open(path); }
  Result<Done, DiskError> rename(const std::string& from, const std::string& to) override {
    return disk_.rename(from, to);
  }
  Result<Done, DiskError> remove(const std::string& path) override { return disk_.remove(path); }

  /// From now on the file that was created last is `path`.
  Result<Done, DiskError> go_on_in(const std::string& path) {
    auto made = disk_.create(path);
    if (!made) return fail(made.error());
    return newest_->become(std::move(*made));
  }

 private:
  class BranchingFile final : public File {
   public:
    explicit BranchingFile(std::unique_ptr<File> file) : file_(std::move(file)) {}
    Result<std::size_t, DiskError> append(std::span<const std::byte> bytes) override { return file_->append(bytes); }
    Result<std::size_t, DiskError> read_at(std::uint64_t offset, std::span<std::byte> into) override {
      return file_->read_at(offset, into);
    }
    Result<std::uint64_t, DiskError> size() override { return file_->size(); }
    Result<Done, DiskError> sync() override { return file_->sync(); }

    Result<Done, DiskError> become(std::unique_ptr<File> copy) {
      std::vector<std::byte> piece(1U << 20U);
      for (std::uint64_t at = 0;;) {
        const auto got = file_->read_at(at, piece);
        if (!got) return fail(got.error());
        if (*got == 0) break;
        if (const auto put = append_all(*copy, std::span(piece).first(*got)); !put) return fail(put.error());
        at += *got;
      }
      file_ = std::move(copy);
      return done();
    }

   private:
    std::unique_ptr<File> file_;
  };
  PosixDisk disk_;
  BranchingFile* newest_ = nullptr;
};

McapReader open_journal(Disk& disk, const std::string& file) {
  auto reader = McapReader::open(disk, file);
  if (!reader.ok()) throw InputError({"", 0, 0}, reader.error().what, "");
  return std::move(reader).value();
}

[[noreturn]] void refuse(const std::string& change, const std::string& what, const std::string& hint) {
  throw InputError({change, 0, 0}, what, hint);
}

/// What a branch does at `at`, as marks.
std::vector<Mark> marks_for(const Branch& branch, const Scenario& scenario, SimTime at) {
  std::vector<Mark> marks;
  for (const std::string& change : branch.changes) {
    if (!change.starts_with('{')) {
      const auto set = override_of(change);
      if (!set) refuse(change, "is neither KEY=VALUE nor {push: BODY, …}", "as in world.wind.velocity=[5, 0, 0]");
      if (const auto good = check_change(scenario, *set); !good.ok()) refuse("--set " + change, good.error(), "");
      marks.push_back({.at = at, .what = "change", .about = change});
      continue;
    }
    const std::string entry = "[{at: " + format_ns(at.ns()) + ", " + change.substr(1) + "]";
    const Scenario broken = read_scenario(scenario.text, scenario.file, scenario.folder, {{"faults", entry}});
    check_scenario(broken);
    for (Mark& mark : timed_marks(broken)) marks.push_back(std::move(mark));
  }
  return marks;
}

/// Why one process cannot hold it all; "" = it can.
std::string why_not_shared(const Scenario& scenario) {
  if (scenario.agents) return "clients share its world";
  if (runs_as_flows(scenario)) return "its world is a node of flows";
  if (scenario.ros || scenario.ros2) return "nodes of ROS are outside of it";
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) {
      if (!program.run.empty()) return robot + "/" + name + " is a process of its own";
    }
  }
  return "";
}

std::size_t threads_here() {
  std::size_t count = 0;
  std::error_code none;
  for (auto it = std::filesystem::directory_iterator("/proc/self/task", none); it != decltype(it)(); ++it) ++count;
  return count;
}

std::string text_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class BranchRunner {
 public:
  BranchRunner(const BranchPlan& plan, const std::vector<Branch>& branches)
      : plan_(plan), branches_(branches), recorded_(open_journal(disk_, plan.journal)) {
    std::vector<Override> overrides;
    if (plan.until) overrides.push_back({"duration", format_ns(plan.until->ns())});
    scenario_ = scenario_to_branch(recorded_, plan.folder, overrides);
    demand_trust(scenario_, recorded_, plan.trust);
    settle_math(scenario_);
    check();
    for (const Branch& branch : branches) {
      marks_.push_back(marks_for(branch, scenario_, plan.at));
      files_.push_back(plan.output + "/" + branch.name);
    }
    recorded_marks_ = marks_of(recorded_);
    std::filesystem::create_directories(plan.output);
  }

  BranchRun run() {
    BranchRun run;
    run.why_alone = why_not_shared(scenario_);
    run.shared = run.why_alone.empty() && share(run);
    if (!run.shared && run.not_same.empty()) run_each(run);
    if (run.not_same.empty()) gather(run);
    return run;
  }

 private:
  void check() const {
    if (plan_.at <= SimTime::zero()) refuse("--at " + to_string(plan_.at), "must be positive", "as in --at 12.3s");
    if (plan_.at.since_zero() >= scenario_.duration) {
      refuse("--at " + to_string(plan_.at), "is not before the end of the run, " + to_string(scenario_.duration),
             "--until makes it longer");
    }
  }

  RunOptions options(const std::string& base) const {
    RunOptions options;
    options.journal = base + ".mcap";
    options.machine = machine_;
    options.marks = recorded_marks_;
    return options;
  }

  /// "" = all that the run has recorded so far begins the record.
  std::string check_beginning(Journal& journal) {
    const JournalSummary so_far = journal.rest();
    std::map<std::string, std::uint64_t> counts;
    for (const ChannelSummary& channel : so_far.channels) {
      if (channel.messages > 0) counts[channel.topic] += channel.messages;
    }
    const Digest then = digest_of_beginning(recorded_, counts);
    if (then.hex == so_far.digest.hex && so_far.digest.complete) return "";
    return "the replay up to " + to_string(plan_.at) + " is not what was recorded (" + so_far.digest.hex +
           " instead of " + then.hex + "); `isochron replay` names the first record that differs";
  }

  static int leave_report(const RunReport& report, const std::string& base) {
    std::ofstream file(base + ".json", std::ios::binary);
    file << to_json(report);
    return file.flush() ? 0 : 1;
  }

  /// One replay, forked at t. False: it turned out that it cannot be.
  bool share(BranchRun& run) {
    WallClock clock;
    BranchingDisk disk;
    RunWatch watch;
    std::optional<std::size_t> mine;  // in a branch: which
    bool cannot = false;
    const WallTime start = clock.now();
    watch.control().when_reached(plan_.at, [&](Journal& journal) {
      run.not_same = check_beginning(journal);
      run.way = clock.now() - start;
      cannot = threads_here() > 1;
      const WallTime there = clock.now();
      std::size_t running = 0;
      for (std::size_t i = 0; i < branches_.size() && run.not_same.empty() && !cannot; ++i) {
        if (running >= plan_.jobs && ::wait(nullptr) > 0) --running;
        const pid_t child = fork();
        if (child == 0) {
          mine = i;
          if (const auto moved = disk.go_on_in(files_[i] + ".mcap"); !moved.ok()) _exit(3);
          for (const Mark& mark : marks_[i]) watch.control().ask(mark);
          return journal.go_on();
        }
        if (child < 0) break;
        ++running;
        if (i < plan_.jobs) run.began_after = clock.now() - there;
      }
      watch.stop();
      journal.go_on();
      while (::wait(nullptr) > 0 || errno == EINTR) {
      }
    });
    const std::string trunk = plan_.output + "/.way";
    const RunReport report = run_scenario(scenario_, options(trunk), clock, disk, watch);
    if (mine) _exit(leave_report(report, files_[*mine]));
    std::filesystem::remove(trunk + ".mcap");
    if (report.end == RunReport::End::failed) {
      run.not_same = "the replay failed before " + to_string(plan_.at) + ": " + report.why;
    }
    if (cannot) run.why_alone = "it has threads";
    return !cannot;
  }

  int run_alone(std::size_t i) {
    WallClock clock;
    PosixDisk disk;
    RunWatch watch;
    std::string not_same;
    RunOptions how = options(files_[i]);
    how.marks.insert(how.marks.end(), marks_[i].begin(), marks_[i].end());
    watch.control().when_reached(plan_.at, [&](Journal& journal) {
      not_same = check_beginning(journal);
      journal.go_on();
      if (!not_same.empty()) watch.stop();
    });
    const RunReport report = run_scenario(scenario_, how, clock, disk, watch);
    if (!not_same.empty()) {
      say(not_same + "\n");
      return 1;
    }
    return leave_report(report, files_[i]);
  }

  void run_each(BranchRun&) {
    std::vector<std::unique_ptr<ChildProcess>> running;
    for (std::size_t i = 0; i < branches_.size(); ++i) {
      if (running.size() == plan_.jobs) {
        running.front()->wait();
        running.erase(running.begin());
      }
      const auto work = [this, i] {
        try {
          return run_alone(i);
        } catch (const std::exception& error) {
          std::fprintf(stdout, "%s\n", error.what());
          return 3;
        }
      };
      running.push_back(std::make_unique<ChildProcess>(work, files_[i] + ".log"));
    }
    for (const auto& child : running) child->wait();
  }

  void gather(BranchRun& run) {
    for (std::size_t i = 0; i < branches_.size(); ++i) {
      BranchResult& result = run.branches.emplace_back();
      result.branch = branches_[i];
      result.journal = files_[i] + ".mcap";
      result.report = text_in(files_[i] + ".json");
      std::filesystem::remove(files_[i] + ".json");
      const std::string words = text_in(files_[i] + ".log");
      std::filesystem::remove(files_[i] + ".log");
      if (result.report.empty()) {
        result.why = words.empty() ? "it left no report" : words;
        continue;
      }
      McapReader branch = open_journal(disk_, result.journal);
      if (!run.shared && digest_until(recorded_, plan_.at).hex != digest_until(branch, plan_.at).hex) {
        run.not_same = "branch " + result.branch.name + " is not the same as the record up to " + to_string(plan_.at);
      }
      if (const auto first = first_difference(recorded_, branch)) {
        result.first_different = first->time;
        result.difference = to_string(*first);
      }
    }
  }

  const BranchPlan& plan_;
  const std::vector<Branch>& branches_;
  PosixDisk disk_;
  McapReader recorded_;
  Scenario scenario_;
  std::vector<Mark> recorded_marks_;
  std::vector<std::vector<Mark>> marks_;  // of each branch
  std::vector<std::string> files_;        // of each branch, without ending
  std::map<std::string, std::string> machine_ = machine_notes();
};

}  // namespace

bool BranchResult::held() const {
  const Json json = Json::parse(report, nullptr, false);
  if (!json.is_object()) return false;
  for (const Json& one : json.value("expectations", Json::array())) {
    if (one.value("verdict", "") != "held") return false;
  }
  return end() == "finished";
}

std::string BranchResult::end() const {
  const Json json = Json::parse(report, nullptr, false);
  return json.is_object() ? json.value("end", "failed") : "failed";
}

BranchRun run_branches(const BranchPlan& plan, const std::vector<Branch>& branches) {
  return BranchRunner(plan, branches).run();
}

Branch branch_from(const std::string& text) {
  Branch branch;
  const std::size_t colon = text.find(':');
  branch.name = text.substr(0, colon);
  const bool good = !branch.name.empty() && branch.name.find_first_of("/ =.{") == std::string::npos;
  if (!good) refuse("--branch " + text, "has no name", "as in --branch 'gust: world.wind.velocity=[5, 0, 0]'");
  std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  for (std::size_t from = 0; from < rest.size();) {
    const std::size_t end = std::min(rest.find(';', from), rest.size());
    std::string change = rest.substr(from, end - from);
    change.erase(0, change.find_first_not_of(' '));
    if (const std::size_t last = change.find_last_not_of(' '); last != std::string::npos) change.erase(last + 1);
    if (!change.empty()) branch.changes.push_back(std::move(change));
    from = end + 1;
  }
  return branch;
}

}  // namespace isochron::app
