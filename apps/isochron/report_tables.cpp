#include <cmath>
#include <functional>

#include "apps/isochron/outcome_text.hpp"
#include "apps/isochron/report_html.hpp"
#include "apps/isochron/report_page.hpp"
#include "run/verdict.hpp"

namespace isochron::app {
namespace {

std::string pill(const std::string& kind, const std::string& text) {
  return "<span class=\"pill " + kind + "\">" + escape(text) + "</span>";
}

std::string fact(const std::string& name, const std::string& html) {
  return "<dt>" + escape(name) + "</dt><dd>" + html + "</dd>";
}

std::string end_pill(const RunData& run) {
  if (!run.ending) return pill("warn", "how it ended is not known");
  const std::string& end = run.ending->end;
  return pill(end == "finished" ? "good" : end == "failed" ? "bad" : "warn", end.empty() ? "no end noted" : end);
}

std::string coherence_pill(const RunData& run) {
  const std::string said = run.ending ? run.ending->verdict.coherence : "";
  if (said.empty()) return pill("warn", "coherence not judged");
  const bool good = said == to_string(Coherence::coherent) || said == to_string(Coherence::in_order);
  return pill(good ? "good" : said == to_string(Coherence::not_coherent) ? "bad" : "warn", said);
}

std::string bound_text(const RunData& run) {
  if (run.ending && run.ending->hil) return "no answer before the world is there";
  const auto bound = run.bound_s();
  return bound ? seconds_text(*bound) : "no figure";
}

std::string drift_text(const RunData& run) {
  if (!run.ending) return "not known";
  return seconds_text(run.ending->drift_max_s) + " at most; 99 % under " + seconds_text(run.ending->drift_p99_s) +
         (run.ending->drift_exact ? "" : " (not exact)");
}

std::string verdict_html(const RunData& run) {
  if (!run.ending || run.ending->verdict.line.empty()) return "";
  return "<p class=\"verdict\">" + escape(run.ending->verdict.line) + "</p>";
}

std::string digest_html(const RunData& run) {
  return "<span class=\"digest\">" + escape(run.digest) + "</span>" + (run.digest_complete ? "" : " (incomplete)");
}

std::string factor_text(const RunData& run) {
  if (!run.ending) return "not known";
  return number_text(run.ending->real_time_factor, 3) + "x real time (" + seconds_text(run.ending->simulated_s) +
         " simulated in " + seconds_text(run.ending->wall_s) + ")";
}

std::string notes_html(const RunData& run) {
  if (run.notes.empty()) return "";
  std::string out = "<ul>";
  for (const std::string& note : run.notes) out += "<li>" + escape(note) + "</li>";
  return out + "</ul>";
}

std::string card(const RunData& run, std::size_t index) {
  std::string out = "<article class=\"card c" + std::to_string(index % 8) + "\"><h2><span class=\"badge\">" +
                    letter(index) + "</span>" + escape(run.file) + "</h2>" + end_pill(run) + coherence_pill(run);
  if (run.ending && run.missed() > 0) out += pill("bad", std::to_string(run.missed()) + " missed deadlines");
  for (const std::string& banner : run.banners) {
    out += "<p class=\"banner\" role=\"alert\">" + escape(banner) + "</p>";
  }
  if (run.ending && !run.ending->why.empty()) out += "<p class=\"banner\">" + escape(run.ending->why) + "</p>";
  out += verdict_html(run) + "<dl>" + fact("scenario", escape(run.scenario)) + fact("mode", escape(run.mode)) +
         fact("drift", escape(drift_text(run))) + fact("promised", escape(bound_text(run))) +
         fact("missed deadlines", run.ending ? std::to_string(run.missed()) : "not known") +
         fact("speed", escape(factor_text(run))) +
         (run.ending && !run.ending->control.empty() ? fact("measured by", escape(run.ending->control)) : "") +
         fact("digest", digest_html(run)) + "</dl>";
  return out + notes_html(run) + "</article>";
}

using Cell = std::function<std::string(const RunData&)>;

std::string row(const char* name, const std::vector<RunData>& runs, const Cell& cell) {
  std::string out = std::string("<tr><th scope=\"row\">") + name + "</th>";
  for (const RunData& run : runs) out += "<td>" + cell(run) + "</td>";
  return out + "</tr>";
}

/// The same, from the figures of the run's end.
std::string end_row(const char* name, const std::vector<RunData>& runs,
                    const std::function<std::string(const Figures&)>& cell) {
  return row(name, runs, [&](const RunData& run) { return run.ending ? escape(cell(*run.ending)) : "–"; });
}

std::string program_row(const ProgramReport& p, std::size_t run) {
  return row_head(run, p.name) + cell(p.activations) + cell(p.overruns) + cell(p.missed_deadlines) +
         cell(p.preemptions) + cell(seconds_text(p.executed.seconds())) + cell(seconds_text(p.blocked.seconds())) +
         cell(seconds_text(p.waited.seconds())) + "<td>" + escape(p.end) + "</td></tr>";
}

/// How programs kept time on the wall clock; "" when no run was in real time.
std::string wall_clock_table(const std::vector<RunData>& runs) {
  std::string rows;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].ending) continue;
    for (const ProgramReport& program : runs[i].ending->programs) {
      if (!program.timing) continue;
      rows += row_head(i, program.name);
      for (const Quantiles& q : {program.timing->late, program.timing->response}) {
        for (const WallSpan span : {q.p50, q.p99, q.max}) rows += cell(seconds_text(span.seconds()));
      }
      rows += "</tr>";
    }
  }
  if (rows.empty()) return "";
  return "<h2>On the wall clock</h2><p>Late: from a release until the program was let go. Response: until it waited "
         "for the next one.</p>" +
         table({"run", "program", "#late p50", "#p99", "#max", "#response p50", "#p99", "#max"}, rows);
}

}  // namespace

