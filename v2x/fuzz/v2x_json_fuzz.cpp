// Any text as a JSON message: read or refused; what is read may be encoded or refused, without a crash.

#include <cstdint>
#include <string_view>

#include "v2x/codec/codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace isochron::v2x;
  const auto frame = from_json({reinterpret_cast<const char*>(data), size});
  if (frame.ok()) (void)encode(*frame).ok();
  return 0;
}
