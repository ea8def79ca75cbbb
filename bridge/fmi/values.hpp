#pragma once
// Values of variables as text, in scenarios and in model descriptions, and as they lie in memory.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "bridge/fmi/description.hpp"

namespace isochron::fmi {

/// Variables that were given a value, by name.
using GivenValues = std::vector<std::pair<std::string, std::string>>;

/// How many values a variable has: 1, or the product of an array's lengths, of which some may be given.
/// Fails: InputError where an array is too large.
std::size_t value_count(const Description& description, const Variable& variable, const GivenValues& given);

/// Numbers and truth values, separated by spaces; one alone stands for all of an array. Not of text and binary.
/// Fails: InputError that says what is expected.
std::vector<std::byte> parse_values(const std::string& text, const Variable& variable, std::size_t count);

}  // namespace isochron::fmi
