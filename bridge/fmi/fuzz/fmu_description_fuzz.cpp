// Any text as a model description: it may be refused, with a place, and nothing else.

#include <algorithm>

#include "bridge/fmi/description.hpp"
#include "bridge/fmi/values.hpp"
#include "core/input_error.hpp"

using namespace isochron;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const fmi::Description d = fmi::read_description({reinterpret_cast<const char*>(data), size}, "m.xml");
    std::size_t most = 0;
    for (const fmi::Variable& variable : d.variables) {
      try {
        const std::size_t count = value_count(d, variable, {});
        if (count <= 4096) (void)parse_values(variable.start, variable, count);
        most = std::max(most, count);
      } catch (const InputError&) {
      }
      (void)d.unit_of(variable);
    }
    if (most > (std::size_t{1} << 40U)) __builtin_trap();
  } catch (const InputError& error) {
    for (const Mistake& mistake : error.mistakes()) {
      if (mistake.place.file.empty()) __builtin_trap();
    }
  }
  return 0;
}
