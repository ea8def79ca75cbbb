#include "v2x/codec/uper_reader.hpp"

#include "v2x/codec/describe_bsm.hpp"

namespace isochron::v2x {

bool UperReader::enumerated(unsigned count, bool extensible, std::uint64_t& v) {
  std::uint64_t extended = 0;
  if (extensible && !bits(1, extended)) return false;
  if (extended != 0) {
    if (!small_number(v)) return false;
    v += count;
    return v <= 255 || fail("value " + std::to_string(v) + " is beyond all editions");
  }
  if (!bits(bits_for(count - 1), v)) return false;
  return v < count || fail(range_text(static_cast<std::int64_t>(v), 0, count - 1));
}

/// X.691 11.6: below 64 in six bits; larger ones, which no edition uses, as octets with a length.
bool UperReader::small_number(std::uint64_t& v) {
  std::uint64_t large = 0;
  if (!bits(1, large)) return false;
  if (large == 0) return bits(6, v);
  std::size_t n = 0;
  if (!length(n)) return false;
  if (n > 4) return fail("a number of " + std::to_string(n) + " octets is beyond all editions");
  return bits(static_cast<unsigned>(n) * 8, v);
}

bool UperReader::length(std::size_t& n) {
  std::uint64_t v = 0;
  if (!bits(8, v)) return false;
  if (v < 128) return n = v, true;
  if (v >= 192) return fail("a length of 16384 or more, which no radio frame holds");
  std::uint64_t low = 0;
  if (!bits(8, low)) return false;
  n = (v & 63) << 8 | low;
  return true;
}

bool UperReader::value(FlagBits s, Flags& v) {
  std::uint64_t extended = 0;
  if (s.extensible && !bits(1, extended)) return false;
  std::size_t n = s.size;
  if (extended != 0 && !length(n)) return false;
  if (n > 64) return fail(std::to_string(n) + " flags are beyond all editions");
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  const unsigned rest = n > 32 ? 32 : static_cast<unsigned>(n);
  if (!bits(static_cast<unsigned>(n) - rest, high) || !bits(rest, low)) return false;
  v = Flags(static_cast<unsigned>(n), high << 32 | low);
  return true;
}

bool UperReader::value(Text s, std::string& v) {
  std::uint64_t n = 0;
  if (!value(Integer{s.low, s.high}, n)) return false;
  if (n * 7 > in_.left()) return cut_short();
  v.resize(n);
  std::uint64_t letter = 0;
  for (auto& c : v) {
    if (!bits(7, letter)) return false;
    c = static_cast<char>(letter);
  }
  return true;
}

bool UperReader::read_additions(Additions& additions) {
  std::uint64_t large = 0;
  std::uint64_t n = 0;
  if (!bits(1, large)) return false;
  if (large != 0 ? !length(n) : !bits(6, n)) return false;
  if (large == 0) ++n;
  if (n > in_.left()) return cut_short();
  additions.resize(n);
  std::uint64_t present = 0;
  for (auto& addition : additions) {
    if (!bits(1, present)) return false;
    if (present != 0) addition.emplace();
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (additions[i] && !value(Open{}, *additions[i])) return path_.in(i);
  }
  return true;
}

namespace {

template <class T>
bool read_part(std::span<const std::uint8_t> octets, PartII& part, CodecError& error) {
  UperReader inner(octets);
  if (!describe(inner, part.emplace<T>())) return error = inner.error(), false;
  return true;
}

}  // namespace

/// A container that does not decode is kept as octets with the reason: one bad container costs nobody the position.
bool UperReader::value(Part, PartII& v) {
  int id = 0;
  Bytes octets;
  if (!value(Integer{0, 63}, id)) return path_.in("partII-Id");
  if (!value(Open{}, octets)) return path_.in("partII-Value");
  CodecError error;
  if (id == 0 && read_part<VehicleSafetyExtensions>(octets, v, error)) return true;
  if (id == 1 && read_part<SpecialVehicleExtensions>(octets, v, error)) return true;
  if (id == 2 && read_part<SupplementalVehicleExtensions>(octets, v, error)) return true;
  v = OpaquePart{id, std::move(octets), id <= 2 ? to_string(error) : ""};
  return true;
}

}  // namespace isochron::v2x
