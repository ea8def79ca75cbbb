#pragma once
// The disk as an argument: just what an append-only record needs. The real one is journal/disk.hpp; the simulated one
// (testing/) writes short, fills up and crashes on command.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/result.hpp"

namespace isochron {

enum class DiskFault { not_found, exists, denied, full, read_only, io };

struct DiskError {
  DiskFault fault = DiskFault::io;
  std::string what;  // names the path
};

/// One open file. Threads: one at a time.
class File {
 public:
  virtual ~File() = default;
  /// Appends; may take fewer bytes than given (a short write), at least one.
  virtual Result<std::size_t, DiskError> append(std::span<const std::byte> bytes) = 0;
  /// Reads from an offset; 0 at the end of the file; may return fewer bytes than asked for.
  virtual Result<std::size_t, DiskError> read_at(std::uint64_t offset, std::span<std::byte> into) = 0;
  virtual Result<std::uint64_t, DiskError> size() = 0;
  /// What was appended survives a crash of the machine once this returns.
  virtual Result<Done, DiskError> sync() = 0;
};

/// Threads: any.
class Disk {
 public:
  virtual ~Disk() = default;
  /// A new, empty file for appending and reading; replaces an old one, but not one that somebody is still writing.
  virtual Result<std::unique_ptr<File>, DiskError> create(const std::string& path) = 0;
  virtual Result<std::unique_ptr<File>, DiskError> open(const std::string& path) = 0;
  /// Atomic: afterwards `to` is the old `from`, whole.
  virtual Result<Done, DiskError> rename(const std::string& from, const std::string& to) = 0;
  virtual Result<Done, DiskError> remove(const std::string& path) = 0;
};

/// Appends all of it, however short the single writes are.
Result<Done, DiskError> append_all(File& file, std::span<const std::byte> bytes);

}  // namespace isochron
