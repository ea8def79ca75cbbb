#include "apps/isochron/terminal.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "core/foreign_text.hpp"

namespace isochron::app {
namespace {

bool colours() {
  static const bool yes = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  return yes;
}

std::string painted(const char* code, const std::string& text) {
  return colours() ? std::string("\033[") + code + "m" + text + "\033[0m" : text;
}

/// How long one of our own control sequences is that begins here; 0 = none does: ESC [ digits m, ESC [ K, CR.
std::size_t own_sequence(const std::string& text, std::size_t at) {
  if (text[at] == '\r') return 1;
  if (text.compare(at, 2, "\033[") != 0) return 0;
  const std::size_t end = text.find_first_not_of("0123456789", at + 2);
  if (end == std::string::npos || end > at + 5) return 0;
  return text[end] == 'm' || (text[end] == 'K' && end == at + 2) ? end + 1 - at : 0;
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

/// What goes to a terminal: our own colours and clearing of a line pass, and nothing else that it would obey, whatever
/// names are in the text.
std::string harmless(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (const std::size_t own = own_sequence(text, i); own > 0) {
      out += text.substr(i, own);
      i += own;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of("\033\r", i + 1), text.size());
    out += foreign_text(text.substr(i, end - i), 3 * (end - i));
    i = end;
  }
  return out;
}

namespace {
FILE* report_stream = nullptr;  // null = standard output
}

void keep_output_for_reports() {
  if (report_stream != nullptr) return;
  std::fflush(stdout);
  const int own = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (own < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return;
  report_stream = fdopen(own, "w");
}

void give_output_back() {
  if (report_stream == nullptr) return;
  std::fflush(stdout);
  dup2(fileno(report_stream), STDOUT_FILENO);
}

void print(const std::string& given) {
  FILE* const to = report_stream == nullptr ? stdout : report_stream;
  const std::string text = isatty(fileno(to)) != 0 ? harmless(given) : given;
  if (std::fwrite(text.data(), 1, text.size(), to) != text.size() || std::fflush(to) != 0) {
    throw std::runtime_error("standard output cannot be written");
  }
}

void say(const std::string& given) {
  const std::string text = isatty(STDERR_FILENO) != 0 ? harmless(given) : given;
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

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
