#pragma once
// Text for a page: escaped, and numbers as people read them.

#include <initializer_list>
#include <string>
#include <string_view>

namespace isochron::app {

/// Safe between tags and inside quoted attributes, whatever bytes come in.
std::string escape(std::string_view text);
/// Three significant digits with a unit: 0.00123 -> "1.23ms".
std::string seconds_text(double seconds);
/// As few digits as tell it apart: 0.25, 12.5, 1.2e+06.
std::string number_text(double value, int digits = 4);
/// A coordinate in an SVG: two digits after the point.
std::string at(double pixels);
/// "A", "B", … "Z", "27", …: what a run is called on the page.
std::string letter(std::size_t run);

/// A table's cell with a number.
std::string cell(std::string_view text);
std::string cell(std::uint64_t count);
/// How a row about something of a run begins.
std::string row_head(std::size_t run, std::string_view name);
/// A table of these rows. A column of numbers has `#` before its name.
std::string table(std::initializer_list<std::string_view> columns, std::string_view rows);

}  // namespace isochron::app
