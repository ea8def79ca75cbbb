#pragma once
// A table of named columns, and the files that other tools read it from: Parquet (pandas, DuckDB, Spark), HDF5 (h5py,
// MATLAB) and CSV. Debian has no small library for the first two; both formats are plain enough for what a table needs:
// one row group of plain pages, and contiguous datasets.
//
// Threads: owner thread. Cost: the whole file is built in memory.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace isochron {

struct TableColumn {
  using Numbers = std::vector<std::optional<double>>;
  using Wholes = std::vector<std::int64_t>;
  using Texts = std::vector<std::string>;
  std::string name;
  std::variant<Numbers, Wholes, Texts> cells;
  [[nodiscard]] std::size_t size() const {
    return std::visit([](const auto& all) { return all.size(); }, cells);
  }
};

/// Requires: all columns have as many cells, and names of their own.
struct Table {
  std::vector<TableColumn> columns;
  [[nodiscard]] std::size_t rows() const { return columns.empty() ? 0 : columns[0].size(); }
};

/// Numbers as float64, where a missing one is null; wholes as int64; texts as UTF-8.
std::string parquet_of(const Table& table);
/// A dataset for each column; `/` in a name makes groups. A missing number is NaN, texts have the width of the longest.
/// Where a name is also the beginning of another one's path, it is the dataset `value` in that group.
std::string hdf5_of(const Table& table);
/// The first line has the names; numbers with all their digits, a missing one empty.
std::string csv_of(const Table& table);

}  // namespace isochron
