#pragma once
// What `isochron test` found out, and the forms in which it is told: lines for people, JUnit XML for CI servers,
// GitHub's annotations, JSON. A test is one file: a scenario that was run, or a journal that was judged. Its cases are
// the run itself and each expectation.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace isochron::app {

struct TestCase {
  /// failed: an expectation does not hold. broken: it could not be found out. stopped: Ctrl-C came before.
  enum class End { passed, failed, broken, stopped };
  std::string name;
  End end = End::passed;
  std::string why;
  std::string file;  // where to look, for an annotation
  int line = 0, column = 0;
  std::string look = {};  // "isochron view RUN.mcap --at 3.21s": where it was first violated; "" = nowhere
};

struct TestResult {
  std::string file;
  std::vector<TestCase> cases;
  std::string journal;  // "" = none
  double wall_s = 0;
  int attempts = 1;
  bool bad_input = false;  // the file itself is wrong; nothing was run

  [[nodiscard]] TestCase::End end() const;  // the worst of its cases
};

/// From the report of a run, as JSON.
TestResult result_of_report(const std::string& file, const nlohmann::ordered_json& report);
/// One case that says why there is nothing else.
TestResult result_without_run(const std::string& file, TestCase::End end, const std::string& why);

/// "PASS ships.yaml  4 cases, 1.2 s" and a line for each case that did not pass.
std::string lines_of(const TestResult& result);
std::string summary_of(const std::vector<TestResult>& results);
std::string junit_of(const std::vector<TestResult>& results);
/// A line for each case that did not pass, as GitHub's log takes it.
std::string annotations_of(const TestResult& result);
nlohmann::ordered_json json_of(const std::vector<TestResult>& results);

}  // namespace isochron::app
