#pragma once
// Reads structures from JSON, in SI units or in the standard's integers. One of the ios of fields.hpp. Strict: a key
// that nobody reads is a typing mistake, and is reported as one. Ranges are checked where the message is encoded,
// except those that would not fit their variable.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "v2x/codec/error_path.hpp"
#include "v2x/codec/fields.hpp"

namespace isochron::v2x {

class JsonReader {
 public:
  static constexpr bool looks_only = false;
  using Json = nlohmann::json;

  JsonReader(const Json& from, bool si) : here_(&from), si_(si) {}
  [[nodiscard]] const CodecError& error() const { return path_.error(); }
  bool fail(std::string what) { return path_.fail(std::move(what)); }
  bool in(const std::string& field) { return path_.in(field.c_str()); }

  template <class Ext, class... F>
  bool sequence(Ext& additions, const F&... field) {
    constexpr bool extensible = !std::is_same_v<std::remove_const_t<Ext>, Closed>;
    const Json& object = *here_;
    if (!object.is_object()) return fail("must be an object");
    if (!(one(object, field) && ...)) return false;
    if constexpr (extensible) {
      if (const auto at = object.find("extensions"); at != object.end() && !read_additions(*at, additions)) {
        return path_.in("extensions");
      }
    }
    for (const auto& [k, unused] : object.items()) {
      const bool known = (... || (key(field) == k)) || (extensible && k == "extensions");
      if (!known) return fail("unknown key"), path_.in(k.c_str());
    }
    return true;
  }
  template <class Names, class Kind, class Unknown, class F>
  bool choice(const Names& names, Kind& kind, Unknown& unknown, F&& content) {
    const Json& object = *here_;
    if (!object.is_object() || object.size() != 1) return fail("must be an object with one key, the alternative");
    const std::string& name = object.begin().key();
    here_ = &object.begin().value();
    const auto at = std::find(names.begin(), names.end(), name);
    if (at != names.end()) {
      kind = static_cast<Kind>(at - names.begin());
      return content(kind) || path_.in(name.c_str());
    }
    if constexpr (!std::is_same_v<std::remove_const_t<Unknown>, Closed>) {
      unsigned index = 0;
      if (extension_index(name, index) && index >= names.size()) {
        kind = static_cast<Kind>(index);
        return value(Open{}, unknown) || path_.in(name.c_str());
      }
    }
    return fail("unknown alternative `" + name + "`");
  }

  template <class T>
  bool value(Integer s, T& v) {
    std::int64_t number = 0;
    if (!integer(number)) return false;
    if (number < s.low || number > s.high) return fail(range_text(number, s.low, s.high));
    v = static_cast<T>(number);
    return true;
  }
  bool value(const Scale& s, Known& v);
  bool value(const Scale& s, double& v);
  template <class T>
  bool value(Code, T& v) {
    return value(Integer{0, 255}, v);
  }
  template <class E>
  bool value(Enum, E& v) {
    constexpr EnumNames names = names_of(E{});
    unsigned index = 0;
    if (!enumerated(names, index)) return false;
    v = static_cast<E>(index);
    return true;
  }
  bool value(FlagBits s, Flags& v);
  bool value(Text, std::string& v);
  bool value(Octets, Bytes& v) { return hex(v); }
  bool value(Open, Bytes& v) { return hex(v); }
  bool value(Id32, std::uint32_t& v);
  bool value(Bool, bool& v) {
    if (!here_->is_boolean()) return fail("must be true or false");
    return v = here_->get<bool>(), true;
  }
  template <class T>
  bool value(Struct, T& v) {
    return describe(*this, v);
  }
  template <class Spec, class L>
  bool value(const ListOf<Spec>& s, L& v) {
    const Json& list = *here_;
    if (!list.is_array()) return fail("must be a list");
    if (list.size() < s.low || list.size() > s.high) {
      return fail(range_text(static_cast<std::int64_t>(list.size()), s.low, s.high) + " items");
    }
    v.resize(list.size());
    for (std::size_t i = 0; i < v.size(); ++i) {
      here_ = &list[i];
      if (!value(s.each, v[i])) return path_.in(i);
    }
    return true;
  }
  bool value(Part, PartII& v);

  bool read_additions(const Json& list, Additions& additions);

 private:
  template <class F>
  bool one(const Json& object, const F& f) {
    const auto at = object.find(key(f));
    if (at == object.end()) {
      if constexpr (F::optional) return true;
      return fail("is missing"), in(key(f));
    }
    here_ = &at.value();
    if constexpr (F::optional) {
      return value(f.spec, made(f.value)) || in(key(f));
    } else {
      return value(f.spec, f.value) || in(key(f));
    }
  }
  template <class F>
  std::string key(const F& f) const {
    if constexpr (std::is_same_v<std::decay_t<decltype(f.spec)>, Scale>) {
      if (si_) return std::string(f.name) + "_" + f.spec.unit;
    }
    return f.name;
  }
  bool integer(std::int64_t& v);
  bool hex(Bytes& v);
  bool enumerated(const EnumNames& names, unsigned& index);
  static bool extension_index(const std::string& name, unsigned& index);

  const Json* here_;
  bool si_;
  ErrorPath path_;
};

}  // namespace isochron::v2x
