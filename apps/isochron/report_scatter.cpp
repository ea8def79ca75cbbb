#include "apps/isochron/report_scatter.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "apps/isochron/report_chart.hpp"
#include "apps/isochron/report_html.hpp"
#include "apps/isochron/report_page.hpp"
#include "core/input_error.hpp"
#include "journal/decode.hpp"
#include "journal/named_series.hpp"

namespace isochron::app {
namespace {

constexpr std::size_t most_curves = 40;    // of one group; more are one smear
constexpr std::size_t most_numbers = 200;  // of one record that are looked at

using Signal = std::string;  // its name, or topic:field
using Finals = std::map<Signal, double>;

bool is_flow(const std::string& topic) { return !topic.starts_with("/isochron/") && topic != "/tf"; }

/// Every number of the last record of every flow.
Finals finals_of(McapReader& reader) {
  std::map<std::uint16_t, std::vector<std::byte>> last;
  auto cursor = reader.messages();
  while (const auto message = cursor.next()) {
    if (is_flow(message->channel->topic)) last[message->channel->id].assign(message->data.begin(), message->data.end());
  }
  Finals finals;
  for (const auto& [id, bytes] : last) {
    const mcap::Channel& channel = *reader.channel(id);
    const auto decoder = Decoder::make(channel, reader.schema_of(channel));
    if (!decoder.ok()) continue;
    std::size_t taken = 0;
    decoder->each(bytes, [&](const std::string& path, const Scalar& value) {
      const auto number = to_number(value);
      const bool real = std::holds_alternative<double>(value) || std::holds_alternative<float>(value);
      if (number && real && std::isfinite(*number) && taken++ < most_numbers)
        finals[channel.topic + ":" + path] = *number;
    });
  }
  return finals;
}

McapReader open(Disk& disk, const std::string& file) {
  auto opened = McapReader::open(disk, file);
  if (!opened.ok()) throw InputError({"", 0, 0}, opened.error().what);
  return std::move(opened).value();
}

struct Spread {
  double least = INFINITY, most = -INFINITY;
  void cover(double value) { least = std::min(least, value), most = std::max(most, value); }
  [[nodiscard]] bool empty() const { return least > most; }
  [[nodiscard]] double width() const { return empty() ? 0 : most - least; }
};

/// The number that differs most at the end, measured by its own size.
Signal most_scattered(const std::vector<Finals>& finals) {
  std::map<Signal, Spread> spreads;
  for (const Finals& run : finals) {
    for (const auto& [signal, value] : run) spreads[signal].cover(value);
  }
  Signal best;
  double most = -1;
  for (const auto& [signal, spread] : spreads) {
    const double size = std::max({std::abs(spread.least), std::abs(spread.most), 1e-9});
    if (spread.width() / size > most) most = spread.width() / size, best = signal;
  }
  return best;
}

Line line_of(Disk& disk, const RunData& run, const Signal& signal) {
  McapReader reader = open(disk, run.file);
  const auto series = read_named(reader, names_of(reader), signal);
  if (!series.ok()) {
    throw InputError({"--signal " + signal, 0, 0}, series.error(),
                     "`isochron journal names " + run.file + "` lists them");
  }
  Line line;
  for (std::size_t i = 0; i < series->times.size(); ++i) {
    line.push_back({series->times[i].seconds(), series->values[i]});
  }
  return line;
}

/// One dot for each run, a row for each group.
std::string dots(const std::vector<RunGroup>& groups, const std::vector<Finals>& finals, const Signal& signal) {
  constexpr double width = 1040, left = 190, right = 20, row = 44;
  Spread all;
  for (const Finals& run : finals) {
    if (const auto found = run.find(signal); found != run.end()) all.cover(found->second);
  }
  if (all.empty()) return "";
  const double from = all.width() > 0 ? all.least : all.least - 1, to = all.width() > 0 ? all.most : all.least + 1;
  const double tall = row * static_cast<double>(groups.size()) + 30;
  std::string svg =
      "<svg role=\"img\" aria-label=\"the last value of each run\" viewBox=\"0 0 " + at(width) + " " + at(tall) + "\">";
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const double middle = row * (static_cast<double>(g) + 0.5);
    svg += "<text x=\"0\" y=\"" + at(middle + 4) + "\">" + escape(groups[g].name) +
           "</text><line class=\"grid\" x1=\"" + at(left) + "\" x2=\"" + at(width - right) + "\" y1=\"" + at(middle) +
           "\" y2=\"" + at(middle) + "\"/>";
    std::size_t n = 0;
    for (const std::size_t run : groups[g].runs) {
      const auto found = finals[run].find(signal);
      if (found == finals[run].end()) continue;
      const double x = left + (found->second - from) / (to - from) * (width - left - right);
      const double y = middle + (static_cast<double>(n++ % 7) - 3) * 3.5;  // equal ones must not hide each other
      svg += "<circle class=\"histogram c" + std::to_string(g) + "\" stroke=\"var(--mine)\" cx=\"" + at(x) +
             "\" cy=\"" + at(y) + "\" r=\"4\"/>";
    }
  }
  return svg + "<text class=\"tick\" x=\"" + at(left) + "\" y=\"" + at(tall - 8) + "\">" + number_text(from, 6) +
         "</text><text class=\"tick\" text-anchor=\"end\" x=\"" + at(width - right) + "\" y=\"" + at(tall - 8) + "\">" +
         number_text(to, 6) + "</text></svg>";
}

std::string executors_text(const RunGroup& group, const std::vector<RunData>& runs) {
  std::map<std::string, std::size_t> counts;
  for (const std::size_t run : group.runs) ++counts[runs[run].executor];
  std::string text;
  for (const auto& [executor, count] : counts) {
    text += (text.empty() ? "" : ", ") + executor + (count > 1 ? " × " + std::to_string(count) : "");
  }
  return text;
}

std::string group_table(const std::vector<RunGroup>& groups, const std::vector<RunData>& runs,
                        const std::vector<Finals>& finals, const Signal& signal) {
  std::string rows;
  for (const RunGroup& group : groups) {
    Spread spread;
    for (const std::size_t run : group.runs) {
      if (const auto found = finals[run].find(signal); found != finals[run].end()) spread.cover(found->second);
    }
    const std::size_t different = group.different(runs);
    const auto number = [&](double value) { return cell(spread.empty() ? "–" : number_text(value, 6)); };
    rows += "<tr><th scope=\"row\">" + escape(group.name) + "</th>" + cell(group.runs.size()) + "<td>" +
            escape(executors_text(group, runs)) + "</td><td class=\"n\"><span class=\"pill " +
            (different == 1 ? "good" : "bad") + "\">" + std::to_string(different) + "</span></td>" +
            number(spread.least) + number(spread.most) + number(spread.width()) + "</tr>";
  }
  return table({"", "#runs", "executors", "#different runs", "#least at the end", "#most", "#apart"}, rows);
}

/// As people call it.
std::string title_of(Disk& disk, const std::string& file, const Signal& signal) {
  McapReader reader = open(disk, file);
  return names_of(reader).name_of(signal);
}

std::string curves(Disk& disk, const std::vector<RunGroup>& groups, const std::vector<RunData>& runs,
                   const Signal& signal, const std::string& name) {
  std::vector<Line> lines;
  lines.reserve(runs.size());
  std::vector<Curve> drawn;
  std::string legend = "<figcaption class=\"legend\">";
  for (std::size_t g = groups.size(); g-- > 0;) {  // those that scatter below
    const std::size_t count = std::min(groups[g].runs.size(), most_curves);
    for (std::size_t i = 0; i < count; ++i) {
      lines.push_back(line_of(disk, runs[groups[g].runs[i]], signal));
      drawn.push_back({g, &lines.back()});
    }
    legend += "<span class=\"c" + std::to_string(g) + "\"><i></i>" + escape(groups[g].name) + ", " +
              std::to_string(count) + " runs</span>";
  }
  return line_chart(drawn, {name + " of each run", "simulated time, s", name, false, false}) + legend + "</figcaption>";
}

}  // namespace

