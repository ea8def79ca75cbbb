#include "view/web_server.hpp"

namespace isochron::view {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

/// Without telling by its time how much of it was right.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace

bool take_token(WebRequest& request, const std::string& token) {
  const std::string prefix = "/" + token;
  const std::string& path = request.path;
  const bool ends = path.size() == prefix.size() || (path.size() > prefix.size() && path[prefix.size()] == '/');
  if (!ends || !same_secret(std::string_view(path).substr(0, prefix.size()), prefix)) return false;
  request.path.erase(0, prefix.size());
  return true;
}

WebRequest parse_target(std::string_view target) {
  WebRequest request;
  const auto question = target.find('?');
  request.path = decode(target.substr(0, question));
  if (question == std::string_view::npos) return request;
  std::string_view rest = target.substr(question + 1);
  while (!rest.empty()) {
    const auto end = rest.find('&');
    const std::string_view pair = rest.substr(0, end);
    const auto equals = pair.find('=');
    request.query[decode(pair.substr(0, equals))] =
        equals == std::string_view::npos ? "" : decode(pair.substr(equals + 1));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return request;
}

}  // namespace isochron::view
