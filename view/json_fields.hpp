#pragma once
// Fields of what a page says, which may be of any type, or missing.

#include <nlohmann/json.hpp>
#include <string>

#include "core/foreign_text.hpp"

namespace isochron::view {

inline std::string text_in(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? foreign_text(found->get_ref<const std::string&>(), 500) : "";
}

inline double number_in(const nlohmann::json& json, const char* key, double otherwise) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<double>() : otherwise;
}

}  // namespace isochron::view
