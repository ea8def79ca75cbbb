// HDF5, written from its published format (superblock 2, object headers 2): groups with their links inside, and one
// contiguous dataset for each column.

#include <cstring>
#include <limits>
#include <map>
#include <memory>

#include "journal/table.hpp"

namespace isochron {
namespace {

constexpr std::uint64_t nowhere = ~std::uint64_t{0};

template <class T>
void put(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}
void put_byte(std::string& out, unsigned value) { out += static_cast<char>(value); }

std::uint32_t turned(std::uint32_t x, unsigned k) { return x << k | x >> (32U - k); }

/// The checksum that the format asks for: Jenkins' lookup3 with a start of zero.
std::uint32_t checksum(const std::string& text) {
  std::uint32_t a = 0xdeadbeefU + static_cast<std::uint32_t>(text.size()), b = a, c = a;
  std::size_t at = 0;
  const auto word = [&](std::size_t from) {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < 4 && from + i < text.size(); ++i) {
      value |= static_cast<std::uint32_t>(static_cast<unsigned char>(text[from + i])) << (8U * i);
    }
    return value;
  };
  for (; text.size() - at > 12; at += 12) {
    a += word(at), b += word(at + 4), c += word(at + 8);
    a -= c, a ^= turned(c, 4), c += b;
    b -= a, b ^= turned(a, 6), a += c;
    c -= b, c ^= turned(b, 8), b += a;
    a -= c, a ^= turned(c, 16), c += b;
    b -= a, b ^= turned(a, 19), a += c;
    c -= b, c ^= turned(b, 4), b += a;
  }
  if (at == text.size()) return c;
  a += word(at), b += word(at + 4), c += word(at + 8);
  c ^= b, c -= turned(b, 14);
  a ^= c, a -= turned(c, 11);
  b ^= a, b -= turned(a, 25);
  c ^= b, c -= turned(b, 16);
  a ^= c, a -= turned(c, 4);
  b ^= a, b -= turned(a, 14);
  c ^= b, c -= turned(b, 24);
  return c;
}

void add_message(std::string& messages, unsigned type, const std::string& data) {
  put_byte(messages, type);
  put(messages, static_cast<std::uint16_t>(data.size()));
  put_byte(messages, 0);
  messages += data;
}

std::string object_header(const std::string& messages) {
  std::string header = "OHDR";
  put_byte(header, 2);
  put_byte(header, 2);  // the size has four bytes
  put(header, static_cast<std::uint32_t>(messages.size()));
  header += messages;
  put(header, checksum(header));
  return header;
}

std::string link_to(const std::string& name, std::uint64_t address) {
  std::string link;
  put_byte(link, 1);
  put_byte(link, 0x11);  // the name's length has two bytes, and its alphabet is told
  put_byte(link, 1);     // UTF-8
  put(link, static_cast<std::uint16_t>(name.size()));
  link += name;
  put(link, address);
  return link;
}

/// A kind of cells, and the cells.
struct Cells {
  std::string type, bytes;
};

Cells cells_of(const TableColumn& column) {
  Cells cells;
  if (const auto* numbers = std::get_if<TableColumn::Numbers>(&column.cells)) {
    for (const unsigned byte : {0x11U, 0x20U, 0x3fU, 0U}) put_byte(cells.type, byte);
    put(cells.type, std::uint32_t{8});
    put(cells.type, std::uint16_t{0});
    put(cells.type, std::uint16_t{64});
    for (const unsigned byte : {52U, 11U, 0U, 52U}) put_byte(cells.type, byte);
    put(cells.type, std::uint32_t{1023});
    for (const auto& number : *numbers) put(cells.bytes, number.value_or(std::numeric_limits<double>::quiet_NaN()));
  } else if (const auto* wholes = std::get_if<TableColumn::Wholes>(&column.cells)) {
    for (const unsigned byte : {0x10U, 0x08U, 0U, 0U}) put_byte(cells.type, byte);
    put(cells.type, std::uint32_t{8});
    put(cells.type, std::uint16_t{0});
    put(cells.type, std::uint16_t{64});
    for (const std::int64_t whole : *wholes) put(cells.bytes, whole);
  } else {
    const auto& texts = std::get<TableColumn::Texts>(column.cells);
    std::size_t width = 1;
    for (const std::string& text : texts) width = std::max(width, text.size());
    for (const unsigned byte : {0x13U, 0x11U, 0U, 0U}) put_byte(cells.type, byte);  // filled up with zeros, UTF-8
    put(cells.type, static_cast<std::uint32_t>(width));
    for (std::string text : texts) {
      text.resize(width, '\0');
      cells.bytes += text;
    }
  }
  return cells;
}

std::uint64_t write_dataset(std::string& file, const TableColumn& column) {
  const Cells cells = cells_of(column);
  while (file.size() % 8 != 0) file += '\0';
  const std::uint64_t data = cells.bytes.empty() ? nowhere : file.size();
  file += cells.bytes;
  std::string space, fill, layout, messages;
  for (const unsigned byte : {2U, 1U, 0U, 1U}) put_byte(space, byte);  // one dimension
  put(space, static_cast<std::uint64_t>(column.size()));
  for (const unsigned byte : {3U, 0x0aU}) put_byte(fill, byte);
  for (const unsigned byte : {3U, 1U}) put_byte(layout, byte);  // contiguous
  put(layout, data);
  put(layout, static_cast<std::uint64_t>(cells.bytes.size()));
  add_message(messages, 0x01, space);
  add_message(messages, 0x03, cells.type);
  add_message(messages, 0x05, fill);
  add_message(messages, 0x08, layout);
  while (file.size() % 8 != 0) file += '\0';
  const std::uint64_t at = file.size();
  file += object_header(messages);
  return at;
}

struct Group {
  std::map<std::string, Group> groups;
  std::map<std::string, const TableColumn*> columns;
};

std::uint64_t write_group(std::string& file, const Group& group) {
  std::string messages, info;
  put_byte(info, 0);
  put_byte(info, 0);
  put(info, nowhere);
  put(info, nowhere);
  add_message(messages, 0x02, info);
  add_message(messages, 0x0a, std::string(2, '\0'));
  for (const auto& [name, column] : group.columns) {
    if (!group.groups.contains(name)) add_message(messages, 0x06, link_to(name, write_dataset(file, *column)));
  }
  for (const auto& [name, inner] : group.groups) {
    Group whole = inner;
    if (const auto both = group.columns.find(name); both != group.columns.end()) whole.columns["value"] = both->second;
    add_message(messages, 0x06, link_to(name, write_group(file, whole)));
  }
  while (file.size() % 8 != 0) file += '\0';
  const std::uint64_t at = file.size();
  file += object_header(messages);
  return at;
}

}  // namespace

std::string hdf5_of(const Table& table) {
  Group root;
  for (const TableColumn& column : table.columns) {
    Group* group = &root;
    std::size_t from = column.name.starts_with('/') ? 1 : 0;
    for (std::size_t slash = column.name.find('/', from); slash != std::string::npos;
         slash = column.name.find('/', from)) {
      if (slash > from) group = &group->groups[column.name.substr(from, slash - from)];
      from = slash + 1;
    }
    group->columns[column.name.substr(from)] = &column;
  }
  std::string file(48, '\0');
  const std::uint64_t at = write_group(file, root);
  std::string head = "\x89HDF\r\n\x1a\n";
  for (const unsigned byte : {2U, 8U, 8U, 0U}) put_byte(head, byte);
  put(head, std::uint64_t{0});
  put(head, nowhere);
  put(head, static_cast<std::uint64_t>(file.size()));
  put(head, at);
  put(head, checksum(head));
  file.replace(0, head.size(), head);
  return file;
}

}  // namespace isochron
