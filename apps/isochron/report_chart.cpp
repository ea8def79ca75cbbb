#include "apps/isochron/report_chart.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/isochron/report_html.hpp"

namespace isochron::app {
namespace {

constexpr double width = 1040, height = 280;
constexpr double left = 74, right = 14, top = 12, bottom = 42;
constexpr double least_log = 1e-6;  // a log axis has no zero: a microsecond and less is drawn there
constexpr std::size_t bins = 48;

struct Range {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  void cover(double v) { min = std::min(min, v), max = std::max(max, v); }
  [[nodiscard]] bool empty() const { return !(min <= max); }
  /// Never empty, never flat.
  [[nodiscard]] Range usable() const {
    if (empty()) return {0, 1};
    return max > min ? *this : Range{min, min + std::max(1e-9, std::abs(min) * 1e-3)};
  }
};

/// Maps values to pixels.
class Frame {
 public:
  Frame(Range x, Range y, bool log_y) : x_(x.usable()), y_(y.usable()), log_(log_y) {
    if (log_) y_ = Range{std::log10(least_log), std::ceil(std::log10(std::max(y.usable().max, least_log * 10)))};
  }
  [[nodiscard]] double x(double v) const { return left + (v - x_.min) / (x_.max - x_.min) * (width - left - right); }
  [[nodiscard]] double y(double v) const {
    const double u = log_ ? std::log10(std::max(v, least_log)) : v;
    return height - bottom - (u - y_.min) / (y_.max - y_.min) * (height - top - bottom);
  }
  [[nodiscard]] const Range& xs() const { return x_; }
  [[nodiscard]] const Range& ys() const { return y_; }
  [[nodiscard]] bool log() const { return log_; }

 private:
  Range x_, y_;
  bool log_;
};

/// Round numbers that divide a range into about `wanted` parts.
std::vector<double> ticks(const Range& range, int wanted) {
  const double rough = (range.max - range.min) / wanted;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = power * 10;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (power * factor >= rough) {
      step = power * factor;
      break;
    }
  }
  std::vector<double> all;
  const double first = std::ceil(range.min / step - 1e-9);
  for (int i = 0; i < 50 && (first + i) * step <= range.max + step * 1e-6; ++i) all.push_back((first + i) * step);
  return all;
}

std::string text_at(double x, double y, const char* anchor, const std::string& text, const char* type = "tick") {
  return "<text class=\"" + std::string(type) + "\" x=\"" + at(x) + "\" y=\"" + at(y) + "\" text-anchor=\"" + anchor +
         "\">" + escape(text) + "</text>";
}

std::string line_at(double x1, double y1, double x2, double y2, const char* type) {
  return "<line class=\"" + std::string(type) + "\" x1=\"" + at(x1) + "\" y1=\"" + at(y1) + "\" x2=\"" + at(x2) +
         "\" y2=\"" + at(y2) + "\"/>";
}

std::string y_label(double value, const ChartText& text) {
  return text.time_y ? (value == 0 ? "0" : seconds_text(value)) : number_text(value);
}

std::string y_axis(const Frame& frame, const ChartText& text) {
  std::string out;
  for (const double tick : ticks(frame.ys(), 5)) {
    if (frame.log() && tick != std::round(tick)) continue;  // whole decades only
    const double value = frame.log() ? std::pow(10, tick) : tick;
    const bool least = frame.log() && value <= least_log * 1.001;
    out += line_at(left, frame.y(value), width - right, frame.y(value), "grid");
    out += text_at(left - 7, frame.y(value) + 4, "end", (least ? "≤ " : "") + y_label(value, text));
  }
  const std::string middle = at((height - bottom + top) / 2);
  return out + "<text class=\"axis\" transform=\"translate(13 " + middle + ") rotate(-90)\" text-anchor=\"middle\">" +
         escape(text.y) + "</text>";
}

std::string x_axis(const Frame& frame, const ChartText& text) {
  std::string out = line_at(left, height - bottom, width - right, height - bottom, "base");
  for (const double tick : ticks(frame.xs(), 8)) {
    out += text_at(frame.x(tick), height - bottom + 17, "middle", number_text(std::abs(tick) < 1e-12 ? 0 : tick));
  }
  return out + text_at((left + width - right) / 2, height - 5, "middle", text.x, "axis");
}

std::string open_svg(const std::string& title, double tall) {
  return "<svg role=\"img\" aria-label=\"" + escape(title) + "\" viewBox=\"0 0 " + at(width) + " " + at(tall) +
         "\"><title>" + escape(title) + "</title>";
}

std::string run_class(std::size_t run) { return "c" + std::to_string(run % 8); }

std::string path_of(const Line& line, const Frame& frame) {
  std::string d;
  for (const Point& p : line) d += (d.empty() ? "M" : "L") + at(frame.x(p.x)) + " " + at(frame.y(p.y));
  return d;
}

std::string curve_svg(const Curve& curve, const Frame& frame) {
  const auto columns = static_cast<std::size_t>(width - left - right);
  const Line drawn = downsample(*curve.line, frame.xs().min, frame.xs().max, columns);
  return "<path class=\"curve " + run_class(curve.run) + "\" d=\"" + path_of(drawn, frame) + "\"><title>run " +
         letter(curve.run) + "</title></path>";
}

std::vector<double> shares_in_bins(const Line& line, const Range& range) {
  std::vector<double> shares(bins, 0);
  for (const Point& p : line) {
    const double where = (p.y - range.min) / (range.max - range.min) * bins;
    const auto bin = static_cast<std::size_t>(std::clamp(where, 0.0, bins - 1.0));
    shares[bin] += 100.0 / static_cast<double>(line.size());
  }
  return shares;
}

/// The outline of a histogram, closed along the base.
Line outline(const std::vector<double>& shares, const Range& range) {
  Line line{{range.min, 0}};
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double wide = (range.max - range.min) / static_cast<double>(shares.size());
    line.push_back({range.min + static_cast<double>(i) * wide, shares[i]});
    line.push_back({range.min + static_cast<double>(i + 1) * wide, shares[i]});
  }
  line.push_back({range.max, 0});
  return line;
}

}  // namespace

