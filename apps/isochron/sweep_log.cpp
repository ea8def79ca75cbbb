#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "apps/isochron/sweep.hpp"
#include "core/foreign_text.hpp"
#include "core/input_error.hpp"

namespace isochron::app {
using Json = nlohmann::ordered_json;

std::string name_of(const SweepPoint& point) {
  char text[64];
  std::snprintf(text, sizeof text, "speed_%g_seed_%llu", point.speed.value(),
                static_cast<unsigned long long>(point.seed));
  std::string name = text;
  for (const auto& [key, value] : point.settings) name += "_" + key + "_" + value;
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a of what the name says before it is made fit for a file
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  bool plain = name.size() <= 120;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_') continue;
    c = '_';
    plain = false;
  }
  if (plain) return name;
  std::snprintf(text, sizeof text, "_%016llx", static_cast<unsigned long long>(hash));
  return name.substr(0, 100) + text;
}

Json to_json(const SweepPoint& point) {
  Json json{{"cpu_speed", to_string(point.speed)}, {"seed", point.seed}};
  for (const auto& [key, value] : point.settings) json["settings"][key] = value;
  return json;
}

SweepPoint point_from(const Json& json) {
  const auto speed = parse_fraction(json.at("cpu_speed").get<std::string>());
  if (!speed.ok()) throw std::runtime_error("a point of a sweep without a speed");
  SweepPoint point{*speed, json.value("seed", std::uint64_t{0})};
  if (const auto settings = json.find("settings"); settings != json.end()) {
    for (const auto& [key, value] : settings->items()) point.settings.emplace_back(key, value.get<std::string>());
  }
  return point;
}

Json to_json(const SweepPlan& plan) {
  return {{"file", plan.file},     {"sets", plan.sets},
          {"folder", plan.folder}, {"fingerprint", plan.fingerprint},
          {"bodies", plan.bodies}, {"figures", plan.figures},
          {"where", plan.where},   {"keep", static_cast<int>(plan.keep)}};
}

SweepPlan plan_from(const Json& json) {
  SweepPlan plan;
  plan.file = json.at("file").get<std::string>();
  plan.sets = json.at("sets").get<std::vector<std::string>>();
  plan.folder = json.at("folder").get<std::string>();
  plan.fingerprint = json.at("fingerprint").get<std::string>();
  plan.bodies = json.at("bodies").get<std::vector<std::string>>();
  plan.figures = json.at("figures").get<std::vector<std::string>>();
  plan.where = json.value("where", "");
  plan.keep = static_cast<SweepPlan::Keep>(json.at("keep").get<int>());
  return plan;
}

SweepResult result_from(const Json& json) {
  SweepResult result;
  result.point = point_from(json);
  result.expected = json.value("expected", std::size_t{0});
  result.held = json.value("held", std::size_t{0});
  result.not_held = json.value("not_held", "");
  result.end = json.value("end", "");
  result.why = json.value("why", "");
  result.missed = json.value("missed_deadlines", 0.0);
  result.overruns = json.value("overruns", 0.0);
  result.drift_s = json.value("drift_max_s", 0.0);
  result.wall_s = json.value("wall_s", 0.0);
  result.spent_s = json.value("spent_s", 0.0);
  if (json.contains("mean_distance_m")) result.distance_m = json["mean_distance_m"].get<double>();
  result.digest = json.value("digest", "");
  result.journal = json.value("journal", "");
  for (const Json& figure : json.value("figures", Json::array())) {
    result.figures.push_back(figure.is_number() ? std::optional(figure.get<double>()) : std::nullopt);
  }
  return result;
}

Json to_json(const SweepResult& result) {
  Json json{{"cpu_speed", to_string(result.point.speed)},
            {"seed", result.point.seed},
            {"end", result.end},
            {"why", result.why},
            {"missed_deadlines", result.missed},
            {"overruns", result.overruns},
            {"drift_max_s", result.drift_s},
            {"wall_s", result.wall_s},
            {"spent_s", result.spent_s},
            {"digest", result.digest},
            {"journal", result.journal}};
  if (result.distance_m) json["mean_distance_m"] = *result.distance_m;
  for (const auto& [key, value] : result.point.settings) json["settings"][key] = value;
  for (const auto& figure : result.figures) json["figures"].push_back(figure ? Json(*figure) : Json());
  if (result.expected > 0) {
    json["expected"] = result.expected;
    json["held"] = result.held;
    json["not_held"] = result.not_held;
  }
  return json;
}

