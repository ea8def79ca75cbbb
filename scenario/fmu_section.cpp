#include "scenario/fmu_section.hpp"

namespace isochron {

void SectionReader::read(const Value& value, VariableTexts& target) {
  if (value.kind != Value::Kind::map) return mistake(value.place, "names with their values are expected here", "");
  for (const Value::Entry& entry : value.entries) {
    if (entry.key.empty() || entry.key.size() > 500) mistake(entry.key_place, "this is not a name", "");
    auto& [name, text] = target.emplace_back(entry.key, "");
    target.places[name] = entry.value.place.line > 0 ? entry.value.place : entry.key_place;
    if (entry.value.kind != Value::Kind::list) {
      read(entry.value, text);
      continue;
    }
    for (const Value& item : entry.value.items) {
      std::string one;
      read(item, one);
      text += (text.empty() ? "" : " ") + one;
    }
  }
}

}  // namespace isochron
