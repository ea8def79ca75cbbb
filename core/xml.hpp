#pragma once
// Elements of an XML text with the line that each stands on, so that what is wrong in it can be shown. Of use
// inside source files of rooms that link pugixml.

#include <algorithm>
#include <charconv>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/foreign_text.hpp"
#include "core/input_error.hpp"

namespace isochron {

class Xml {
 public:
  /// Fails: InputError where the text is no XML.
  Xml(std::string_view text, std::string file) : file_(std::move(file)) {
    const auto parsed = document_.load_buffer(text.data(), text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') lines_.push_back(i + 1);
    }
    if (!parsed) throw InputError(place(parsed.offset), std::string("is not XML: ") + parsed.description());
  }

  [[nodiscard]] pugi::xml_node root() const { return document_.document_element(); }
  [[nodiscard]] Place place(std::ptrdiff_t offset) const {
    if (offset < 0) return {file_, 0, 0};
    const auto at = static_cast<std::size_t>(offset);
    const auto line = std::ranges::upper_bound(lines_, at) - 1;
    return {file_, static_cast<int>(line - lines_.begin()) + 1, static_cast<int>(at - *line) + 1};
  }
  [[nodiscard]] Place place(const pugi::xml_node& node) const { return place(node.offset_debug()); }
  [[noreturn]] void refuse(const pugi::xml_node& node, const std::string& what) const {
    throw InputError(place(node), what);
  }

  [[nodiscard]] std::string text(const pugi::xml_node& node, const char* key) const {
    return foreign_text(node.attribute(key).value());
  }
  [[nodiscard]] std::string required(const pugi::xml_node& node, const char* key) const {
    if (!node.attribute(key)) refuse(node, std::string("<") + node.name() + "> has no `" + key + "`");
    return text(node, key);
  }
  [[nodiscard]] bool flag(const pugi::xml_node& node, const char* key) const {
    const std::string_view value = node.attribute(key).value();
    return value == "true" || value == "1";
  }
  template <class T>
  [[nodiscard]] std::optional<T> number(const pugi::xml_node& node, const char* key) const {
    if (!node.attribute(key)) return std::nullopt;
    std::string_view value = node.attribute(key).value();
    while (!value.empty() && (value.front() == ' ' || value.front() == '+')) value.remove_prefix(1);
    while (!value.empty() && value.back() == ' ') value.remove_suffix(1);
    T number{};
    const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (code != std::errc{} || end != value.data() + value.size()) {
      refuse(node, std::string("`") + key + "=" + foreign_name(node.attribute(key).value()) + "` is not a number here");
    }
    return number;
  }

 private:
  std::string file_;
  std::vector<std::size_t> lines_{0};  // where each begins
  pugi::xml_document document_;
};

}  // namespace isochron
