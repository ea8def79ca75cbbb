#include <cstddef>
#include <cstdint>
#include <string>

#include "scenario/scenario.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    (void)isochron::read_scenario(text, "fuzz.yaml", "/nonexistent");
  } catch (const isochron::InputError&) {
  }
  return 0;
}
