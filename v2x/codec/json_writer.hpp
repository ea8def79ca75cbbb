#pragma once
// Writes structures as JSON, in SI units or in the standard's integers. One of the ios of fields.hpp.

#include <nlohmann/json.hpp>

#include "v2x/codec/error_path.hpp"
#include "v2x/codec/fields.hpp"

namespace isochron::v2x {

class JsonWriter {
 public:
  static constexpr bool looks_only = true;
  using Json = nlohmann::ordered_json;

  explicit JsonWriter(bool si) : si_(si) {}
  [[nodiscard]] Json take() { return std::move(here_); }
  bool fail(const std::string&) { return true; }  // an unset alternative is shown as null

  template <class Ext, class... F>
  bool sequence(const Ext& additions, const F&... field) {
    Json object = Json::object();
    (one(object, field), ...);
    if constexpr (!std::is_same_v<Ext, Closed>) {
      if (!additions.empty()) object["extensions"] = additions_json(additions);
    }
    here_ = std::move(object);
    return true;
  }
  template <class Names, class Kind, class Unknown, class F>
  bool choice(const Names& names, const Kind& kind, const Unknown& unknown, F&& content) {
    const auto index = static_cast<unsigned>(kind);
    if (index < names.size()) {
      here_ = nullptr;
      content(kind);
      here_ = Json{{names[index], std::move(here_)}};
    } else if constexpr (!std::is_same_v<Unknown, Closed>) {
      here_ = Json{{"extension-" + std::to_string(index), to_hex(unknown)}};
    }
    return true;
  }

  template <class T>
  bool value(Integer, const T& v) {
    return here_ = v, true;
  }
  bool value(const Scale& s, const Known& v) {
    if (v) return value(s, *v);
    if (si_) return here_ = nullptr, true;
    return here_ = s.unavailable, true;
  }
  bool value(const Scale& s, double v) {
    std::int64_t number = 0;
    if (si_) {
      here_ = v;
    } else if (quantise(s, v, number)) {
      here_ = number;
    } else {
      here_ = nullptr;
    }
    return true;
  }
  template <class T>
  bool value(Code, const T& v) {
    return here_ = static_cast<int>(v), true;
  }
  template <class E>
  bool value(Enum, const E& v) {
    constexpr EnumNames names = names_of(E{});
    const auto index = static_cast<unsigned>(v);
    if (index < names.count) return here_ = names.names[index], true;
    return here_ = index, true;
  }
  bool value(FlagBits, const Flags& v) {
    std::string text;
    for (unsigned i = 0; i < v.size; ++i) text += v.test(i) ? '1' : '0';
    return here_ = text, true;
  }
  bool value(Text, const std::string& v) { return here_ = v, true; }
  bool value(Octets, const Bytes& v) { return here_ = to_hex(v), true; }
  bool value(Open, const Bytes& v) { return here_ = to_hex(v), true; }
  bool value(Id32, std::uint32_t v);
  bool value(Bool, bool v) { return here_ = v, true; }
  template <class T>
  bool value(Struct, const T& v) {
    return describe(*this, v);
  }
  template <class Spec, class L>
  bool value(const ListOf<Spec>& s, const L& v) {
    Json list = Json::array();
    for (const auto& item : v) {
      value(s.each, item);
      list.push_back(std::move(here_));
    }
    here_ = std::move(list);
    return true;
  }
  bool value(Part, const PartII& v);

  static Json additions_json(const Additions& additions);

 private:
  template <class Object, class F>
  void one(Object& object, const F& f) {
    if constexpr (F::optional) {
      if (!is_there(f.value)) return;
      value(f.spec, held(f.value));
    } else {
      value(f.spec, f.value);
    }
    object[key(f)] = std::move(here_);
  }
  template <class F>
  std::string key(const F& f) const {
    if constexpr (std::is_same_v<std::decay_t<decltype(f.spec)>, Scale>) {
      if (si_) return std::string(f.name) + "_" + f.spec.unit;
    }
    return f.name;
  }

  bool si_;
  Json here_;
};

}  // namespace isochron::v2x
