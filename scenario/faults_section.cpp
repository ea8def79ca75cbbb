#include "scenario/faults_section.hpp"

namespace isochron {

Result<Share, std::string> Share::parse(const std::string& text) {
  const auto value = link::parse_share(text);
  if (!value) return fail(value.error());
  return Share{*value};
}

Result<DelayText, std::string> DelayText::parse(const std::string& text) {
  const auto value = link::parse_delay(text);
  if (!value) return fail(value.error());
  return DelayText{value->first, value->second};
}

link::Faults to_faults(const FaultsSection& section, std::uint64_t scenario_seed) {
  return {section.loss.value,   section.duplicate.value, section.delay.delay,
          section.delay.jitter, section.reorder,         section.seed.value_or(scenario_seed)};
}

}  // namespace isochron
