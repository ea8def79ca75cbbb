// What strangers in the simulated network send over a wire, in each form, as datagrams and as a stream.

#include <cstddef>
#include <cstdint>

#include "core/ensure.hpp"
#include "run/wire_format.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace isochron;
  if (size == 0) return 0;
  static const WireFormat formats[] = {
      {WireForm::json, {{"t"}, {"u", WireType::float64, true, 3}, {"scan", WireType::float64, true, 0}}},
      {WireForm::little, {{"magic", WireType::uint16}, {"u", WireType::float32, true, 3}}},
      {WireForm::big, {{"n", WireType::int64}, {"u", WireType::float64}}}};
  const WireFormat& format = formats[data[0] % 3];
  auto rest = std::as_bytes(std::span(data + 1, size - 1));
  WireFormat::Taken taken;
  if (format.decode(rest, taken).ok()) ENSURE(taken.values.size() == format.fields().size(), "a field for each");
  while (const std::size_t first = format.first_message(rest)) {
    ENSURE(first <= rest.size(), "a message is part of its stream");
    if (format.decode(rest.first(first), taken).ok()) {
      std::vector<std::byte> out;
      format.encode(taken.values, out);
    }
    rest = rest.subspan(first);
  }
  return 0;
}
