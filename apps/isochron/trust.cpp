#include "apps/isochron/trust.hpp"

#include "core/input_error.hpp"
#include "run/recorded_scenario.hpp"
#include "run/trust.hpp"

namespace isochron::app {
namespace {

void refuse(const Scenario& scenario, const std::string& file, const std::string& why) {
  const auto executed = executed_by(scenario);
  if (executed.empty()) return;  // it executes nothing but Isochron
  std::string what = why + "; running it would execute, in " + scenario.folder + ":";
  for (const std::string& line : executed) what += "\n  " + line;
  throw InputError({file, 0, 0}, what + "\n", "look at these, then give --trust");
}

}  // namespace

void add_trust_flag(CLI::App& verb, bool& trust) {
  verb.add_flag("--trust", trust, "run a file that is not yours, or was not recorded by you; see docs/security.md");
}

void demand_trust(const Scenario& scenario, const std::string& file, bool trust) {
  if (const std::string why = why_foreign(file); !trust && !why.empty()) refuse(scenario, file, why);
}

void demand_trust(const Scenario& scenario, McapReader& journal, bool trust) {
  if (trust || recorded_scenario::is_own(journal)) return;
  refuse(scenario, journal.name(), "was not recorded by this user on this machine");
}

}  // namespace isochron::app
