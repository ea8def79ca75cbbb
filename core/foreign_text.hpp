#pragma once
// Text that others have written, a program, a peer, a file, as text that may be shown: valid UTF-8, and nothing in it
// that a terminal would obey. Where foreign bytes come in they pass here once; reports, pages and logs need not ask.
//
// Promises: the result is valid UTF-8 of at most `most` bytes, cut between characters, without control characters but
//           line feeds and tabs. What is text already stays as it is; each bad byte becomes one U+FFFD.
// Threads:  any.

#include <cstddef>
#include <string>
#include <string_view>

namespace isochron {

inline constexpr std::size_t foreign_text_most = 4096;
inline constexpr std::size_t foreign_name_most = 120;

/// The first `most` bytes of it.
[[nodiscard]] std::string foreign_text(std::string_view bytes, std::size_t most = foreign_text_most);
/// The last `most` bytes of it: what a program said before it ended.
[[nodiscard]] std::string foreign_tail(std::string_view bytes, std::size_t most = foreign_text_most);
/// A name: one line.
[[nodiscard]] std::string foreign_name(std::string_view bytes, std::size_t most = foreign_name_most);
/// Where the first byte is that foreign_text() would change; npos = it is text.
[[nodiscard]] std::size_t first_bad_byte(std::string_view bytes);

/// JSON of any values: text in it that is not UTF-8 is mended, and nothing is thrown. For any nlohmann::basic_json.
template <class Json>
[[nodiscard]] std::string json_text(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace isochron
