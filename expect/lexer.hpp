#pragma once
// The words of an expectation. A name goes on as long as it looks like one, so that `predator/planner.response` and
// `/world/state:bodies[26]` are names; to subtract or divide, put spaces around the sign.
//
//     name     a letter, _ or / at its start; then letters, digits, _ and, between two of them, . / - : and [3]
//              or anything between backquotes, for names that have spaces in them
//     text     between quotation marks, " or '
//     number   12  0.5  1e-3, with a unit where it is a time: ns us µs ms s min h; % divides by a hundred
//
// Promises: never reads beyond the text. Every token knows where it stands.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace isochron::expect {

struct Token {
  enum class Kind { end, number, time, name, text, sign };
  Kind kind = Kind::end;
  std::string word;     // of a number as it was written
  double value = 0;     // of a number; of a time, seconds
  std::int64_t ns = 0;  // of a time
  std::size_t at = 0, end = 0;
};

/// What is wrong with an expectation, and where in its text.
struct TextMistake {
  std::size_t at = 0;
  std::string what, hint;
};

inline constexpr std::size_t longest_expectation = 4000;

/// Ends with a token of kind end.
Result<std::vector<Token>, TextMistake> tokens_of(std::string_view text);

}  // namespace isochron::expect
