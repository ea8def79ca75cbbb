#include "world/names.hpp"

#include "core/nearest_name.hpp"

namespace isochron::world {

InputError no_such(std::string_view kind, std::string_view name, const std::vector<std::string>& names) {
  return InputError(Place{}, "there is no " + std::string(kind) + " `" + std::string(name) + "`",
                    names.empty() ? "the model has none" : nearest_hint(name, names));
}

}  // namespace isochron::world
