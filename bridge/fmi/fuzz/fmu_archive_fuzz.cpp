// Any bytes as an FMU or an SSP file: what is read has the size that it claims, and no name leads outside.

#include "bridge/fmi/package.hpp"
#include "bridge/fmi/ssp.hpp"
#include "core/input_error.hpp"

using namespace isochron;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const fmi::Archive archive = fmi::Archive::of_bytes(std::as_bytes(std::span(data, size)), "fuzz.fmu");
    for (const std::string& name : archive.names()) {
      const bool outside = name.starts_with('/') || name.starts_with("../") || name.find("/../") != std::string::npos;
      if (outside || name.ends_with("/..") || name == "..") __builtin_trap();
      try {
        if (archive.read(name, 1 << 16).size() > (1U << 16U)) __builtin_trap();
      } catch (const InputError&) {
      }
    }
    (void)platforms_of(archive);
    if (archive.has("SystemStructure.ssd")) (void)scenario_text(read_ssp(archive), "1ms");
    (void)description_of(archive);
  } catch (const InputError&) {
  }
  return 0;
}