Line downsample(const Line& line, double x_min, double x_max, std::size_t columns) {
  if (line.size() <= 2 * columns || !(x_max > x_min)) return line;
  Line kept;
  const auto column = [&](const Point& p) {
    return static_cast<std::size_t>(std::clamp((p.x - x_min) / (x_max - x_min), 0.0, 1.0) *
                                    static_cast<double>(columns));
  };
  for (std::size_t i = 0; i < line.size();) {
    std::size_t least = i, most = i, next = i;
    while (next < line.size() && column(line[next]) == column(line[i])) {
      if (line[next].y < line[least].y) least = next;
      if (line[next].y > line[most].y) most = next;
      ++next;
    }
    kept.push_back(line[std::min(least, most)]);
    if (least != most) kept.push_back(line[std::max(least, most)]);
    i = next;
  }
  return kept;
}

std::string line_chart(const std::vector<Curve>& curves, const ChartText& text, const std::vector<Mark>& marks) {
  Range x, y;
  y.cover(0);
  for (const Curve& curve : curves) {
    for (const Point& p : *curve.line) x.cover(p.x), y.cover(p.y);
  }
  for (const Mark& mark : marks) y.cover(mark.y);
  if (!y.empty()) y.max *= 1.05;
  const Frame frame(x, y, text.log_y);
  std::string out = open_svg(text.title, height) + y_axis(frame, text) + x_axis(frame, text);
  for (const Mark& mark : marks) {
    out += line_at(left, frame.y(mark.y), width - right, frame.y(mark.y), "bound");
    out += text_at(width - right - 4, frame.y(mark.y) - 5, "end", mark.text, "boundtext");
  }
  for (const Curve& curve : curves) out += curve_svg(curve, frame);
  return out + "</svg>";
}

std::string histogram(const std::vector<Curve>& curves, const ChartText& text) {
  Range values, shares_seen;
  shares_seen.cover(0);
  for (const Curve& curve : curves) {
    for (const Point& p : *curve.line) values.cover(p.y);
  }
  const Range range = values.usable();
  std::vector<std::vector<double>> all;
  for (const Curve& curve : curves) {
    all.push_back(shares_in_bins(*curve.line, range));
    for (const double share : all.back()) shares_seen.cover(share);
  }
  shares_seen.max *= 1.05;
  const Frame frame(range, shares_seen, false);
  std::string out = open_svg(text.title, height) + y_axis(frame, text) + x_axis(frame, text);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    out += "<path class=\"histogram curve " + run_class(curves[i].run) + "\" d=\"" +
           path_of(outline(all[i], range), frame) + "Z\"><title>run " + letter(curves[i].run) + "</title></path>";
  }
  return out + "</svg>";
}

std::string stacked_bars(const std::vector<std::pair<std::size_t, std::vector<WallShare>>>& runs) {
  double longest = 1e-9;
  for (const auto& [run, shares] : runs) {
    double all = 0;
    for (const WallShare& share : shares) all += share.seconds;
    longest = std::max(longest, all);
  }
  constexpr double bar = 24, pitch = 34, from = 34;
  const double scale = (width - from - right) / longest;
  std::string out = open_svg("where the wall time of each run went", pitch * static_cast<double>(runs.size()) + 4);
  double y = 4;
  for (const auto& [run, shares] : runs) {
    out += text_at(from - 10, y + bar * 0.7, "end", letter(run), "axis");
    double x = from;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const double wide = shares[i].seconds * scale;
      const std::string what = shares[i].what + ": " + seconds_text(shares[i].seconds);
      out += "<rect class=\"s" + std::to_string(i) + "\" x=\"" + at(x) + "\" y=\"" + at(y) + "\" width=\"" + at(wide) +
             "\" height=\"" + at(bar) + "\"><title>" + escape(what) + "</title></rect>";
      if (wide > 120) out += text_at(x + wide / 2, y + bar * 0.68, "middle", what, "inbar");
      x += wide;
    }
    y += pitch;
  }
  return out + "</svg>";
}

}  // namespace isochron::app
