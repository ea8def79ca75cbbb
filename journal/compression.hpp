#pragma once
// The compressions that MCAP chunks come in: zstd, which we write, and lz4, which others do.
//
// Threads: owner thread. Cost: a Compressor keeps its work memory; it allocates at the first use only.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace isochron {

class Compressor {
 public:
  explicit Compressor(int zstd_level);
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  /// The bytes as one zstd frame; valid until the next call. `quick` takes about half the time and some more room.
  std::span<const std::byte> compress(std::span<const std::byte> bytes, bool quick = false);

 private:
  struct Context;
  int level_;
  std::unique_ptr<Context> context_;
  std::vector<std::byte> frame_;
};

[[nodiscard]] bool known_compression(std::string_view name);

/// Exactly `size` bytes, or nothing if the frame is damaged or holds another number of bytes.
/// Requires: known_compression(name); the caller has bounded `size`.
std::optional<std::vector<std::byte>> decompress(std::string_view name, std::span<const std::byte> frame,
                                                 std::size_t size);

}  // namespace isochron