std::size_t RunGroup::different(const std::vector<RunData>& all) const {
  std::set<std::string> digests;
  for (const std::size_t run : runs) digests.insert(all[run].digest);
  return digests.size();
}

std::vector<RunGroup> groups_of(const std::vector<RunData>& runs) {
  std::vector<RunGroup> groups;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].executor.empty()) continue;
    const bool free = runs[i].executor == "free";
    const std::string name = free ? "free-running" : "with time management";
    auto group = std::find_if(groups.begin(), groups.end(), [&](const RunGroup& g) { return g.name == name; });
    if (group == groups.end()) group = groups.insert(free ? groups.end() : groups.begin(), {name, free, {}});
    group->runs.push_back(i);
  }
  return groups;
}

std::string scatter_section(Disk& disk, const std::vector<RunData>& runs, const std::string& wanted) {
  const std::vector<RunGroup> groups = groups_of(runs);
  std::size_t flows = 0;
  for (const RunGroup& group : groups) flows += group.runs.size();
  if (flows < 2) return "";
  std::vector<Finals> finals(runs.size());
  for (const RunGroup& group : groups) {
    for (const std::size_t run : group.runs) {
      McapReader reader = open(disk, runs[run].file);
      finals[run] = finals_of(reader);
    }
  }
  const Signal signal = wanted.empty() ? most_scattered(finals) : wanted;
  for (const RunGroup& group : groups) {
    for (const std::size_t run : group.runs) {
      if (wanted.empty() || finals[run].contains(signal)) continue;
      if (const Line line = line_of(disk, runs[run], signal); !line.empty()) finals[run][signal] = line.back().y;
    }
  }
  std::string out =
      "<h2>Do the runs repeat?</h2><p class=\"soft\">Runs are the same when their digests are: every record, in order. "
      "Free-running nodes take whatever came last, so their results depend on the machine's load.</p>" +
      group_table(groups, runs, finals, signal);
  if (signal.empty()) return out;
  const std::string name = title_of(disk, runs[groups[0].runs[0]].file, signal);
  return out + "<h3>" + escape(name) + ": the last value of each run</h3><figure>" + dots(groups, finals, signal) +
         "</figure><h3>… and over time</h3><figure>" + curves(disk, groups, runs, signal, name) + "</figure>";
}

std::string scatter_page(Disk& disk, const std::vector<RunData>& runs, const std::string& signal) {
  const std::string section = scatter_section(disk, runs, signal);
  if (section.empty()) {
    throw InputError({"--scatter", 0, 0}, "needs at least two runs of flows", "run a scenario with `nodes` twice");
  }
  return page_around(std::to_string(runs.size()) + " runs of " + runs[0].scenario, section);
}

}  // namespace isochron::app
