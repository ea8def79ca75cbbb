#pragma once
// Writes structures as UPER. One of the ios of fields.hpp. Everything is checked against the standard's ranges; the
// error names the field.

#include "v2x/codec/error_path.hpp"
#include "v2x/codec/fields.hpp"

namespace isochron::v2x {

class UperWriter {
 public:
  static constexpr bool looks_only = true;

  UperWriter() = default;
  /// Goes on behind the octets that are there.
  explicit UperWriter(Bytes begun) : out_(std::move(begun)) {}

  [[nodiscard]] const CodecError& error() const { return path_.error(); }
  bool fail(std::string what) { return path_.fail(std::move(what)); }
  bool in(const char* field) { return path_.in(field); }
  [[nodiscard]] Bytes finish() { return out_.finish(); }

  template <class Ext, class... F>
  bool sequence(const Ext& additions, const F&... field) {
    constexpr unsigned optionals = (0u + ... + F::optional);
    constexpr bool extensible = !std::is_same_v<Ext, Closed>;
    std::uint64_t preamble = 0;
    if constexpr (extensible) preamble = additions.empty() ? 0 : 1;
    ((preamble = with_presence(preamble, field)), ...);
    out_.write(optionals + extensible, preamble);
    if (!(one(field) && ...)) return false;
    if constexpr (extensible) {
      if (!additions.empty()) return write_additions(additions) || path_.in("extensions");
    }
    return true;
  }

  template <class Names, class Kind, class Unknown, class F>
  bool choice(const Names& names, const Kind& kind, const Unknown& unknown, F&& content) {
    const auto index = static_cast<unsigned>(kind);
    if constexpr (!std::is_same_v<Unknown, Closed>) {
      out_.write(1, index >= names.size());
      if (index >= names.size()) return small_number(index - names.size()), value(Open{}, unknown);
    }
    if (index >= names.size()) return fail("alternative " + std::to_string(index) + " does not exist");
    out_.write(bits_for(names.size() - 1), index);
    return content(kind) || path_.in(names[index]);
  }

  template <class T>
  ISOCHRON_V2X_INLINE bool value(Integer s, const T& v) {
    const auto number = static_cast<std::int64_t>(v);
    if (number < s.low || number > s.high) return outside(s, number);
    out_.write(bits_for(static_cast<std::uint64_t>(s.high - s.low)), static_cast<std::uint64_t>(number - s.low));
    return true;
  }
  ISOCHRON_V2X_INLINE bool value(const Scale& s, const Known& v) {
    if (v) return value(s, *v);
    return value(Integer{s.low, s.high}, s.unavailable);
  }
  ISOCHRON_V2X_INLINE bool value(const Scale& s, double v) {
    std::int64_t number = 0;
    if (!quantise(s, v, number)) return outside(s, v);
    return value(Integer{s.low, s.high}, number);
  }
  template <class T>
  bool value(Code s, const T& v) {
    const auto number = static_cast<std::int64_t>(v);
    if (s.extensible) {
      if (number >= s.count) return extended_value(s.count, number);
      out_.write(1, 0);
    }
    return value(Integer{0, s.count - 1}, number);
  }
  template <class E>
  bool value(Enum, const E& v) {
    constexpr EnumNames names = names_of(E{});
    return value(Code{names.count, names.extensible}, v);
  }
  bool value(FlagBits s, const Flags& v);
  bool value(Text s, const std::string& v);
  bool value(Octets s, const Bytes& v) {
    if (!value(Integer{s.low, s.high}, v.size())) return false;
    out_.write_octets(v);
    return true;
  }
  bool value(Id32, std::uint32_t v) { return value(Integer{0, 0xffffffff}, v); }
  bool value(Bool, bool v) { return out_.write(1, v), true; }
  bool value(Open, const Bytes& v) {
    if (!length(v.size())) return false;
    out_.write_octets(v);
    return true;
  }
  template <class T>
  bool value(Struct, const T& v) {
    return describe(*this, v);
  }
  template <class Spec, class L>
  bool value(const ListOf<Spec>& s, const L& v) {
    if (v.size() < s.low || v.size() > s.high) return fail(count_text(v.size(), s.low, s.high));
    out_.write(bits_for(s.high - s.low), v.size() - s.low);
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (!value(s.each, v[i])) return path_.in(i);
    }
    return true;
  }
  bool value(Part, const PartII& v);

  /// An open type whose content is a structure.
  template <class T>
  bool open(const T& v) {
    UperWriter inner;
    if (!describe(inner, v)) return path_ = inner.path_, false;
    return value(Open{}, inner.finish());
  }
  bool write_additions(const Additions& additions);
  void bits(unsigned n, std::uint64_t v) { out_.write(n, v); }

 private:
  template <class F>
  static std::uint64_t with_presence(std::uint64_t preamble, const F& f) {
    if constexpr (F::optional) {
      return preamble << 1 | (is_there(f.value) ? 1u : 0u);
    } else {
      return preamble;
    }
  }
  template <class F>
  ISOCHRON_V2X_INLINE bool one(const F& f) {
    if constexpr (F::optional) {
      return !is_there(f.value) || value(f.spec, held(f.value)) || path_.in(f.name);
    } else {
      return value(f.spec, f.value) || path_.in(f.name);
    }
  }
  [[gnu::cold, gnu::noinline]] bool outside(Integer s, std::int64_t number) {
    return fail(range_text(number, s.low, s.high));
  }
  [[gnu::cold, gnu::noinline]] bool outside(const Scale& s, double v) { return fail(range_text(s, v)); }
  static std::string count_text(std::size_t n, unsigned low, unsigned high);
  bool extended_value(unsigned count, std::int64_t v);
  void small_number(std::uint64_t v);
  bool length(std::size_t n);

  BitWriter out_;
  ErrorPath path_;
};

}  // namespace isochron::v2x
