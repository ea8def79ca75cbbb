#include "v2x/codec/uper_reader.hpp"

#include "v2x/codec/describe_bsm.hpp"
#include "v2x/codec/describe_map.hpp"

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

// Nodes are most of a MAP, and nearly all are two offsets with at most a change of width or height. Those are read
// here in one look at the bits; describe() remains the definition, and everything else goes through it.

/// A node without extensions, given as x and y. False if it is another; then nothing was read.
bool UperReader::plain_node(Node& v) {
  constexpr unsigned widths[] = {10, 11, 12, 13, 14, 16, 0, 0};
  if (in_.left() < 37) return false;
  const std::uint64_t word = in_.peek();  // extended 1, attributes 1, form 3, x, y
  const auto form = static_cast<unsigned>(word >> 59 & 7);
  const unsigned width = widths[form];
  if (word >> 63 != 0 || width == 0) return false;
  const auto x = static_cast<std::int64_t>(word << 5 >> (64 - width));
  const auto y = static_cast<std::int64_t>(word << (5 + width) >> (64 - width));
  const std::int64_t middle = std::int64_t{1} << (width - 1);
  v.form = static_cast<NodeForm>(form);
  v.x_m = quantity(scale::node(10), x - middle);  // all widths count in cm
  v.y_m = quantity(scale::node(10), y - middle);
  in_.skip(5 + 2 * width);
  if ((word >> 62 & 1) != 0) v.attributes.emplace();
  return true;
}

/// Attributes without lists and extensions. False if there are some; then nothing was read.
bool UperReader::plain_attributes(NodeAttributes& v) {
  constexpr std::uint64_t width = 4;
  constexpr std::uint64_t elevation = 2;
  if (in_.left() < 28) return false;
  std::uint64_t word = in_.peek();
  const std::uint64_t preamble = word >> 56;
  if ((preamble & ~(width | elevation)) != 0) return false;
  word <<= 8;
  if ((preamble & width) != 0) {
    v.width_change_m = quantity(scale::width_change, static_cast<std::int64_t>(word >> 54) + scale::width_change.low);
    word <<= 10;
  }
  if ((preamble & elevation) != 0) {
    v.elevation_change_m =
        quantity(scale::elevation_change, static_cast<std::int64_t>(word >> 54) + scale::elevation_change.low);
  }
  in_.skip(8 + 10u * static_cast<unsigned>(std::popcount(preamble)));
  return true;
}

bool UperReader::value(Struct, Node& v) {
  if (!plain_node(v)) return describe(*this, v);
  if (!v.attributes || plain_attributes(*v.attributes)) return true;
  return describe(*this, *v.attributes) || path_.in("attributes");
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
