#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "apps/isochron/child_process.hpp"
#include "apps/isochron/command.hpp"
#include "apps/isochron/distance.hpp"
#include "apps/isochron/run_watched.hpp"
#include "apps/isochron/sweep.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/foreign_text.hpp"
#include "core/input_error.hpp"
#include "journal/disk.hpp"
#include "run/expectations.hpp"

namespace isochron::app {
namespace {

using Json = nlohmann::ordered_json;
using namespace std::chrono_literals;
constexpr int attempts_max = 3;  // of a point whose worker dies

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Scenario scenario_at(const SweepPlan& plan, const SweepPoint& point) {
  std::vector<Override> overrides;
  for (const std::string& set : plan.sets) {
    const std::size_t equals = set.find('=');
    overrides.push_back({set.substr(0, equals), set.substr(equals + 1)});
  }
  for (const auto& [key, value] : point.settings) overrides.push_back({key, value});
  overrides.push_back({"seed", std::to_string(point.seed)});
  overrides.push_back({"time.cpu_speed", to_string(point.speed)});
  return load_scenario(plan.file, overrides);
}

std::optional<double> mean_distance(const SweepPlan& plan, const std::string& journal) {
  if (plan.bodies.size() < 2) return std::nullopt;
  PosixDisk disk;
  const auto distances = body_distances(disk, journal, plan.bodies[0], plan.bodies[1]);
  if (!distances || distances->empty()) return std::nullopt;
  return spread_of(*distances).mean;
}

SweepResult result_of(const SweepPlan& plan, const SweepPoint& point, const RunReport& report) {
  SweepResult result;
  result.point = point;
  result.end = Json::parse(to_json(report)).value("end", "failed");
  result.why = report.why;
  result.drift_s = report.drift_max.seconds();
  result.wall_s = report.wall.seconds();
  result.digest = report.record.digest.hex;
  result.journal = report.journal;
  for (const ProgramReport& program : report.programs) {
    result.missed += static_cast<double>(program.missed_deadlines);
    result.overruns += static_cast<double>(program.overruns);
  }
  for (const expect::Judgement& outcome : report.expectations) {
    ++result.expected;
    if (outcome.verdict == expect::Verdict::held) {
      ++result.held;
    } else {
      result.not_held += (result.not_held.empty() ? "" : " ") + outcome.name;
    }
  }
  if (!plan.figures.empty()) {
    const expect::Figures figures = figures_of(to_json(report));
    for (const std::string& name : plan.figures) {
      const auto found = figures.find(name);
      result.figures.push_back(found == figures.end() ? std::nullopt : std::optional(found->second.value));
    }
  }
  if (result.done()) result.distance_m = mean_distance(plan, report.journal);
  return result;
}

/// One run, in the process that is there for it alone.
SweepResult make_run(const SweepPlan& plan, const SweepPoint& point, const std::string& base,
                     const std::map<std::string, std::string>& machine) {
  SweepResult failed;
  failed.point = point;
  failed.end = "failed";
  try {
    const RunReport report =
        run_watched(scenario_at(plan, point), {.journal = base + ".mcap", .machine = machine}, false);
    return result_of(plan, point, report);
  } catch (const std::exception& error) {
    failed.why = error.what();
    return failed;
  }
}

void drop_journal(const SweepPlan& plan, SweepResult& result) {
  const bool good = result.done() && result.held == result.expected;
  if (plan.keep == SweepPlan::Keep::all || (plan.keep == SweepPlan::Keep::failed && !good)) return;
  std::error_code ignored;
  std::filesystem::remove(result.journal, ignored);
  result.journal = "";
}

std::string line_of(const SweepPlan& plan, const SweepResult& result) {
  Json json = to_json(result);
  json["fingerprint"] = plan.fingerprint;
  return json_text(json) + "\n";
}

/// What a run that died said last.
SweepResult died(const SweepPoint& point, const std::string& base, const ChildProcess& child) {
  SweepResult result;
  result.point = point;
  result.end = "failed";
  std::string text = content_of(base + ".log");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  result.why = child.how_it_ended() + " and left no report";
  if (!text.empty()) result.why = (text.size() > 500 ? "… " : "") + foreign_tail(text, 500);
  return result;
}

/// Workers on this machine: copies of this process, which has read everything already.
class LocalEngine final : public SweepEngine {
 public:
  explicit LocalEngine(const SweepPlan& plan) : plan_(plan) {
    std::filesystem::create_directories(plan.folder + "/parts");
  }
  [[nodiscard]] std::size_t lanes() const override { return plan_.jobs; }
  [[nodiscard]] std::size_t part_size(std::size_t points) const override {
    return std::clamp<std::size_t>(points / (plan_.jobs * 8), 1, 50);
  }
  bool begin(std::size_t part, const std::vector<SweepPoint>& points) override {
    if (parts_.size() >= plan_.jobs) return false;
    const std::string file = plan_.folder + "/parts/" + std::to_string(part) + ".jsonl";
    std::filesystem::remove(file);
    const auto work = [this, &points, file] { return work_on(plan_, points, plan_.folder, file); };
    parts_.push_back({part, file, 0, std::make_unique<ChildProcess>(work, file + ".log")});
    return true;
  }
  std::vector<std::string> take_lines() override {
    std::vector<std::string> lines;
    for (Part& part : parts_) read(part, lines);
    lines.insert(lines.end(), last_.begin(), last_.end());
    last_.clear();
    return lines;
  }
  std::vector<std::size_t> take_ended() override {
    std::vector<std::size_t> ended;
    std::erase_if(parts_, [&](Part& part) {
      if (!part.process->ended()) return false;
      read(part, last_);
      ended.push_back(part.number);
      std::filesystem::remove(part.file);
      std::filesystem::remove(part.file + ".log");
      return true;
    });
    return ended;
  }
  void stop(bool at_once) override {
    for (const Part& part : parts_) part.process->signal(at_once ? SIGKILL : SIGINT);
  }

