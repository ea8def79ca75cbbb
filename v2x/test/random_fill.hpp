#pragma once
// Makes random valid messages: one more io of codec/fields.hpp, which fills whatever a description names.

#include <algorithm>

#include "core/random.hpp"
#include "v2x/codec/kinds.hpp"

namespace isochron::v2x {

class RandomFill {
 public:
  static constexpr bool looks_only = false;

  /// `futuristic`: also extensions, alternatives and enumerated values that only later editions know.
  RandomFill(RandomStream& draws, bool futuristic) : draws_(draws), futuristic_(futuristic) {}
  bool fail(const std::string&) { return false; }

  template <class Ext, class... F>
  bool sequence(Ext& additions, const F&... field) {
    ++depth_;
    (one(field), ...);
    if constexpr (!std::is_same_v<std::remove_const_t<Ext>, Closed>) {
      if (rarely()) {
        additions.resize(1 + draws_.below(3));
        for (std::size_t i = 0; i + 1 < additions.size(); ++i) {
          if (draws_.chance(0.5)) octets(0, 4, additions[i].emplace());
        }
        octets(0, 4, additions[additions.size() - 1].emplace());
      }
    }
    --depth_;
    return true;
  }
  template <class Names, class Kind, class Unknown, class F>
  bool choice(const Names& names, Kind& kind, Unknown& unknown, F&& content) {
    if constexpr (!std::is_same_v<std::remove_const_t<Unknown>, Closed>) {
      if (rarely()) {
        kind = static_cast<Kind>(names.size() + draws_.below(100));
        octets(0, 5, unknown);
        return true;
      }
    }
    kind = static_cast<Kind>(draws_.below(names.size()));
    return content(kind);
  }

  template <class T>
  bool value(Integer s, T& v) {
    return v = static_cast<T>(between(s.low, s.high)), true;
  }
  bool value(const Scale& s, Known& v) {
    const std::int64_t number = between(s.low, s.high);
    v.reset();
    if (number != s.unavailable) v = quantity(s, number);
    return true;
  }
  bool value(const Scale& s, double& v) { return v = quantity(s, between(s.low, s.high)), true; }
  template <class T>
  bool value(Code s, T& v) {
    const std::uint64_t count = s.extensible && rarely() ? 256 : s.count;
    return v = static_cast<T>(draws_.below(count)), true;
  }
  template <class E>
  bool value(Enum, E& v) {
    constexpr EnumNames names = names_of(E{});
    return value(Code{names.count, names.extensible}, v);
  }
  bool value(FlagBits s, Flags& v) {
    const unsigned size =
        s.extensible && draws_.chance(0.2) ? s.size + 1 + unsigned(draws_.below(64 - s.size)) : s.size;
    return v = Flags(size, draws_.bits() >> (64 - size)), true;
  }
  bool value(Text s, std::string& v) {
    v.resize(static_cast<std::size_t>(between(s.low, s.high)));
    for (char& c : v) c = static_cast<char>(32 + draws_.below(95));
    return true;
  }
  bool value(Octets s, Bytes& v) { return octets(s.low, std::min(s.high, 20u), v), true; }
  bool value(Open, Bytes& v) { return octets(0, draws_.chance(0.05) ? 200 : 6, v), true; }
  bool value(Id32, std::uint32_t& v) { return v = static_cast<std::uint32_t>(draws_.bits()), true; }
  bool value(Bool, bool& v) { return v = draws_.chance(0.5), true; }
  template <class T>
  bool value(Struct, T& v) {
    return describe(*this, v);
  }
  template <class Spec, class L>
  bool value(const ListOf<Spec>& s, L& v) {
    const std::uint64_t most = std::min<std::uint64_t>(s.high, s.low + (depth_ < 3 ? 3 : 1));
    v.resize(draws_.chance(0.03) && depth_ < 6 ? std::min(s.high, 40u) : s.low + draws_.below(most - s.low + 1));
    for (auto& item : v) value(s.each, item);
    return true;
  }
  bool value(Part, PartII& v) {
    switch (draws_.below(futuristic_ ? 4 : 3)) {
      case 0:
        return describe(*this, v.emplace<VehicleSafetyExtensions>());
      case 1:
        return describe(*this, v.emplace<SpecialVehicleExtensions>());
      case 2:
        return describe(*this, v.emplace<SupplementalVehicleExtensions>());
      default:
        break;
    }
    OpaquePart opaque;
    opaque.id = 3 + static_cast<int>(draws_.below(61));
    octets(0, 8, opaque.value);
    return v = opaque, true;
  }

 private:
  template <class F>
  void one(const F& f) {
    if constexpr (F::optional) {
      if (draws_.chance(depth_ < 3 ? 0.6 : 0.35)) value(f.spec, made(f.value));
    } else {
      value(f.spec, f.value);
    }
  }
  bool rarely() { return futuristic_ && draws_.chance(0.1); }
  /// Ends of the range often: that is where mistakes live.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    const std::uint64_t die = draws_.below(10);
    if (die == 0) return low;
    if (die == 1) return high;
    return low + static_cast<std::int64_t>(draws_.below(static_cast<std::uint64_t>(high - low) + 1));
  }
  void octets(std::uint64_t low, std::uint64_t high, Bytes& v) {
    v.resize(low + draws_.below(high - low + 1));
    for (auto& o : v) o = static_cast<std::uint8_t>(draws_.bits());
  }

  RandomStream& draws_;
  bool futuristic_;
  int depth_ = 0;
};

inline Frame random_frame(RandomStream& draws, bool futuristic) {
  Frame frame;
  RandomFill fill(draws, futuristic);
  with_kind(draws.below(kinds.size()), frame, [&](auto& message) { return describe(fill, message); });
  return frame;
}

}  // namespace isochron::v2x
