#include "apps/isochron/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace isochron::app {
namespace {

bool colours() {
  static const bool yes = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  return yes;
}

std::string painted(const char* code, const std::string& text) {
  return colours() ? std::string("\033[") + code + "m" + text + "\033[0m" : text;
}

/// Characters as a person counts them: no escape sequences, UTF-8 continuation bytes not counted.
std::size_t width(const std::string& text) {
  std::size_t n = 0;
  bool escape = false;
  for (const char c : text) {
    if (c == '\033') escape = true;
    if (!escape && (static_cast<unsigned char>(c) & 0xC0) != 0x80) ++n;
    if (escape && c == 'm') escape = false;
  }
  return n;
}

}  // namespace

std::string bold(const std::string& text) { return painted("1", text); }
std::string green(const std::string& text) { return painted("32", text); }
std::string red(const std::string& text) { return painted("31", text); }
std::string yellow(const std::string& text) { return painted("33", text); }
std::string faint(const std::string& text) { return painted("2", text); }

std::string human(double value) {
  static constexpr const char* prefixes[] = {"", " k", " M", " G", " T"};
  std::size_t i = 0;
  double size = std::abs(value);
  while (size >= 999.5 && i + 1 < std::size(prefixes)) size /= 1000, value /= 1000, ++i;
  char text[48];
  std::snprintf(text, sizeof text, "%.3g%s", value, prefixes[i]);
  return text;
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw std::runtime_error("standard output cannot be written");
  }
}

void say(const std::string& text) { (void)std::fwrite(text.data(), 1, text.size(), stderr); }

void StatusLine::show(const std::string& text) {
  if (isatty(STDERR_FILENO) == 0) return;
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 10;
  const std::size_t room = known ? size.ws_col - 1U : 79;
  say("\r\033[K" + (width(text) > room ? text.substr(0, room) : text));
  shown_ = true;
}

void StatusLine::clear() {
  if (shown_) say("\r\033[K");
  shown_ = false;
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line += std::string(widths[i] - width(row[i]) + 2, ' ');
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace isochron::app
