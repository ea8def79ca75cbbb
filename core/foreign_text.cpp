#include "core/foreign_text.hpp"

#include <algorithm>
#include <cstdint>

namespace isochron {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

struct Character {
  std::size_t bytes = 0;  // 0 = no UTF-8
  std::uint32_t code = 0;
};

/// The character that begins here: neither overlong, nor a surrogate, nor beyond U+10FFFF.
Character character_at(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80U) return {1, first};
  const std::size_t bytes = first >= 0xf0U ? 4 : first >= 0xe0U ? 3 : 2;
  if (first < 0xc2U || first > 0xf4U || text.size() < bytes) return {};
  std::uint32_t code = first & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!continues(text[i])) return {};
    code = code << 6U | (static_cast<unsigned char>(text[i]) & 0x3fU);
  }
  static constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code < least[bytes] || surrogate || code > 0x10ffff ? Character{} : Character{bytes, code};
}

bool is_control(std::uint32_t code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

bool is_fine(const Character& c, bool lines) {
  return c.bytes > 0 && (!is_control(c.code) || (lines && (c.code == '\n' || c.code == '\t')));
}

std::string mended(std::string_view bytes, std::size_t most, bool lines) {
  std::string text;
  while (!bytes.empty()) {
    const Character c = character_at(bytes);
    const std::string_view piece = is_fine(c, lines) ? bytes.substr(0, c.bytes) : replacement;
    if (text.size() + piece.size() > most) break;
    text += piece;
    bytes.remove_prefix(std::max<std::size_t>(c.bytes, 1));
  }
  return text;
}

}  // namespace

std::string foreign_text(std::string_view bytes, std::size_t most) { return mended(bytes, most, true); }

std::string foreign_name(std::string_view bytes, std::size_t most) { return mended(bytes, most, false); }

std::string foreign_tail(std::string_view bytes, std::size_t most) {
  if (bytes.size() > most) {
    bytes.remove_prefix(bytes.size() - most);
    for (int i = 0; i < 3 && !bytes.empty() && continues(bytes[0]); ++i) bytes.remove_prefix(1);  // of a character cut
  }
  std::string text = mended(bytes, 3 * bytes.size(), true);
  while (text.size() > most) text.erase(0, character_at(text).bytes);  // replacements are longer than what they replace
  return text;
}

std::size_t first_bad_byte(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const Character c = character_at(bytes.substr(at));
    if (!is_fine(c, true)) return at;
    at += c.bytes;
  }
  return std::string_view::npos;
}

}  // namespace isochron
