#pragma once
// The zip file that an FMU is. It comes from somebody else, so nothing in it is believed: names that lead out of the
// folder, sizes that are not those of the content, and archives that would fill the disk are refused.
//
// Promises: what is unpacked lies below the folder given, and is at most `most_unpacked` bytes in total.
// Threads:  owner thread.
// Fails:    InputError with the file and the name in it.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace isochron::fmi {

inline constexpr std::uint64_t most_unpacked = std::uint64_t{2} << 30U;
inline constexpr std::uint64_t most_description = std::uint64_t{128} << 20U;
inline constexpr std::size_t most_entries = 100'000;

class Archive {
 public:
  static Archive open(const std::string& file);
  /// The same from memory; `name` is what it is called in messages. The bytes outlive the archive.
  static Archive of_bytes(std::span<const std::byte> bytes, const std::string& name);
  ~Archive();
  Archive(Archive&&) noexcept;
  Archive& operator=(Archive&&) noexcept;

  [[nodiscard]] const std::string& file() const { return file_; }
  /// Of all files; folders are left out.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] bool has(const std::string& name) const;
  /// The content of one file of at most so many bytes.
  [[nodiscard]] std::string read(const std::string& name, std::uint64_t most) const;
  /// Writes all files whose names begin with `prefix` below `folder`.
  void unpack(const std::string& prefix, const std::filesystem::path& folder) const;

 private:
  struct Handle;
  Archive(std::string file, std::unique_ptr<Handle> handle);
  void check_entries();
  void unpack_one(const std::string& name, const std::filesystem::path& target) const;
  template <class Take>
  void read_chunks(const std::string& name, std::uint64_t most, Take&& take) const;
  [[noreturn]] void refuse(const std::string& what, const std::string& hint = {}) const;

  std::string file_;
  std::unique_ptr<Handle> handle_;
  std::vector<std::string> names_;
};

}  // namespace isochron::fmi
