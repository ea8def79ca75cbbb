#include "apps/isochron/report_html.hpp"

#include <cmath>
#include <cstdio>

#include "core/markup.hpp"
#include "core/time_text.hpp"

namespace isochron::app {

std::string escape(std::string_view text) {
  return markup(text, [](std::string& out, char c) {
    if (c == '\'') {
      out += "&#39;";
    } else if (c == '\0') {
      out += "\xEF\xBF\xBD";  // HTML knows no NUL
    } else {
      out += c;
    }
  });
}

std::string seconds_text(double seconds) {
  if (!std::isfinite(seconds) || std::abs(seconds) > 9e9) return number_text(seconds) + " s";
  return format_ns_short(static_cast<std::int64_t>(std::llround(seconds * 1e9)));
}

std::string number_text(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

std::string at(double pixels) {
  char text[40];
  std::snprintf(text, sizeof text, "%.2f", pixels);
  return text;
}

std::string letter(std::size_t run) {
  return run < 26 ? std::string(1, static_cast<char>('A' + run)) : std::to_string(run + 1);
}

std::string cell(std::string_view text) { return "<td class=\"n\">" + escape(text) + "</td>"; }
std::string cell(std::uint64_t count) { return cell(std::to_string(count)); }

std::string row_head(std::size_t run, std::string_view name) {
  return "<tr><td>" + letter(run) + "</td><th scope=\"row\">" + escape(name) + "</th>";
}

std::string table(std::initializer_list<std::string_view> columns, std::string_view rows) {
  std::string out = "<div class=\"wide\"><table><thead><tr>";
  for (const std::string_view column : columns) {
    const bool number = column.starts_with('#');
    out += (number ? "<th class=\"n\">" : "<th>") + std::string(column.substr(number ? 1 : 0)) + "</th>";
  }
  return out + "</tr></thead><tbody>" + std::string(rows) + "</tbody></table></div>";
}

}  // namespace isochron::app
