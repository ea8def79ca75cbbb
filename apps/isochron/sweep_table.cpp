// The results of a sweep as tables: a line for each run, and a line for each point with what its seeds say together.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "apps/isochron/sweep.hpp"

namespace isochron::app {
namespace {

/// Of Student's distribution with n - 1 degrees of freedom, both sides 2.5 %.
double student(std::size_t n) {
  static constexpr double few[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                   2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};
  if (n < 2) return 0;
  if (n - 2 < std::size(few)) return few[n - 2];
  const double degrees = static_cast<double>(n - 1);
  return 1.96 + 2.4 / degrees;  // within 0.005 from there on
}

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

/// A value that begins with a number, without its unit.
std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  (void)stop;
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

bool plain_number(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

/// Columns are made as they are named, and filled row by row.
class Columns {
 public:
  void number(const std::string& name, std::optional<double> value) {
    std::get<TableColumn::Numbers>(column(name, TableColumn::Numbers{}).cells).push_back(value);
  }
  void whole(const std::string& name, std::int64_t value) {
    std::get<TableColumn::Wholes>(column(name, TableColumn::Wholes{}).cells).push_back(value);
  }
  void text(const std::string& name, const std::string& value) {
    std::get<TableColumn::Texts>(column(name, TableColumn::Texts{}).cells).push_back(value);
  }
  [[nodiscard]] Table take() { return std::move(table_); }

 private:
  TableColumn& column(const std::string& name, decltype(TableColumn::cells) empty) {
    const auto [place, is_new] = places_.try_emplace(name, table_.columns.size());
    if (is_new) table_.columns.push_back({name, std::move(empty)});
    return table_.columns[place->second];
  }
  Table table_;
  std::map<std::string, std::size_t> places_;
};

/// Keys whose values are plain numbers everywhere become numbers, so that tools can draw them.
template <class Rows, class SettingsOf>
std::vector<bool> numeric_keys(const Rows& rows, SettingsOf&& settings_of) {
  std::vector<bool> numeric;
  for (const auto& row : rows) {
    const Settings& settings = settings_of(row);
    numeric.resize(settings.size(), true);
    for (std::size_t i = 0; i < settings.size(); ++i) numeric[i] = numeric[i] && plain_number(settings[i].second);
  }
  return numeric;
}

void add_settings(Columns& columns, const Settings& settings, const std::vector<bool>& numeric) {
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (numeric[i]) {
      columns.number(settings[i].first, number_in(settings[i].second));
    } else {
      columns.text(settings[i].first, settings[i].second);
    }
  }
}

}  // namespace

Spread spread_of(const std::vector<double>& values) {
  Spread spread{values.size()};
  if (values.empty()) return spread;
  const auto n = static_cast<double>(values.size());
  for (const double v : values) spread.mean += v / n;
  double squares = 0;
  for (const double v : values) squares += (v - spread.mean) * (v - spread.mean);
  if (values.size() > 1) spread.deviation = std::sqrt(squares / (n - 1));
  spread.ci = student(values.size()) * spread.deviation / std::sqrt(n);
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  spread.p5 = quantile(sorted, 0.05), spread.p50 = quantile(sorted, 0.5), spread.p95 = quantile(sorted, 0.95);
  return spread;
}

Share95 share_of(std::size_t count, std::size_t n) {
  if (n == 0) return {};
  constexpr double z = 1.96;
  const double all = static_cast<double>(n), p = static_cast<double>(count) / all;
  const double middle = (p + z * z / (2 * all)) / (1 + z * z / all);
  const double half = z / (1 + z * z / all) * std::sqrt(p * (1 - p) / all + z * z / (4 * all * all));
  return {p, std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

Table sweep_table(const SweepPlan& plan, const std::vector<SweepPoint>& points, const SweepLog& log) {
  Columns columns;
  const std::vector<bool> numeric =
      numeric_keys(points, [](const SweepPoint& point) -> const Settings& { return point.settings; });
  for (const SweepPoint& point : points) {
    const SweepResult* result = log.find(point);
    if (result == nullptr) continue;
    add_settings(columns, point.settings, numeric);
    columns.number("cpu_speed", point.speed.value());
    columns.whole("seed", static_cast<std::int64_t>(point.seed));
    columns.text("end", result->end);
    columns.whole("expected", static_cast<std::int64_t>(result->expected));
    columns.whole("held", static_cast<std::int64_t>(result->held));
    columns.text("not_held", result->not_held);
    columns.number("missed_deadlines", result->missed);
    columns.number("overruns", result->overruns);
    columns.number("drift_max_s", result->drift_s);
    columns.number("wall_s", result->wall_s);
    columns.number("spent_s", result->spent_s);
    columns.number("mean_distance_m", result->distance_m);
    for (std::size_t i = 0; i < plan.figures.size(); ++i) {
      columns.number(plan.figures[i], i < result->figures.size() ? result->figures[i] : std::nullopt);
    }
    columns.text("digest", result->digest);
    columns.text("journal", result->journal);
    columns.text("why", result->why);
  }
  return columns.take();
}

Table summary_table(const SweepPlan& plan, const std::vector<SweepRow>& rows) {
  Columns columns;
  const std::vector<bool> numeric =
      numeric_keys(rows, [](const SweepRow& row) -> const Settings& { return row.settings; });
  const auto spread = [&](const std::string& name, const Spread& s) {
    const auto shown = [&](double value) { return s.n == 0 ? std::nullopt : std::optional(value); };
    columns.number(name + "_mean", shown(s.mean));
    columns.number(name + "_ci95_low", shown(s.mean - s.ci));
    columns.number(name + "_ci95_high", shown(s.mean + s.ci));
    columns.number(name + "_p5", shown(s.p5));
    columns.number(name + "_p50", shown(s.p50));
    columns.number(name + "_p95", shown(s.p95));
  };
  for (const SweepRow& row : rows) {
    add_settings(columns, row.settings, numeric);
    columns.number("cpu_speed", row.speed.value());
    columns.whole("finished", static_cast<std::int64_t>(row.finished));
    columns.whole("failed", static_cast<std::int64_t>(row.failed));
    const Share95 held = share_of(row.all_held, row.finished);
    columns.number("held_share", row.finished == 0 ? std::nullopt : std::optional(held.share));
    columns.number("held_ci95_low", held.low);
    columns.number("held_ci95_high", held.high);
    spread("missed_deadlines", row.missed);
    spread("overruns", row.overruns);
    spread("drift_max_s", row.drift_s);
    spread("mean_distance_m", row.distance_m);
    for (std::size_t i = 0; i < plan.figures.size(); ++i) {
      spread(plan.figures[i], i < row.figures.size() ? row.figures[i] : Spread{});
    }
  }
  return columns.take();
}

std::string key_to_draw(const std::vector<SweepRow>& rows) {
  std::string best;
  std::size_t most = 1;
  if (rows.empty()) return best;
  for (std::size_t k = 0; k < rows[0].settings.size(); ++k) {
    std::map<double, int> values;
    bool numeric = true;
    for (const SweepRow& row : rows) {
      const auto value = number_in(row.settings[k].second);
      numeric = numeric && value;
      if (value) ++values[*value];
    }
    if (!numeric || values.size() <= most) continue;
    most = values.size();
    best = rows[0].settings[k].first;
  }
  return best;
}

}  // namespace isochron::app
