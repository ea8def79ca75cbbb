#pragma once
// A scenario is a program: it names executables, libraries and hosts, and a journal has its scenario inside. So files
// from elsewhere are not run before somebody has seen what they would do.
//
// A scenario file is this user's own if it belongs to the user (or to root, or to whoever called sudo) and nobody else
// can write it. A journal is its own if it bears a mark that only this user's Isochron can make: a proof over the
// scenario inside, by a key in the user's state folder (~/.local/state/isochron/origin.key).
//
// Threads: any. Fails: where the key cannot be kept, journals have no mark, and replaying them needs --trust.

#include <string>
#include <vector>

#include "scenario/scenario.hpp"

namespace isochron {

/// What running it executes, one line each.
[[nodiscard]] std::vector<std::string> executed_by(const Scenario& scenario);
/// Libraries that are not Isochron's own. Loading one runs code in it already.
[[nodiscard]] std::vector<std::string> foreign_libraries(const Scenario& scenario);

/// Why a scenario file is not this user's own; "" = it is.
[[nodiscard]] std::string why_foreign(const std::string& file);

/// For a scenario's text and folder; "" where no key can be kept.
[[nodiscard]] std::string own_mark(const std::string& text, const std::string& folder);
[[nodiscard]] bool bears_own_mark(const std::string& mark, const std::string& text, const std::string& folder);

}  // namespace isochron
