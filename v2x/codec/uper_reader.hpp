#pragma once
// Reads structures from UPER. One of the ios of fields.hpp.
//
// Promises: never reads beyond its octets; every list is bounded by the standard and by the bits that are left.

#include "v2x/codec/describe_map.hpp"
#include "v2x/codec/error_path.hpp"
#include "v2x/codec/fields.hpp"

namespace isochron::v2x {

class UperReader {
 public:
  static constexpr bool looks_only = false;

  /// The octets and BitReader::padding more.
  explicit UperReader(std::span<const std::uint8_t> padded_octets) : in_(padded_octets) {}
  [[nodiscard]] CodecError error() const {
    CodecError e = path_.error();
    e.bit = in_.position();
    return e;
  }
  bool fail(std::string what) { return path_.fail(std::move(what)); }
  bool in(const char* field) { return path_.in(field); }

  template <class Ext, class... F>
  bool sequence(Ext& additions, const F&... field) {
    constexpr unsigned optionals = (0u + ... + F::optional);
    constexpr bool extensible = !std::is_same_v<std::remove_const_t<Ext>, Closed>;
    std::uint64_t preamble = 0;
    if (!bits(optionals + extensible, preamble)) return false;
    [[maybe_unused]] unsigned next = optionals;
    if (!(one(field, preamble, next) && ...)) return false;
    if constexpr (extensible) {
      if ((preamble >> optionals & 1) != 0) return read_additions(additions) || path_.in("extensions");
    }
    return true;
  }

  template <class Names, class Kind, class Unknown, class F>
  bool choice(const Names& names, Kind& kind, Unknown& unknown, F&& content) {
    if constexpr (!std::is_same_v<std::remove_const_t<Unknown>, Closed>) {
      std::uint64_t extended = 0;
      if (!bits(1, extended)) return false;
      if (extended != 0) {
        std::uint64_t index = 0;
        if (!small_number(index)) return false;
        if (index + names.size() > 255) return fail("an alternative beyond all editions");
        kind = static_cast<Kind>(index + names.size());
        return value(Open{}, unknown);
      }
    }
    std::uint64_t index = 0;
    if (!bits(bits_for(names.size() - 1), index)) return false;
    if (index >= names.size()) return fail("alternative " + std::to_string(index) + " does not exist");
    kind = static_cast<Kind>(index);
    return content(kind) || path_.in(names[index]);
  }

  template <class T>
  ISOCHRON_V2X_INLINE bool value(Integer s, T& v) {
    std::uint64_t number = 0;
    const auto range = static_cast<std::uint64_t>(s.high - s.low);
    if (!bits(bits_for(range), number)) return false;
    if (number > range) return outside(s, number);
    v = static_cast<T>(s.low + static_cast<std::int64_t>(number));
    return true;
  }
  ISOCHRON_V2X_INLINE bool value(const Scale& s, Known& v) {
    std::int64_t number = 0;
    if (!value(Integer{s.low, s.high}, number)) return false;
    if (number != s.unavailable) v = quantity(s, number);
    return true;
  }
  ISOCHRON_V2X_INLINE bool value(const Scale& s, double& v) {
    std::int64_t number = 0;
    if (!value(Integer{s.low, s.high}, number)) return false;
    v = quantity(s, number);
    return true;
  }
  template <class T>
  bool value(Code s, T& v) {
    std::uint64_t number = 0;
    if (s.extensible) {
      if (!bits(1, number)) return false;
      if (number != 0) {
        if (!extended_value(s.count, number)) return false;
        v = static_cast<T>(number);
        return true;
      }
    }
    return value(Integer{0, s.count - 1}, v);
  }
  template <class E>
  bool value(Enum, E& v) {
    constexpr EnumNames names = names_of(E{});
    return value(Code{names.count, names.extensible}, v);
  }
  ISOCHRON_V2X_INLINE bool value(FlagBits s, Flags& v) {
    std::uint64_t number = 0;
    if (s.extensible) {
      if (!bits(1, number)) return false;
      if (number != 0) return extended_flags(v);
    }
    if (!bits(s.size, number)) return false;
    v = Flags(s.size, number);
    return true;
  }
  bool value(Text s, std::string& v);
  bool value(Octets s, Bytes& v) {
    std::uint64_t n = 0;
    return value(Integer{s.low, s.high}, n) && (in_.read_octets(n, v) || cut_short());
  }
  bool value(Id32, std::uint32_t& v) { return value(Integer{0, 0xffffffff}, v); }
  ISOCHRON_V2X_INLINE bool value(Bool, bool& v) {
    std::uint64_t number = 0;
    if (!bits(1, number)) return false;
    v = number != 0;
    return true;
  }
  bool value(Open, Bytes& v) {
    std::size_t n = 0;
    return length(n) && (in_.read_octets(n, v) || cut_short());
  }
  template <class T>
  bool value(Struct, T& v) {
    return describe(*this, v);
  }
  bool value(Struct, Node& v) {
    if (!plain_node(v)) return describe(*this, v);
    if (!v.attributes || plain_attributes(*v.attributes)) return true;
    return describe(*this, *v.attributes) || path_.in("attributes");
  }
  template <class Spec, class L>
  bool value(const ListOf<Spec>& s, L& v) {
    std::uint64_t n = 0;
    if (!value(Integer{s.low, s.high}, n)) return false;
    if (n > in_.left()) return cut_short();
    v.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      if (!value(s.each, v[i])) return path_.in(i);
    }
    return true;
  }
  bool value(Part, PartII& v);

  /// An open type whose content is a structure.
  template <class T>
  bool open(T& v) {
    std::size_t n = 0;
    if (!length(n)) return false;
    BitReader inner = in_;
    if (!in_.split(n * 8, inner)) return cut_short();
    std::swap(in_, inner);
    if (!describe(*this, v)) return false;
    std::swap(in_, inner);
    return true;
  }
  bool read_additions(Additions& additions);
  ISOCHRON_V2X_INLINE bool bits(unsigned n, std::uint64_t& v) { return in_.read(n, v) || cut_short(); }

 private:
  bool plain_node(Node& v);
  bool plain_attributes(NodeAttributes& v);
  template <class F>
  ISOCHRON_V2X_INLINE bool one(const F& f, std::uint64_t preamble, unsigned& next) {
    if constexpr (F::optional) {
      if ((preamble >> --next & 1) == 0) return true;
      return value(f.spec, made(f.value)) || path_.in(f.name);
    } else {
      return value(f.spec, f.value) || path_.in(f.name);
    }
  }
  [[gnu::cold, gnu::noinline]] bool cut_short() { return fail("the message ends here"); }
  [[gnu::cold, gnu::noinline]] bool outside(Integer s, std::uint64_t number) {
    return fail(range_text(s.low + static_cast<std::int64_t>(number), s.low, s.high));
  }
  bool extended_flags(Flags& v);
  bool extended_value(unsigned count, std::uint64_t& v);
  bool small_number(std::uint64_t& v);
  bool length(std::size_t& n);

  BitReader in_;
  ErrorPath path_;
};

// Nodes are most of a MAP, and nearly all are two offsets with at most a change of width or height. Those are read
// here in one look at the bits; describe() remains the definition, and everything else goes through it.

/// A node without extensions, given as x and y. False if it is another; then nothing was read.
inline bool UperReader::plain_node(Node& v) {
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
inline bool UperReader::plain_attributes(NodeAttributes& v) {
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
  in_.skip(8 + 10 * ((preamble >> 2 & 1) + (preamble >> 1 & 1)));
  return true;
}

}  // namespace isochron::v2x