std::string verdict_section(const std::vector<RunData>& runs) {
  std::string out = "<section class=\"cards\" aria-label=\"verdicts\">";
  for (std::size_t i = 0; i < runs.size(); ++i) out += card(runs[i], i);
  return out + "</section>";
}

std::string comparison_section(const std::vector<RunData>& runs) {
  std::string out = "<h2>Side by side</h2><div class=\"wide\"><table><thead><tr><th></th>";
  for (std::size_t i = 0; i < runs.size(); ++i) out += "<th scope=\"col\">run " + letter(i) + "</th>";
  out += "</tr></thead><tbody>";
  out += row("journal", runs, [](const RunData& r) { return escape(r.file); });
  out += row("mode", runs, [](const RunData& r) { return escape(r.mode); });
  out += row("seed", runs, [](const RunData& r) { return escape(r.seed); });
  out += row("end", runs, end_pill) + row("coherence", runs, coherence_pill);
  out += end_row("drift at most", runs, [](const Figures& f) { return seconds_text(f.drift_max_s); });
  out += end_row("drift, 99 % under", runs, [](const Figures& f) { return seconds_text(f.drift_p99_s); });
  out += end_row("drift, 99.9 % under", runs, [](const Figures& f) { return seconds_text(f.drift_p999_s); });
  out += row("drift promised", runs, [](const RunData& r) { return escape(bound_text(r)); });
  out += row("missed deadlines", runs, [](const RunData& r) { return r.ending ? std::to_string(r.missed()) : "–"; });
  out += end_row("simulated", runs, [](const Figures& f) { return seconds_text(f.simulated_s); });
  out += end_row("wall time", runs, [](const Figures& f) { return seconds_text(f.wall_s); });
  out += end_row("real-time factor", runs, [](const Figures& f) { return number_text(f.real_time_factor, 3); });
  out += row("records", runs, [](const RunData& r) { return std::to_string(r.records); });
  out += row("last record", runs, [](const RunData& r) { return seconds_text(r.last_record_s); });
  return out + row("digest", runs, digest_html) + "</tbody></table></div>";
}

std::string expectation_section(const std::vector<RunData>& runs) {
  std::string rows;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].ending) continue;
    for (const ExpectationFigures& one : runs[i].ending->expectations) {
      const char* tone = one.verdict == "held" ? "good" : one.verdict == "violated" ? "bad" : "warn";
      rows +=
          row_head(i, one.name) + "<td>" + pill(tone, one.verdict) + "</td><td><code>" + escape(one.expects) +
          "</code></td><td>" + escape(one.why) +
          (one.first_s
               ? "<br><code>" + escape(view_command(runs[i].file, SimTime::from_ns(std::llround(*one.first_s * 1e9)))) +
                     "</code>"
               : "") +
          "</td></tr>";
    }
  }
  if (rows.empty()) return "";
  return "<h2>Expectations</h2>" + table({"run", "name", "verdict", "expects", "why"}, rows);
}

std::string program_section(const std::vector<RunData>& runs) {
  std::string rows;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].ending) continue;
    for (const ProgramReport& program : runs[i].ending->programs) rows += program_row(program, i);
  }
  if (rows.empty()) return "";
  return "<h2>Programs</h2>" +
         table({"run", "program", "#activations", "#overruns", "#missed", "#preemptions", "#executed", "#blocked",
                "#waited", "ended"},
               rows) +
         wall_clock_table(runs);
}

}  // namespace isochron::app
