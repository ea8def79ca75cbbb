// Parquet, written from its published format: pages, then a footer in Thrift's compact protocol.
//
//     PAR1 | page header, page (column 0) | page header, page (column 1) | … | footer | length of the footer | PAR1

#include <cstring>

#include "journal/table.hpp"

namespace isochron {
namespace {

template <class T>
void put_raw(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

/// Thrift's compact protocol, as much of it as a footer has.
class Thrift {
 public:
  void whole(int field, std::int64_t value, bool wide = true) {
    head(field, wide ? 6 : 5);
    number(value);
  }
  void small(int field, std::int32_t value) { whole(field, value, false); }
  void text(int field, const std::string& value) {
    head(field, 8);
    bytes(value);
  }
  void begin(int field) {
    head(field, 12);
    nest();
  }
  /// An element of a list is a struct without a field number.
  void nest() { last_.push_back(0); }
  void end() {
    out_ += '\0';
    last_.pop_back();
  }
  void list(int field, int type, std::size_t size) {
    head(field, 9);
    if (size < 15) {
      out_ += static_cast<char>(size << 4U | static_cast<unsigned>(type));
    } else {
      out_ += static_cast<char>(0xf0U | static_cast<unsigned>(type));
      varint(size);
    }
  }
  void number(std::int64_t value) {
    varint(static_cast<std::uint64_t>(value) << 1U ^ static_cast<std::uint64_t>(value >> 63));
  }
  void bytes(const std::string& value) {
    varint(value.size());
    out_ += value;
  }
  [[nodiscard]] std::string take() {
    out_ += '\0';
    return std::move(out_);
  }
  static constexpr int i32 = 5, binary = 8, structure = 12;

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) out_ += static_cast<char>(value | 0x80U);
    out_ += static_cast<char>(value);
  }
  void head(int field, int type) {
    const int step = field - last_.back();
    last_.back() = field;
    if (step > 0 && step < 16) {
      out_ += static_cast<char>(static_cast<unsigned>(step) << 4U | static_cast<unsigned>(type));
    } else {
      out_ += static_cast<char>(type);
      number(field);
    }
  }
  std::string out_;
  std::vector<int> last_{0};
};

constexpr int type_int64 = 2, type_double = 5, type_bytes = 6;
constexpr int encoding_plain = 0, encoding_rle = 3;

/// Which values are there, as runs of equal bits: (length << 1, bit).
std::string levels_of(const TableColumn::Numbers& cells) {
  std::string runs;
  for (std::size_t from = 0, to = 0; from < cells.size(); from = to) {
    while (to < cells.size() && cells[to].has_value() == cells[from].has_value()) ++to;
    std::uint64_t head = (to - from) << 1U;
    for (; head >= 0x80; head >>= 7U) runs += static_cast<char>(head | 0x80U);
    runs += static_cast<char>(head);
    runs += cells[from] ? '\1' : '\0';
  }
  std::string out;
  put_raw(out, static_cast<std::uint32_t>(runs.size()));
  return out + runs;
}

struct Pages {
  int type = type_double;
  bool nullable = false, utf8 = false;
  std::string data;
};

Pages pages_of(const TableColumn& column) {
  Pages pages;
  if (const auto* numbers = std::get_if<TableColumn::Numbers>(&column.cells)) {
    pages.nullable = true;
    pages.data = levels_of(*numbers);
    for (const auto& number : *numbers) {
      if (number) put_raw(pages.data, *number);
    }
  } else if (const auto* wholes = std::get_if<TableColumn::Wholes>(&column.cells)) {
    pages.type = type_int64;
    for (const std::int64_t whole : *wholes) put_raw(pages.data, whole);
  } else {
    pages.type = type_bytes;
    pages.utf8 = true;
    for (const std::string& text : std::get<TableColumn::Texts>(column.cells)) {
      put_raw(pages.data, static_cast<std::uint32_t>(text.size()));
      pages.data += text;
    }
  }
  return pages;
}

std::string page_header(std::size_t rows, std::size_t bytes) {
  Thrift header;
  header.small(1, 0);  // a data page
  header.small(2, static_cast<std::int32_t>(bytes));
  header.small(3, static_cast<std::int32_t>(bytes));
  header.begin(5);
  header.small(1, static_cast<std::int32_t>(rows));
  header.small(2, encoding_plain);
  header.small(3, encoding_rle);
  header.small(4, encoding_rle);
  header.end();
  return header.take();
}

/// A part of a column, so that pages stay below what fits into 32 bits.
TableColumn part_of(const TableColumn& column, std::size_t from, std::size_t to) {
  TableColumn part{column.name, {}};
  std::visit(
      [&](const auto& all) {
        using Cells = std::decay_t<decltype(all)>;
        const auto begin = all.begin();
        part.cells = Cells(begin + static_cast<std::ptrdiff_t>(from), begin + static_cast<std::ptrdiff_t>(to));
      },
      column.cells);
  return part;
}

constexpr std::size_t rows_in_a_page = 1U << 16U;

struct Chunk {
  Pages kind;
  std::size_t at = 0, bytes = 0;
};

Chunk write_column(std::string& file, const TableColumn& column) {
  Chunk chunk;
  chunk.at = file.size();
  for (std::size_t from = 0; from == 0 || from < column.size(); from += rows_in_a_page) {
    const std::size_t to = std::min(from + rows_in_a_page, column.size());
    Pages pages = pages_of(part_of(column, from, to));
    file += page_header(to - from, pages.data.size()) + pages.data;
    pages.data.clear();
    chunk.kind = std::move(pages);
  }
  chunk.bytes = file.size() - chunk.at;
  return chunk;
}

void write_schema(Thrift& footer, const Table& table, const std::vector<Chunk>& chunks) {
  footer.list(2, Thrift::structure, table.columns.size() + 1);
  footer.nest();
  footer.text(4, "schema");
  footer.small(5, static_cast<std::int32_t>(table.columns.size()));
  footer.end();
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    footer.nest();
    footer.small(1, chunks[i].kind.type);
    footer.small(3, chunks[i].kind.nullable ? 1 : 0);
    footer.text(4, table.columns[i].name);
    if (chunks[i].kind.utf8) footer.small(6, 0);
    footer.end();
  }
}