SweepLog::SweepLog(const SweepPlan& plan) : path_(plan.folder + "/sweep.jsonl"), fingerprint_(plan.fingerprint) {
  std::error_code error;
  std::filesystem::create_directories(plan.folder, error);
  std::string line;
  std::ifstream old(path_, std::ios::binary);
  while (std::getline(old, line)) read_line(line);
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file_ < 0) {
    throw InputError({path_, 0, 0}, std::string("cannot be written: ") + std::strerror(errno),
                     "name another folder with -o");
  }
  // A line that a kill cut in half is ended, so that the next one stands alone.
  char last = '\n';
  const off_t size = lseek(file_, 0, SEEK_END);
  if (size > 0 && pread(file_, &last, 1, size - 1) == 1 && last != '\n') (void)!write(file_, "\n", 1);
}

SweepLog::~SweepLog() {
  if (file_ >= 0) close(file_);
}

void SweepLog::read_line(const std::string& line) {
  if (line.empty()) return;
  try {
    const Json json = Json::parse(line);
    if (json.at("fingerprint") == fingerprint_) return keep(result_from(json));
  } catch (const std::exception&) {  // cut or foreign: counted below
  }
  ++foreign_;
}

void SweepLog::keep(SweepResult result) {
  const auto [place, is_new] = place_of_.try_emplace(name_of(result.point), results_.size());
  if (is_new) {
    results_.push_back(std::move(result));
  } else {
    results_[place->second] = std::move(result);
  }
}

const SweepResult* SweepLog::find(const SweepPoint& point) const {
  const auto place = place_of_.find(name_of(point));
  return place == place_of_.end() ? nullptr : &results_[place->second];
}

void SweepLog::add(const std::vector<SweepResult>& results) {
  if (results.empty()) return;
  std::string lines;
  for (const SweepResult& result : results) {
    Json json = to_json(result);
    json["fingerprint"] = fingerprint_;
    lines += json_text(json) + "\n";
  }
  errno = 0;
  const ssize_t written = write(file_, lines.data(), lines.size());
  if (written != static_cast<ssize_t>(lines.size()) || fdatasync(file_) != 0) {
    throw std::runtime_error(
        path_ + " cannot be written: " + (written >= 0 && errno == 0 ? "the disk is full" : std::strerror(errno)) +
        "; finished runs are kept, and the same command continues later");
  }
  for (const SweepResult& result : results) keep(result);
}

std::vector<SweepRow> rows_of(const std::vector<SweepPoint>& points, const SweepLog& log) {
  std::vector<SweepRow> rows;
  for (std::size_t from = 0, to = 0; from < points.size(); from = to) {
    SweepRow& row = rows.emplace_back();
    row.speed = points[from].speed;
    row.settings = points[from].settings;
    std::vector<double> missed, overruns, drift, distance;
    std::vector<std::vector<double>> figures;
    for (to = from; to < points.size() && points[to].speed == row.speed && points[to].settings == row.settings; ++to) {
      const SweepResult* result = log.find(points[to]);
      if (result == nullptr) continue;
      if (!result->done()) {
        ++row.failed;
        continue;
      }
      ++row.finished;
      if (result->held == result->expected) ++row.all_held;
      for (std::size_t i = 0; i < result->figures.size(); ++i) {
        if (figures.size() <= i) figures.emplace_back();
        if (result->figures[i]) figures[i].push_back(*result->figures[i]);
      }
      missed.push_back(result->missed), overruns.push_back(result->overruns), drift.push_back(result->drift_s);
      if (result->distance_m) distance.push_back(*result->distance_m);
    }
    row.missed = spread_of(missed), row.overruns = spread_of(overruns);
    row.drift_s = spread_of(drift), row.distance_m = spread_of(distance);
    for (const std::vector<double>& values : figures) row.figures.push_back(spread_of(values));
  }
  return rows;
}

}  // namespace isochron::app
