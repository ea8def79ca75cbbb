#pragma once
// One expectation of a scenario, ready to be judged.

#include <string>
#include <string_view>
#include <vector>

#include "core/input_error.hpp"
#include "expect/meaning.hpp"

namespace isochron::expect {

struct Expectation {
  std::string name;
  Place place;              // where its text begins
  bool in_one_line = true;  // then a mistake's column can be told
  Meaning meaning;

  [[nodiscard]] const std::string& text() const { return meaning.sentence.text; }
};

/// What is wrong with a text, placed where it stands.
Mistake placed(const TextMistake& mistake, const Place& text, bool in_one_line);

/// Reads one expectation; its mistake is appended if it has one.
std::optional<Expectation> read_expectation(std::string name, std::string_view text, Place place, bool in_one_line,
                                            std::vector<Mistake>& mistakes);
/// Everything wrong with names and units.
void check_expectation(const Expectation& expectation, const Vocabulary& known, std::vector<Mistake>& mistakes);

}  // namespace isochron::expect
