#include "apps/isochron/command.hpp"
#include "apps/isochron/machine.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/foreign_text.hpp"
#include "core/input_error.hpp"
#include "programs/executable.hpp"

namespace isochron::app {
namespace {

std::string as_text(const std::vector<Finding>& findings) {
  std::vector<std::vector<std::string>> rows;
  for (const Finding& finding : findings) {
    rows.push_back({finding.good ? green("fine") : yellow("weak"), finding.what, bold(finding.found)});
  }
  std::string text = table(rows);
  for (const Finding& finding : findings) {
    if (finding.cost.empty()) continue;
    text += "\n" + finding.what + ": " + finding.cost + ".\n";
    if (!finding.mend.empty()) text += "  " + finding.mend + "\n";
  }
  return text;
}

std::string as_json(const std::vector<Finding>& findings, const std::vector<std::string>& program) {
  nlohmann::ordered_json json{{"machine", describe_machine()}};
  if (!program.empty()) json["program"] = program;
  json["findings"] = nlohmann::json::array();
  for (const Finding& f : findings) {
    json["findings"].push_back(
        {{"what", f.what}, {"found", f.found}, {"good", f.good}, {"cost", f.cost}, {"mend", f.mend}});
  }
  return json_text(json, 2) + "\n";
}

std::vector<Finding> examine_program(const std::vector<std::string>& run) {
  const auto remarks = programs::how_it_is_followed(run);
  if (!remarks) throw InputError({}, remarks.error(), "give its path, or its name if it is on the PATH");
  std::vector<Finding> findings;
  for (const programs::Remark& r : *remarks) findings.push_back({r.what, r.found, r.good, r.means, r.mend});
  return findings;
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  auto json = std::make_shared<bool>(false);
  auto program = std::make_shared<std::vector<std::string>>();
  CLI::App* verb =
      app.add_subcommand("doctor", "what this machine allows, what is missing and what that costs, and how to fix it");
  verb->add_flag("--json", *json, "for machines");
  verb->add_option("program", *program,
                   "instead of the machine: a program and its arguments; what of it is followed with `clock: virtual`, "
                   "what is not, and what to do");
  verb->callback([&action, json, program] {
    action = [json, program] {
      const auto findings = program->empty() ? examine_machine() : examine_program(*program);
      print(*json ? as_json(findings, *program) : as_text(findings));
      return exit_fine;
    };
  });
}

}  // namespace isochron::app
