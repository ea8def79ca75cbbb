#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "apps/isochron/child_process.hpp"
#include "apps/isochron/distance.hpp"
#include "apps/isochron/sweep.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/foreign_text.hpp"
#include "core/input_error.hpp"
#include "journal/disk.hpp"

namespace isochron::app {
namespace {

using Json = nlohmann::ordered_json;

std::string name_of(const SweepPoint& point) {
  char text[64];
  std::snprintf(text, sizeof text, "speed_%g_seed_%llu", point.speed.value(),
                static_cast<unsigned long long>(point.seed));
  std::string name = text;
  for (const auto& [key, value] : point.settings) name += "_" + key + "_" + value;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-') c = '_';
  }
  if (name.size() <= 120) return name;
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a: file names have an end, settings do not
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  std::snprintf(text, sizeof text, "_%016llx", static_cast<unsigned long long>(hash));
  return name.substr(0, 100) + text;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// One run as a child process; its words go into files, its journal beside them.
class Child {
 public:
  Child(const SweepPlan& plan, const SweepPoint& point)
      : plan_(plan),
        point_(point),
        base_(plan.folder + "/" + name_of(point)),
        process_(command(), base_ + ".json", base_ + ".log") {}

  [[nodiscard]] bool ended() { return process_.ended(); }
  void signal(int which) const { process_.signal(which); }

  /// Requires: ended().
  [[nodiscard]] SweepResult result() const {
    SweepResult result;
    result.point = point_;
    result.journal = base_ + ".mcap";
    const Json report = Json::parse(content_of(base_ + ".json"), nullptr, false);
    if (!report.is_object()) {
      result.end = "failed";
      result.why = words_at_its_end();
      return result;
    }
    result.end = report.value("end", "failed");
    result.why = report.value("why", "");
    result.drift_s = 1e-9 * report.value("drift_max_ns", 0.0);
    result.wall_s = report.value("wall_s", 0.0);
    result.digest = report.value("digest", "");
    for (const Json& program : report.value("programs", Json::array())) {
      result.missed += program.value("missed_deadlines", 0.0);
      result.overruns += program.value("overruns", 0.0);
    }
    for (const Json& outcome : report.value("expectations", Json::array())) {
      ++result.expected;
      if (outcome.value("verdict", "") == "held") {
        ++result.held;
      } else {
        result.not_held += (result.not_held.empty() ? "" : " ") + outcome.value("name", "");
      }
    }
    if (result.done()) result.distance_m = mean_distance();
    return result;
  }

  void tidy() const {
    std::filesystem::remove(base_ + ".json");
    if (std::error_code none; std::filesystem::file_size(base_ + ".log", none) == 0) {
      std::filesystem::remove(base_ + ".log");
    }
  }

 private:
  [[nodiscard]] std::vector<std::string> command() const {
    std::vector<std::string> words{ChildProcess::ourselves, "run", plan_.file, "--json", "--quiet", "--trust"};
    for (const std::string& set : plan_.sets) words.insert(words.end(), {"--set", set});
    for (const auto& [key, value] : point_.settings) words.insert(words.end(), {"--set", key + "=" + value});
    words.insert(words.end(), {"--cpu-speed", to_string(point_.speed), "--seed", std::to_string(point_.seed),
                               "--journal", base_ + ".mcap"});
    return words;
  }

  [[nodiscard]] std::string words_at_its_end() const {
    std::string text = content_of(base_ + ".log");
    while (!text.empty() && text.back() == '\n') text.pop_back();
    if (!text.empty()) return (text.size() > 500 ? "… " : "") + foreign_tail(text, 500);
    return process_.how_it_ended() + " and left no report";
  }

  [[nodiscard]] std::optional<double> mean_distance() const {
    if (plan_.bodies.size() < 2) return std::nullopt;
    PosixDisk disk;
    const auto distances = body_distances(disk, base_ + ".mcap", plan_.bodies[0], plan_.bodies[1]);
    if (!distances || distances->empty()) return std::nullopt;
    return spread_of(*distances).mean;
  }

  const SweepPlan& plan_;
  SweepPoint point_;
  std::string base_;
  ChildProcess process_;
};

void record_ended(std::vector<std::unique_ptr<Child>>& running, SweepLog& log) {
  std::erase_if(running, [&](const std::unique_ptr<Child>& child) {
    if (!child->ended()) return false;
    const SweepResult result = child->result();
    child->tidy();
    // Stopped by us is not a result: the next start does it again.
    if (result.end == "interrupted" || (InterruptGuard::count() > 0 && !result.done())) return true;
    if (!result.done()) {
      const std::string what = to_string(result.point.settings);
      say((what.empty() ? "speed " + to_string(result.point.speed) : what) + ", seed " +
          std::to_string(result.point.seed) + " failed: " + result.why + "\n");
    }
    log.add(result);
    return true;
  });
}

}  // namespace

bool run_sweep(const SweepPlan& plan, const std::vector<SweepPoint>& missing, std::size_t all, SweepLog& log) {
  const InterruptGuard guard;
  StatusLine status;
  std::vector<std::unique_ptr<Child>> running;
  std::size_t next = 0;
  int told = 0;
  const auto start = std::chrono::steady_clock::now();
  while (next < missing.size() || !running.empty()) {
    if (InterruptGuard::count() > 0 && running.empty()) return false;
    while (guard.count() == 0 && running.size() < plan.jobs && next < missing.size()) {
      running.push_back(std::make_unique<Child>(plan, missing[next++]));
    }
    for (; told < guard.count(); ++told) {
      for (const auto& child : running) child->signal(told == 0 ? SIGINT : SIGKILL);
    }
    const std::size_t done = all - missing.size() + next - running.size();
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    char text[120];
    std::snprintf(text, sizeof text, "%zu of %zu runs done, %zu running, %.0f s%s", done, all, running.size(), wall,
                  guard.count() > 0 ? ", stopping" : "");
    status.show(text);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    record_ended(running, log);
  }
  return guard.count() == 0;
}

Spread spread_of(const std::vector<double>& values) {
  Spread spread{values.size(), 0, 0};
  if (values.empty()) return spread;
  for (const double v : values) spread.mean += v / static_cast<double>(values.size());
  double squares = 0;
  for (const double v : values) squares += (v - spread.mean) * (v - spread.mean);
  if (values.size() > 1) spread.deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return spread;
}

}  // namespace isochron::app
