#include "expect/judgement.hpp"

#include <algorithm>
#include <cmath>

#include "core/time_text.hpp"

namespace isochron::expect {

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::held:
      return "held";
    case Verdict::violated:
      return "violated";
    case Verdict::unseen:
      return "unseen";
  }
  return "";
}

std::string to_string(const ShownValue& value) {
  const std::string equals = value.what + " = ";
  if (value.quantity == Quantity::truth) return equals + (value.value != 0 ? "true" : "false");
  if (value.quantity == Quantity::time && std::abs(value.value) < 1e9) {
    return equals + format_ns_short(std::llround(value.value * 1e9));
  }
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value.value);
  return equals + text;
}

std::string to_string(const Violation& violation) {
  std::string text = "at " + to_string(violation.at);
  if (violation.until > violation.at) text += " (until " + to_string(violation.until) + ")";
  for (std::size_t i = 0; i < violation.values.size(); ++i) {
    text += (i == 0 ? ": " : ", ") + to_string(violation.values[i]);
  }
  return text;
}

bool all_held(const std::vector<Judgement>& judgements) {
  return std::ranges::all_of(judgements, [](const Judgement& judgement) { return judgement.verdict == Verdict::held; });
}

std::string complaint(const std::vector<Judgement>& judgements) {
  std::string names;
  std::size_t count = 0;
  for (const Judgement& judgement : judgements) {
    if (judgement.verdict == Verdict::held) continue;
    names += (count++ == 0 ? "" : ", ") + judgement.name;
  }
  if (count == 0) return "";
  return std::to_string(count) + " of " + std::to_string(judgements.size()) +
         (count == 1 ? " expectations does not hold: " : " expectations do not hold: ") + names;
}

}  // namespace isochron::expect
