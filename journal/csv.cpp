#include <cstdio>

#include "journal/table.hpp"

namespace isochron {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string cell(const TableColumn& column, std::size_t row) {
  if (const auto* numbers = std::get_if<TableColumn::Numbers>(&column.cells)) {
    if (!(*numbers)[row]) return "";
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", *(*numbers)[row]);
    return text;
  }
  if (const auto* wholes = std::get_if<TableColumn::Wholes>(&column.cells)) return std::to_string((*wholes)[row]);
  return quoted(std::get<TableColumn::Texts>(column.cells)[row]);
}

}  // namespace

std::string csv_of(const Table& table) {
  std::string text;
  for (std::size_t i = 0; i < table.columns.size(); ++i) text += (i == 0 ? "" : ",") + quoted(table.columns[i].name);
  text += "\n";
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) text += (i == 0 ? "" : ",") + cell(table.columns[i], row);
    text += "\n";
  }
  return text;
}

}  // namespace isochron
