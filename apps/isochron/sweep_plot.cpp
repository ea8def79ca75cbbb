#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "apps/isochron/sweep.hpp"

namespace isochron::app {
namespace {

constexpr double left = 90, right = 20, wide = 640, panel_height = 150, panel_gap = 46, top = 50;

struct Panel {
  const char* name;
  Spread SweepRow::*quantity;
};
constexpr Panel panels[] = {{"missed deadlines", &SweepRow::missed},
                            {"overruns", &SweepRow::overruns},
                            {"drift at most, s", &SweepRow::drift_s},
                            {"mean distance, m", &SweepRow::distance_m}};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string text_at(double x, double y, const std::string& text, const char* anchor) {
  std::string safe;
  for (const char c : text) safe += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return "<text x='" + number(x) + "' y='" + number(y) + "' text-anchor='" + anchor + "'>" + safe + "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2, const char* colour) {
  return "<line x1='" + number(x1) + "' y1='" + number(y1) + "' x2='" + number(x2) + "' y2='" + number(y2) +
         "' stroke='" + colour + "'/>\n";
}

/// Where a row stands to the right: its value of the key, or the speed.
double place_of(const SweepRow& row, const std::string& key) {
  for (const auto& [name, value] : row.settings) {
    if (name == key) return std::strtod(value.c_str(), nullptr);
  }
  return row.speed.value();
}

/// From a speed to the right, from 0 at the bottom to `most` at the top.
struct Axes {
  double low, high, most, bottom;
  std::string key;  // "" = speed, in factors of two
  [[nodiscard]] double scaled(double value) const { return key.empty() ? std::log2(value) : value; }
  [[nodiscard]] double x(const SweepRow& row) const {
    const double at = high > low ? (scaled(place_of(row, key)) - low) / (high - low) : 0.5;
    return left + at * (wide - left - right);
  }
  [[nodiscard]] double y(double value) const { return bottom - std::max(0.0, value) / most * panel_height; }
};

std::string frame(const Panel& panel, const std::vector<SweepRow>& rows, const Axes& axes) {
  std::string svg = text_at(left, axes.bottom - panel_height - 8, panel.name, "start");
  for (const double value : {0.0, axes.most / 2, axes.most}) {
    svg += line(left, axes.y(value), wide - right, axes.y(value), "#ddd") +
           text_at(left - 6, axes.y(value) + 4, number(value), "end");
  }
  for (const SweepRow& row : rows) {
    if (rows.size() > 16 && &row != &rows.front() && &row != &rows.back()) continue;
    svg += text_at(axes.x(row), axes.bottom + 16, number(place_of(row, axes.key)), "middle");
  }
  return svg;
}

std::string curve(const Panel& panel, const std::vector<SweepRow>& rows, const Axes& axes) {
  std::string points, marks;
  for (const SweepRow& row : rows) {
    const Spread& s = row.*panel.quantity;
    if (s.n == 0) continue;
    const double x = axes.x(row);
    points += number(x) + "," + number(axes.y(s.mean)) + " ";
    marks += line(x, axes.y(s.mean - s.deviation), x, axes.y(s.mean + s.deviation), "#c33") + "<circle cx='" +
             number(x) + "' cy='" + number(axes.y(s.mean)) + "' r='3' fill='#c33'/>\n";
  }
  return "<polyline fill='none' stroke='#c33' stroke-width='1.5' points='" + points + "'/>\n" + marks;
}

double most_of(const Panel& panel, const std::vector<SweepRow>& rows) {
  double most = 0;
  for (const SweepRow& row : rows) most = std::max(most, (row.*panel.quantity).mean + (row.*panel.quantity).deviation);
  return most > 0 ? most : 1;
}

}  // namespace

std::string sweep_svg(const std::string& title, const std::vector<SweepRow>& unsorted, const std::string& key) {
  std::vector<SweepRow> rows = unsorted;
  std::stable_sort(rows.begin(), rows.end(), [&](const SweepRow& a, const SweepRow& b) {
    return !key.empty() && place_of(a, key) < place_of(b, key);
  });
  double low = 0, high = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double at = key.empty() ? std::log2(rows[i].speed.value()) : place_of(rows[i], key);
    low = i == 0 ? at : std::min(low, at);
    high = i == 0 ? at : std::max(high, at);
  }
  std::string body = text_at(
      left, 20,
      title + ": what " + (key.empty() ? "the speed of the robots' computers" : key) + " changes (mean, ± deviation)",
      "start");
  double bottom = top;
  for (const Panel& panel : panels) {
    if (std::none_of(rows.begin(), rows.end(), [&](const SweepRow& row) { return (row.*panel.quantity).n > 0; })) {
      continue;
    }
    bottom += panel_height;
    const Axes axes{low, high, most_of(panel, rows), bottom, key};
    body += frame(panel, rows, axes) + curve(panel, rows, axes);
    bottom += panel_gap;
  }
  return "<svg xmlns='http://www.w3.org/2000/svg' width='" + number(wide) + "' height='" + number(bottom) +
         "' font-family='sans-serif' font-size='12'>\n<rect width='100%' height='100%' fill='white'/>\n" + body +
         text_at((left + wide - right) / 2, bottom - 6, key.empty() ? "speed in units of this computer" : key,
                 "middle") +
         "</svg>\n";
}

}  // namespace isochron::app
