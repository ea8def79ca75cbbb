#pragma once
// Reads structures from XER (ITU-T X.693), the XML that other tools export: elements are the standard's names, values
// its integers. One of the ios of fields.hpp. Strict: an element that nobody reads is an error with its name. What other
// tools write as names and we keep as numbers (lists of ITIS codes), regional parts and Part II containers are not read.

#include <algorithm>
#include <pugixml.hpp>

#include "v2x/codec/error_path.hpp"
#include "v2x/codec/fields.hpp"

namespace isochron::v2x {

class XerReader {
 public:
  static constexpr bool looks_only = false;

  explicit XerReader(pugi::xml_node from) : here_(from) {}
  [[nodiscard]] const CodecError& error() const { return path_.error(); }
  bool fail(std::string what) { return path_.fail(std::move(what)); }
  bool in(const char* field) { return path_.in(field); }

  template <class Ext, class... F>
  bool sequence(Ext&, const F&... field) {
    const pugi::xml_node element = here_;
    if (!(one(element, field) && ...)) return false;
    for (const pugi::xml_node child : element.children()) {
      if (child.type() != pugi::node_element) continue;
      const std::string_view name = child.name();
      if (!(... || (name == field.name))) return fail("is not known here"), path_.in(child.name());
    }
    return true;
  }
  /// The items of a list are their alternatives themselves.
  template <class Names, class Kind, class Unknown, class F>
  bool choice(const Names& names, Kind& kind, Unknown&, F&& content) {
    const auto named = [&](const char* name) { return std::ranges::find(names, std::string_view(name)); };
    auto at = named(here_.name());
    if (!item_ || at == names.end()) {
      here_ = first_of(here_);
      at = named(here_.name());
    }
    if (at == names.end()) return fail("has no alternative `" + std::string(here_.name()) + "`");
    item_ = false;
    kind = static_cast<Kind>(at - names.begin());
    return content(kind) || path_.in(*at);
  }

  template <class T>
  bool value(Integer s, T& v) {
    std::int64_t number = 0;
    if (!integer(number)) return false;
    if (number < s.low || number > s.high) return fail(range_text(number, s.low, s.high));
    v = static_cast<T>(number);
    return true;
  }
  bool value(const Scale& s, Known& v) {
    std::int64_t number = 0;
    if (!value(Integer{s.low, s.high}, number)) return false;
    v.reset();
    if (number != s.unavailable) v = quantity(s, number);
    return true;
  }
  bool value(const Scale& s, double& v) {
    std::int64_t number = 0;
    if (!value(Integer{s.low, s.high}, number)) return false;
    return v = quantity(s, number), true;
  }
  template <class T>
  bool value(Code s, T& v) {
    return value(Integer{0, s.count - 1}, v);
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
  bool value(Text, std::string& v) { return v = here_.child_value(), true; }
  bool value(Octets, Bytes& v) { return hex(v); }
  bool value(Open, Bytes& v) { return hex(v); }
  bool value(Id32, std::uint32_t& v);
  bool value(Bool, bool& v);
  template <class T>
  bool value(Struct, T& v) {
    return describe(*this, v);
  }
  template <class Spec, class L>
  bool value(const ListOf<Spec>& s, L& v) {
    const pugi::xml_node list = here_;
    const auto elements = [&] {
      std::vector<pugi::xml_node> all;
      for (const pugi::xml_node child : list.children()) {
        if (child.type() == pugi::node_element) all.push_back(child);
      }
      return all;
    }();
    if (elements.size() < s.low || elements.size() > s.high) {
      return fail(range_text(static_cast<std::int64_t>(elements.size()), s.low, s.high) + " items");
    }
    v.resize(elements.size());
    for (std::size_t i = 0; i < v.size(); ++i) {
      here_ = elements[i];
      item_ = true;
      const bool read = value(s.each, v[i]);
      item_ = false;
      if (!read) return path_.in(i);
    }
    return true;
  }
  bool value(Part, PartII&) { return fail("containers of Part II are not read from XER"); }

 private:
  static pugi::xml_node first_of(pugi::xml_node element) {
    return element.find_child([](pugi::xml_node child) { return child.type() == pugi::node_element; });
  }
  template <class F>
  bool one(pugi::xml_node element, const F& f) {
    item_ = false;
    here_ = element.child(f.name);
    if (!here_) {
      if constexpr (F::optional) return true;
      return fail("is missing"), in(f.name);
    }
    if constexpr (F::optional) {
      return value(f.spec, made(f.value)) || in(f.name);
    } else {
      return value(f.spec, f.value) || in(f.name);
    }
  }
  bool integer(std::int64_t& v);
  bool enumerated(const EnumNames& names, unsigned& index);
  bool hex(Bytes& v);

  pugi::xml_node here_;
  bool item_ = false;  // of a list
  ErrorPath path_;
};

}  // namespace isochron::v2x
