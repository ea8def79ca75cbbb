// Any octets as a frame: decoded or refused; what is decoded survives encoding, and now and then JSON, which takes ten
// times as long as all the rest.

#include <cstdint>
#include <cstdlib>

#include "v2x/codec/codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace isochron::v2x;
  const auto frame = decode({data, size});
  if (!frame.ok()) return 0;
  const auto octets = encode(*frame);
  if (!octets.ok()) std::abort();
  const auto again = decode(*octets);
  if (!again.ok() || !(*again == *frame)) std::abort();
  if (data[size - 1] % 16 != 0) return 0;
  const auto told = from_json(to_json(*frame));
  if (!told.ok() || !(*told == *frame)) std::abort();
  return 0;
}
