// Any bytes as an executable: told or refused, without reading outside of them.

#include <cstdint>
#include <cstring>

#include "programs/executable.hpp"
#include "programs/machine_code.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace isochron::programs;
  const auto bytes = std::as_bytes(std::span(data, size));
  (void)read_elf([&](std::uint64_t offset, std::span<std::byte> into) {
    if (offset > bytes.size() || into.size() > bytes.size() - offset) return false;
    if (!into.empty()) std::memcpy(into.data(), bytes.data() + offset, into.size());
    return true;
  });
  (void)interpreter_of({reinterpret_cast<const char*>(data), size});
  (void)look_at_code(bytes);
  return 0;
}
