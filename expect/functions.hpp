#pragma once
// The functions of the language of expectations: one table.

#include <optional>
#include <string>
#include <vector>

#include "expect/meaning.hpp"

namespace isochron::expect {

struct Function {
  enum class Kind { of_values, of_things, summary };
  std::string name;
  Kind kind = Kind::of_values;
  std::size_t least = 1, most = 1;  // arguments
  const char* example = "";
  Operation operation = Operation::absolute;   // of values and things
  const char* part = "";                       // of things: what is read of each, .x .y .z
  Gathered::What what = Gathered::What::last;  // of a summary
  double share = 0;                            // of a quantile
};

/// `p99.9` and its like are quantiles.
std::optional<Function> find_function(const std::string& name);
std::vector<std::string> function_names();

}  // namespace isochron::expect
