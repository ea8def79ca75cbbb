#pragma once
// What became of an expectation in one run, and how that is said.

#include <cstdint>
#include <string>
#include <vector>

#include "core/input_error.hpp"
#include "core/time.hpp"
#include "journal/quantity.hpp"

namespace isochron::expect {

/// held; violated; unseen: no sample ever came, so that nobody can say.
enum class Verdict { held, violated, unseen };
[[nodiscard]] const char* to_string(Verdict verdict);

/// A value that says why: distance(prey, predator) = 0.83.
struct ShownValue {
  std::string what;
  double value = 0;
  Quantity quantity = Quantity::number;
};
std::string to_string(const ShownValue& value);

/// From a first sample at which it did not hold until the last one in a row.
struct Violation {
  SimTime at, until;
  std::vector<ShownValue> values;
};
std::string to_string(const Violation& violation);

struct Judgement {
  static constexpr std::size_t most_told = 10;  // violations that are told one by one

  std::string name;
  std::string text;  // as it was written
  Place place;       // in the scenario
  Verdict verdict = Verdict::unseen;
  std::uint64_t samples = 0;       // at which it was looked at
  std::uint64_t violations = 0;    // times that it ceased to hold
  std::vector<Violation> told;     // the first of them
  std::vector<ShownValue> values;  // of a summary: what it came to
  std::string why;                 // one sentence
};

[[nodiscard]] bool all_held(const std::vector<Judgement>& judgements);
/// "2 of 5 expectations do not hold: apart, quick"; "" if all do.
[[nodiscard]] std::string complaint(const std::vector<Judgement>& judgements);

}  // namespace isochron::expect
