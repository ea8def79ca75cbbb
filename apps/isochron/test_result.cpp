#include "apps/isochron/test_result.hpp"

#include <algorithm>
#include <cmath>

#include "apps/isochron/outcome_text.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/foreign_text.hpp"
#include "core/markup.hpp"

namespace isochron::app {
namespace {

using End = TestCase::End;
using Json = nlohmann::ordered_json;

const char* word_of(End end) {
  switch (end) {
    case End::passed:
      return "passed";
    case End::failed:
      return "failed";
    case End::broken:
      return "broken";
    case End::stopped:
      return "stopped";
  }
  return "";
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", seconds);
  return text;
}

std::string xml(const std::string& text) {
  return markup(foreign_text(text, 1U << 16U), [](std::string& out, char c) {
    if (c == '\n') {
      out += "&#10;";
    } else {
      out += c;
    }
  });
}

std::string case_xml(const TestResult& result, const TestCase& one, bool first) {
  std::string out = "    <testcase classname=\"" + xml(result.file) + "\" name=\"" + xml(one.name) + "\" time=\"" +
                    seconds_text(first ? result.wall_s : 0) + "\"";
  if (one.end == End::passed) return out + "/>\n";
  const std::string message = " message=\"" + xml(one.why) + "\"";
  if (one.end == End::stopped) return out + "><skipped" + message + "/></testcase>\n";
  const std::string tag = one.end == End::failed ? "failure" : "error";
  const std::string place =
      one.line > 0 ? one.file + ":" + std::to_string(one.line) + ":" + std::to_string(one.column) + ": " : "";
  return out + "><" + tag + message + ">" + xml(place + one.why + (one.look.empty() ? "" : "\n" + one.look)) + "</" +
         tag + "></testcase>\n";
}

std::size_t count(const TestResult& result, End end) {
  return static_cast<std::size_t>(std::ranges::count(result.cases, end, &TestCase::end));
}

/// `%`, line ends, and in properties the two separators.
std::string github(const std::string& text, bool property) {
  std::string out;
  for (const char c : foreign_text(text, 4000)) {
    const bool coded = c == '%' || c == '\n' || c == '\r' || (property && (c == ':' || c == ','));
    if (!coded) {
      out += c;
      continue;
    }
    char code[8];
    std::snprintf(code, sizeof code, "%%%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
    out += code;
  }
  return out;
}

TestCase case_of(const Json& outcome) {
  TestCase one;
  one.name = outcome.value("name", "");
  one.why = outcome.value("why", "");
  one.file = outcome.value("file", "");
  one.line = outcome.value("line", 0);
  one.column = outcome.value("column", 0);
  const std::string verdict = outcome.value("verdict", "");
  if (verdict != "held") one.end = End::failed;
  if (verdict == "unseen") one.why = "saw no sample: " + one.why;
  return one;
}

/// Into the page, where it was first violated.
std::string look_at(const Json& outcome, const std::string& journal) {
  const auto violations = outcome.find("first_violations");
  if (journal.empty() || violations == outcome.end() || violations->empty()) return "";
  return view_command(journal, SimTime::from_ns(std::llround((*violations)[0].value("at_s", 0.0) * 1e9)));
}

TestCase run_case(const std::string& file, const Json& report) {
  TestCase one;
  one.name = "run";
  one.file = file;
  const std::string end = report.value("end", "finished");
  one.why = report.value("why", "");
  if (end == "failed") one.end = End::broken;
  if (end == "interrupted") one.end = End::stopped, one.why = "stopped by Ctrl-C";
  if (end == "violated") one.end = End::failed, one.why = "ended at the first violation";
  return one;
}

}  // namespace

TestCase::End TestResult::end() const {
  End worst = End::passed;
  for (const TestCase& one : cases) worst = std::max(worst, one.end);
  return worst;
}

TestResult result_of_report(const std::string& file, const Json& report) {
  TestResult result;
  result.file = file;
  result.cases.push_back(run_case(file, report));
  if (const auto journal = report.find("journal"); journal != report.end() && journal->is_object()) {
    result.journal = journal->value("file", "");
  }
  if (const auto all = report.find("expectations"); all != report.end() && all->is_array()) {
    for (const Json& outcome : *all) {
      result.cases.push_back(case_of(outcome));
      result.cases.back().look = look_at(outcome, result.journal);
    }
  }
  if (result.cases[0].end == End::stopped) {  // a run that was stopped shows nothing
    for (TestCase& one : result.cases) one.end = End::stopped, one.why = "stopped by Ctrl-C";
  }
  result.wall_s = report.value("wall_s", 0.0);
  return result;
}

TestResult result_without_run(const std::string& file, End end, const std::string& why) {
  TestResult result;
  result.file = file;
  result.cases.push_back({"run", end, why, file, 0, 0});
  return result;
}

std::string lines_of(const TestResult& result) {
  const End end = result.end();
  const std::string word = end == End::passed ? green("PASS") : end == End::stopped ? yellow("STOP") : red("FAIL");
  std::string text = word + " " + bold(result.file) + "  " + std::to_string(count(result, End::passed)) + " of " +
                     std::to_string(result.cases.size()) + " cases, " + seconds_text(result.wall_s) + " s" +
                     (result.attempts > 1 ? ", attempt " + std::to_string(result.attempts) : "") + "\n";
  for (const TestCase& one : result.cases) {
    if (one.end == End::passed) continue;
    text += "     " + one.name + ": " + one.why + "\n" + (one.look.empty() ? "" : "       " + one.look + "\n");
  }
  return text;
}

std::string summary_of(const std::vector<TestResult>& results) {
  std::size_t passed = 0, flaky = 0;
  for (const TestResult& result : results) {
    passed += result.end() == End::passed ? 1 : 0;
    flaky += result.end() == End::passed && result.attempts > 1 ? 1 : 0;
  }
  std::string text = std::to_string(passed) + " of " + std::to_string(results.size()) + " passed";
  if (flaky > 0) text += ", " + std::to_string(flaky) + " of them not at the first attempt";
  return text + "\n";
}

std::string junit_of(const std::vector<TestResult>& results) {
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
  double time = 0;
  std::string suites;
  for (const TestResult& result : results) {
    const std::size_t failed = count(result, End::failed), broken = count(result, End::broken);
    const std::size_t stopped = count(result, End::stopped);
    tests += result.cases.size(), failures += failed, errors += broken, skipped += stopped, time += result.wall_s;
    suites += "  <testsuite name=\"" + xml(result.file) + "\" tests=\"" + std::to_string(result.cases.size()) +
              "\" failures=\"" + std::to_string(failed) + "\" errors=\"" + std::to_string(broken) + "\" skipped=\"" +
              std::to_string(stopped) + "\" time=\"" + seconds_text(result.wall_s) + "\">\n";
    for (std::size_t i = 0; i < result.cases.size(); ++i) suites += case_xml(result, result.cases[i], i == 0);
    if (result.attempts > 1) {
      suites += "    <system-out>attempt " + std::to_string(result.attempts) + "</system-out>\n";
    }
    suites += "  </testsuite>\n";
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"isochron test\" tests=\"" +
         std::to_string(tests) + "\" failures=\"" + std::to_string(failures) + "\" errors=\"" + std::to_string(errors) +
         "\" skipped=\"" + std::to_string(skipped) + "\" time=\"" + seconds_text(time) + "\">\n" + suites +
         "</testsuites>\n";
}

std::string annotations_of(const TestResult& result) {
  std::string text;
  for (const TestCase& one : result.cases) {
    if (one.end != End::failed && one.end != End::broken) continue;
    text += "::error file=" + github(one.file.empty() ? result.file : one.file, true);
    if (one.line > 0) text += ",line=" + std::to_string(one.line) + ",col=" + std::to_string(one.column);
    text += ",title=" + github(one.name, true) + "::" + github(one.why, false) + "\n";
  }
  return text;
}

Json json_of(const std::vector<TestResult>& results) {
  Json all = Json::array();
  std::size_t passed = 0;
  for (const TestResult& result : results) {
    Json cases = Json::array();
    for (const TestCase& one : result.cases) {
      cases.push_back({{"name", one.name}, {"end", word_of(one.end)}, {"why", one.why}});
      if (one.line > 0) {
        cases.back().update(Json{{"file", one.file}, {"line", one.line}, {"column", one.column}});
      }
      if (!one.look.empty()) cases.back()["look"] = one.look;
    }
    passed += result.end() == End::passed ? 1 : 0;
    all.push_back({{"file", result.file},
                   {"end", word_of(result.end())},
                   {"attempts", result.attempts},
                   {"wall_s", result.wall_s},
                   {"journal", result.journal},
                   {"cases", cases}});
  }
  return {{"passed", passed}, {"tests", results.size()}, {"results", all}};
}

}  // namespace isochron::app
