#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "apps/isochron/sweep.hpp"
#include "core/foreign_text.hpp"
#include "core/input_error.hpp"

namespace isochron::app {
namespace {

using Json = nlohmann::ordered_json;

bool same(const SweepPoint& a, const SweepPoint& b) {
  return a.speed == b.speed && a.seed == b.seed && a.settings == b.settings;
}

SweepResult result_from(const Json& json, Fraction speed) {
  SweepResult result;
  result.point = {speed, json.value("seed", std::uint64_t{0})};
  if (const auto settings = json.find("settings"); settings != json.end()) {
    for (const auto& [key, value] : settings->items())
      result.point.settings.emplace_back(key, value.get<std::string>());
  }
  result.expected = json.value("expected", std::size_t{0});
  result.held = json.value("held", std::size_t{0});
  result.not_held = json.value("not_held", "");
  result.end = json.value("end", "");
  result.why = json.value("why", "");
  result.missed = json.value("missed_deadlines", 0.0);
  result.overruns = json.value("overruns", 0.0);
  result.drift_s = json.value("drift_max_s", 0.0);
  result.wall_s = json.value("wall_s", 0.0);
  if (json.contains("mean_distance_m")) result.distance_m = json["mean_distance_m"].get<double>();
  result.digest = json.value("digest", "");
  result.journal = json.value("journal", "");
  return result;
}

}  // namespace

Json to_json(const SweepResult& result) {
  Json json{{"cpu_speed", to_string(result.point.speed)},
            {"seed", result.point.seed},
            {"end", result.end},
            {"why", result.why},
            {"missed_deadlines", result.missed},
            {"overruns", result.overruns},
            {"drift_max_s", result.drift_s},
            {"wall_s", result.wall_s},
            {"digest", result.digest},
            {"journal", result.journal}};
  if (result.distance_m) json["mean_distance_m"] = *result.distance_m;
  for (const auto& [key, value] : result.point.settings) json["settings"][key] = value;
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
    const auto speed = parse_fraction(json.at("cpu_speed").get<std::string>());
    if (speed.ok() && json.at("fingerprint") == fingerprint_) return keep(result_from(json, *speed));
  } catch (const Json::exception&) {  // cut or foreign: counted below
  }
  ++foreign_;
}

void SweepLog::keep(SweepResult result) {
  std::erase_if(results_, [&](const SweepResult& old) { return same(old.point, result.point); });
  results_.push_back(std::move(result));
}

const SweepResult* SweepLog::find(const SweepPoint& point) const {
  for (const SweepResult& result : results_) {
    if (same(result.point, point)) return &result;
  }
  return nullptr;
}

void SweepLog::add(SweepResult result) {
  Json json = to_json(result);
  json["fingerprint"] = fingerprint_;
  const std::string line = json_text(json) + "\n";
  if (write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size()) || fsync(file_) != 0) {
    throw std::runtime_error(path_ + " cannot be written: " + std::strerror(errno));
  }
  keep(std::move(result));
}

std::vector<SweepRow> rows_of(const std::vector<SweepPoint>& points, const SweepLog& log) {
  std::vector<SweepRow> rows;
  for (std::size_t from = 0, to = 0; from < points.size(); from = to) {
    SweepRow& row = rows.emplace_back();
    row.speed = points[from].speed;
    row.settings = points[from].settings;
    std::vector<double> missed, overruns, drift, distance;
    for (to = from; to < points.size() && points[to].speed == row.speed && points[to].settings == row.settings; ++to) {
      const SweepResult* result = log.find(points[to]);
      if (result == nullptr) continue;
      if (!result->done()) {
        ++row.failed;
        continue;
      }
      ++row.finished;
      if (result->held == result->expected) ++row.all_held;
      missed.push_back(result->missed), overruns.push_back(result->overruns), drift.push_back(result->drift_s);
      if (result->distance_m) distance.push_back(*result->distance_m);
    }
    row.missed = spread_of(missed), row.overruns = spread_of(overruns);
    row.drift_s = spread_of(drift), row.distance_m = spread_of(distance);
  }
  return rows;
}

namespace {

std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

}  // namespace

std::string sweep_csv(const std::vector<SweepPoint>& points, const SweepLog& log) {
  std::string text;
  if (!points.empty()) {
    for (const auto& [key, value] : points[0].settings) text += cell(key) + ",";
  }
  text +=
      "cpu_speed,seed,end,expected,held,not_held,missed_deadlines,overruns,drift_max_s,wall_s,mean_distance_m,digest,"
      "journal,why\n";
  for (const SweepPoint& point : points) {
    const SweepResult* result = log.find(point);
    if (result == nullptr) continue;
    for (const auto& [key, value] : point.settings) text += cell(value) + ",";
    for (const std::string& value :
         {to_string(point.speed), std::to_string(point.seed), result->end, std::to_string(result->expected),
          std::to_string(result->held), result->not_held, number(result->missed), number(result->overruns),
          number(result->drift_s), number(result->wall_s), result->distance_m ? number(*result->distance_m) : "",
          result->digest, result->journal}) {
      text += cell(value) + ",";
    }
    text += cell(result->why) + "\n";
  }
  return text;
}

}  // namespace isochron::app