 private:
  struct Part {
    std::size_t number;
    std::string file;
    std::size_t read;
    std::unique_ptr<ChildProcess> process;
  };
  /// Whole lines only.
  static void read(Part& part, std::vector<std::string>& lines) {
    std::ifstream file(part.file, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(part.read));
    std::string line;
    while (std::getline(file, line) && !file.eof()) {
      part.read += line.size() + 1;
      lines.push_back(line);
    }
  }
  const SweepPlan& plan_;
  std::vector<Part> parts_;
  std::vector<std::string> last_;  // of parts that have ended
};

/// Hands out parts, takes in results, and hands out again what was lost.
class Collector {
 public:
  Collector(const SweepPlan& plan, const std::vector<SweepPoint>& missing, std::size_t all, SweepLog& log,
            SweepEngine& engine)
      : plan_(plan), all_(all), log_(log), engine_(engine), waiting_(missing.begin(), missing.end()) {
    for (const SweepPoint& point : missing) attempts_[name_of(point)] = 0;
    done_ = all - missing.size();
  }

  SweepEnd run() {
    const InterruptGuard guard;
    StatusLine status;
    const auto start = std::chrono::steady_clock::now();
    int told = 0;
    while (!waiting_.empty() || !parts_.empty()) {
      if ((guard.count() > 0 || enough_) && parts_.empty()) break;
      if (guard.count() == 0 && !enough_) hand_out();
      for (; told < guard.count(); ++told) engine_.stop(told > 0);
      const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      char text[120];
      std::snprintf(text, sizeof text, "%zu of %zu runs done, %zu parts under way, %.0f s%s", done_, all_,
                    parts_.size(), wall, guard.count() > 0 ? ", stopping" : "");
      status.show(text);
      std::this_thread::sleep_for(10ms);
      const std::vector<std::size_t> ended = engine_.take_ended();
      take_in();
      for (const std::size_t part : ended) close(part, guard.count() > 0 || enough_);
      if (!enough_ && is_enough()) {
        enough_ = true;
        engine_.stop(false);
      }
    }
    if (guard.count() > 0) return SweepEnd::interrupted;
    return enough_ && done_ < all_ ? SweepEnd::enough : SweepEnd::done;
  }

 private:
  void hand_out() {
    const std::size_t size = engine_.part_size(waiting_.size());
    bool given = false;
    while (!waiting_.empty() && parts_.size() < engine_.lanes()) {
      std::vector<SweepPoint> points;
      for (std::size_t i = 0; i < size && !waiting_.empty(); ++i) {
        points.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
      }
      const std::size_t number = next_++;
      const auto& kept = parts_.emplace(number, std::move(points)).first->second;
      if (!engine_.begin(number, kept)) {
        waiting_.insert(waiting_.begin(), kept.begin(), kept.end());
        parts_.erase(number);
        break;
      }
      given = true;
    }
    if (given) engine_.all_given();
  }

