// Any text as a message in XER: read or refused; what is read may be encoded or refused, and a MAP be laid out.

#include <cstdint>
#include <string_view>

#include "v2x/codec/codec.hpp"
#include "v2x/station/map_shapes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace isochron::v2x;
  const auto frame = from_any_text({reinterpret_cast<const char*>(data), size});
  if (!frame.ok()) return 0;
  (void)encode(*frame).ok();
  if (const auto* map = std::get_if<MapData>(&frame->message)) (void)shapes_of(*map, GeoFrame(0, 0)).size();
  return 0;
}
