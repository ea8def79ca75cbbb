#include "v2x/codec/uper_reader.hpp"

#include "v2x/codec/describe_bsm.hpp"

namespace isochron::v2x {

/// A value of a later edition counts on behind the known ones.
bool UperReader::extended_value(unsigned count, std::uint64_t& v) {
  if (!small_number(v)) return false;
  v += count;
  return v <= 255 || fail("value " + std::to_string(v) + " is beyond all editions");
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

bool UperReader::extended_flags(Flags& v) {
  std::size_t n = 0;
  if (!length(n)) return false;
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
bool read_part(UperReader& in, PartII& part) {
  return in.open(part.emplace<T>());
}

}  // namespace

/// A container that does not decode is kept as octets with the reason: one bad container costs nobody the position.
bool UperReader::value(Part, PartII& v) {
  std::uint64_t id = 0;
  if (!bits(6, id)) return path_.in("partII-Id");
  const BitReader before = in_;
  if (id == 0 && read_part<VehicleSafetyExtensions>(*this, v)) return true;
  if (id == 1 && read_part<SpecialVehicleExtensions>(*this, v)) return true;
  if (id == 2 && read_part<SupplementalVehicleExtensions>(*this, v)) return true;
  OpaquePart opaque{static_cast<int>(id), {}, id <= 2 ? to_string(path_.error()) : ""};
  path_.clear();
  in_ = before;
  if (!value(Open{}, opaque.value)) return path_.in("partII-Value");
  v = std::move(opaque);
  return true;
}

}  // namespace isochron::v2x
