#pragma once
// How the outcome of an expectation is shown on a terminal.

#include <string>

#include "apps/isochron/terminal.hpp"
#include "core/time_text.hpp"
#include "expect/judgement.hpp"

namespace isochron::app {

/// What shows that moment in the page.
inline std::string view_command(const std::string& journal, SimTime at) {
  return "isochron view " + journal + " --at " + to_string(at);
}

/// "held      apart: held at 2001 samples"
inline std::string outcome_line(const expect::Judgement& outcome) {
  const std::string verdict = outcome.verdict == expect::Verdict::held       ? green("held    ")
                              : outcome.verdict == expect::Verdict::violated ? red("violated")
                                                                             : yellow("unseen  ");
  return verdict + "  " + outcome.name + ": " + outcome.why;
}

}  // namespace isochron::app