  void take_in() {
    std::vector<SweepResult> results;
    for (const std::string& line : engine_.take_lines()) {
      try {
        const Json json = Json::parse(line);
        if (json.value("fingerprint", "") != plan_.fingerprint) continue;
        SweepResult result = result_from(json);
        if (!told_.insert(name_of(result.point)).second) continue;
        if (const SweepResult* known = log_.find(result.point); known != nullptr && known->done()) continue;
        if (!result.done()) {
          const std::string what = to_string(result.point.settings);
          say((what.empty() ? "speed " + to_string(result.point.speed) : what) + ", seed " +
              std::to_string(result.point.seed) + " failed: " + result.why + "\n");
        }
        if (result.held < result.expected) ++not_held_;
        ++done_;
        ++judged_;
        results.push_back(std::move(result));
      } catch (const std::exception&) {  // a word that is not ours: what it stands for is missed and done again
      }
    }
    log_.add(results);
  }

  /// What it did not bring is done again, by somebody else.
  void close(std::size_t part, bool stopping) {
    const auto found = parts_.find(part);
    if (found == parts_.end()) return;
    std::vector<SweepResult> lost;
    std::size_t again = 0;
    for (const SweepPoint& point : found->second) {
      if (stopping || told_.contains(name_of(point))) continue;
      if (++attempts_[name_of(point)] >= attempts_max) {
        SweepResult result;
        result.point = point;
        result.end = "failed";
        result.why = "its worker died " + std::to_string(attempts_max) + " times";
        lost.push_back(std::move(result));
        continue;
      }
      waiting_.push_back(point);
      ++again;
    }
    if (again > 0) say("a worker was lost; " + std::to_string(again) + " of its runs are done again\n");
    done_ += lost.size();
    log_.add(lost);
    parts_.erase(found);
  }

  [[nodiscard]] bool is_enough() const {
    if (plan_.stop_after > 0 && not_held_ >= plan_.stop_after) return true;
    if (plan_.stop_within <= 0 || judged_ < 2) return false;
    const Share95 held = share_of(judged_ - not_held_, judged_);
    return (held.high - held.low) / 2 <= plan_.stop_within;
  }

  const SweepPlan& plan_;
  std::size_t all_;
  SweepLog& log_;
  SweepEngine& engine_;
  std::deque<SweepPoint> waiting_;
  std::map<std::size_t, std::vector<SweepPoint>> parts_;
  std::map<std::string, int> attempts_;
  std::set<std::string> told_;  // points of which a line came
  std::size_t next_ = 0, done_ = 0, judged_ = 0, not_held_ = 0;
  bool enough_ = false;
};

}  // namespace

int work_on(const SweepPlan& plan, const std::vector<SweepPoint>& points, const std::string& folder,
            const std::string& results) {
  const InterruptGuard guard;
  std::filesystem::create_directories(folder);
  const int out = results == "-" ? STDOUT_FILENO
                  : results.starts_with("fd:")
                      ? std::stoi(results.substr(3))
                      : ::open(results.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (out < 0) throw InputError({results, 0, 0}, std::string("cannot be written: ") + std::strerror(errno), "");
  const std::map<std::string, std::string> machine = machine_notes();
  const auto tell = [&](SweepResult result) {
    drop_journal(plan, result);
    if (!result.journal.empty()) result.journal = plan.where + result.journal;
    const std::string line = line_of(plan, result);
    return write(out, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  };
  for (const SweepPoint& point : points) {
    if (guard.count() > 0) return exit_interrupted;
    const std::string base = folder + "/" + name_of(point);
    bool stopped = false, told = true;
    ChildProcess child(
        [&] {
          dup2(STDOUT_FILENO, STDERR_FILENO);
          const auto start = std::chrono::steady_clock::now();
          SweepResult result = make_run(plan, point, base, machine);
          result.spent_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
          if (result.end == "interrupted") return exit_interrupted;
          return tell(result) ? exit_fine : exit_failed;
        },
        base + ".log");
    for (int sent = 0; !child.ended();) {
      for (; sent < guard.count(); ++sent) child.signal(sent == 0 ? SIGINT : SIGKILL);
      std::this_thread::sleep_for(500us);
    }
    stopped = guard.count() > 0 || child.code() == exit_interrupted;
    if (!stopped && !child.well()) told = child.code() != exit_failed && tell(died(point, base, child));
    if (std::error_code none; std::filesystem::file_size(base + ".log", none) == 0 || child.well()) {
      std::filesystem::remove(base + ".log", none);
    }
    if (!told) {
      say(results + " cannot be written: " + std::strerror(errno) + "\n");
      return exit_failed;
    }
    if (stopped) return exit_interrupted;
  }
  return exit_fine;
}

std::unique_ptr<SweepEngine> local_engine(const SweepPlan& plan) { return std::make_unique<LocalEngine>(plan); }

SweepEnd run_sweep(const SweepPlan& plan, const std::vector<SweepPoint>& missing, std::size_t all, SweepLog& log,
                   SweepEngine& engine) {
  return Collector(plan, missing, all, log, engine).run();
}

}  // namespace isochron::app
