// Any text as a schema and any bytes as a record: the text up to the first zero byte, the record after it.
#include <algorithm>
#include <cstdint>

#include "journal/decode.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace isochron;
  const std::span<const std::uint8_t> all(data, size);
  const auto zero = static_cast<std::size_t>(std::find(all.begin(), all.end(), 0) - all.begin());
  const std::string_view text(reinterpret_cast<const char*>(data), zero);
  auto schema = parse_ros2msg("p/msg/T", text);
  if (!schema) return 0;
  const Decoder decoder(std::move(*schema));
  const auto record = std::as_bytes(all.subspan(std::min(zero, size)));
  (void)decoder.print(record);
  (void)decoder.number(record, "x");
  return 0;
}
