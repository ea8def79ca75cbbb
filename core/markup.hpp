#pragma once
// Text as it may stand in HTML and XML, between tags and in attributes.
//
// Threads: any.

#include <string>
#include <string_view>

namespace isochron {

/// `other` adds what any other character becomes: other(std::string& text, char c).
template <class Other>
[[nodiscard]] std::string markup(std::string_view text, Other&& other) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        other(out, c);
    }
  }
  return out;
}

/// For XML, which knows no control characters.
[[nodiscard]] inline std::string xml_markup(std::string_view text, char instead_of_control) {
  return markup(
      text, [=](std::string& out, char c) { out += static_cast<unsigned char>(c) < 0x20 ? instead_of_control : c; });
}

}  // namespace isochron
