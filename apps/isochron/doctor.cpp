#include "apps/isochron/command.hpp"
#include "apps/isochron/machine.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/foreign_text.hpp"

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

std::string as_json(const std::vector<Finding>& findings) {
  nlohmann::ordered_json json{{"machine", describe_machine()}, {"findings", nlohmann::json::array()}};
  for (const Finding& f : findings) {
    json["findings"].push_back(
        {{"what", f.what}, {"found", f.found}, {"good", f.good}, {"cost", f.cost}, {"mend", f.mend}});
  }
  return json_text(json, 2) + "\n";
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  auto json = std::make_shared<bool>(false);
  CLI::App* verb =
      app.add_subcommand("doctor", "what this machine allows, what is missing and what that costs, and how to fix it");
  verb->add_flag("--json", *json, "for machines");
  verb->callback([&action, json] {
    action = [json] {
      const auto findings = examine_machine();
      print(*json ? as_json(findings) : as_text(findings));
      return exit_fine;
    };
  });
}

}  // namespace isochron::app
