#pragma once
// Charts as inline SVG: lines over time, histograms, and one stacked bar. Colours are classes (c0 … c7) that the page's
// style sheet fills in for light and dark; a line also has a dash of its own, so that colour is not needed to tell it.
//
// Promises: a line with more points than pixels keeps the least and the most of every pixel column, in their order.

#include <string>
#include <vector>

#include "apps/isochron/report_data.hpp"

namespace isochron::app {

/// One run's data in a chart; `run` picks colour and letter.
struct Curve {
  std::size_t run = 0;
  const Line* line = nullptr;
};

/// A height to be marked across the chart, such as the bound of coherence.
struct Mark {
  double y = 0;
  std::string text;
};

struct ChartText {
  std::string title;  // read aloud, and shown on hovering
  std::string x, y;   // what the axes are
  bool log_y = false;
  bool time_y = false;  // y is seconds
};

/// The points to draw for a line that is `columns` pixels wide.
Line downsample(const Line& line, double x_min, double x_max, std::size_t columns);

std::string line_chart(const std::vector<Curve>& curves, const ChartText& text, const std::vector<Mark>& marks = {});
/// The share of its samples that each run has in each bin of y; the bins are the same for all.
std::string histogram(const std::vector<Curve>& curves, const ChartText& text);
/// One bar for each run, all on one scale.
std::string stacked_bars(const std::vector<std::pair<std::size_t, std::vector<WallShare>>>& runs);

}  // namespace isochron::app
