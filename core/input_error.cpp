#include "core/input_error.hpp"

namespace isochron {
namespace {

std::string join(const std::vector<Mistake>& mistakes) {
  std::string text;
  for (const Mistake& mistake : mistakes) {
    if (!text.empty()) text += '\n';
    text += to_string(mistake);
  }
  return text;
}

}  // namespace

std::string to_string(const Place& place) {
  std::string text = place.file;
  if (place.line > 0) text += (text.empty() ? "" : ":") + std::to_string(place.line);
  if (place.line > 0 && place.column > 0) text += ":" + std::to_string(place.column);
  return text;
}

std::string to_string(const Mistake& mistake) {
  std::string text = to_string(mistake.place);
  if (!text.empty()) text += ": ";
  text += mistake.what;
  if (!mistake.hint.empty()) text += "; " + mistake.hint;
  return text;
}

InputError::InputError(std::vector<Mistake> mistakes)
    : std::runtime_error(join(mistakes)), mistakes_(std::move(mistakes)) {}

InputError::InputError(Place place, std::string what, std::string hint)
    : InputError(std::vector<Mistake>{{std::move(place), std::move(what), std::move(hint)}}) {}

}  // namespace isochron
