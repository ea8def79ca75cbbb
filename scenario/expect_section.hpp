#pragma once
// The part of a scenario's vocabulary for what must hold: a map of names with expectations, or a list of expectations,
// which are then called by their own text. The language itself is in expect/sentence.hpp.

#include <string>
#include <vector>

#include "core/input_error.hpp"
#include "expect/expectation.hpp"

namespace isochron {

struct ExpectSection {
  struct One {
    std::string name, text;
    Place place;               // where the text begins
    bool in_one_line = false;  // the text stands in the file as it is, so that columns can be counted
  };
  std::vector<One> all;
  [[nodiscard]] bool empty() const { return all.empty(); }
};

/// What they say. Mistakes are appended.
std::vector<expect::Expectation> read_expectations(const ExpectSection& section, std::vector<Mistake>& mistakes);

/// After reading: a text in quotation marks begins behind them; one over several lines has no columns.
void settle_places(ExpectSection& section, const std::string& file_text);

}  // namespace isochron