void write_chunk(Thrift& footer, const std::string& name, const Chunk& chunk, std::size_t rows) {
  footer.nest();
  footer.whole(2, static_cast<std::int64_t>(chunk.at));
  footer.begin(3);
  footer.small(1, chunk.kind.type);
  footer.list(2, Thrift::i32, 2);
  footer.number(encoding_plain);
  footer.number(encoding_rle);
  footer.list(3, Thrift::binary, 1);
  footer.bytes(name);
  footer.small(4, 0);  // not packed
  footer.whole(5, static_cast<std::int64_t>(rows));
  footer.whole(6, static_cast<std::int64_t>(chunk.bytes));
  footer.whole(7, static_cast<std::int64_t>(chunk.bytes));
  footer.whole(9, static_cast<std::int64_t>(chunk.at));
  footer.end();
  footer.end();
}

}  // namespace

std::string parquet_of(const Table& table) {
  std::string file = "PAR1";
  std::vector<Chunk> chunks;
  for (const TableColumn& column : table.columns) chunks.push_back(write_column(file, column));
  Thrift footer;
  footer.small(1, 1);
  write_schema(footer, table, chunks);
  footer.whole(3, static_cast<std::int64_t>(table.rows()));
  footer.list(4, Thrift::structure, 1);
  footer.nest();
  footer.list(1, Thrift::structure, chunks.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) write_chunk(footer, table.columns[i].name, chunks[i], table.rows());
  footer.whole(2, static_cast<std::int64_t>(file.size() - 4));
  footer.whole(3, static_cast<std::int64_t>(table.rows()));
  footer.end();
  footer.text(6, "isochron");
  const std::string end = footer.take();
  file += end;
  put_raw(file, static_cast<std::uint32_t>(end.size()));
  return file + "PAR1";
}

}  // namespace isochron
