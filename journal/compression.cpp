#include "journal/compression.hpp"

#include <lz4frame.h>
#include <zstd.h>

#include "core/ensure.hpp"

namespace isochron {
namespace {
constexpr int quick_level = -10;  // of zstd: a third of the size, at four times the speed of level 1
}

struct Compressor::Context {
  ZSTD_CCtx* zstd = ZSTD_createCCtx();
  ~Context() { ZSTD_freeCCtx(zstd); }
};

Compressor::Compressor(int zstd_level) : level_(zstd_level) {}
Compressor::~Compressor() = default;

std::span<const std::byte> Compressor::compress(std::span<const std::byte> bytes, bool quick) {
  if (context_ == nullptr) {
    context_ = std::make_unique<Context>();
    ENSURE(context_->zstd != nullptr, "no memory for the compressor");
  }
  ZSTD_CCtx_setParameter(context_->zstd, ZSTD_c_compressionLevel, quick ? quick_level : level_);
  const std::size_t bound = ZSTD_compressBound(bytes.size());
  if (frame_.size() < bound) frame_.resize(bound);
  const std::size_t n = ZSTD_compress2(context_->zstd, frame_.data(), frame_.size(), bytes.data(), bytes.size());
  ENSURE(ZSTD_isError(n) == 0, "zstd refused a buffer of the size that it asked for");
  return {frame_.data(), n};
}

namespace {

bool unzstd(std::span<const std::byte> frame, std::span<std::byte> into) {
  const std::size_t n = ZSTD_decompress(into.data(), into.size(), frame.data(), frame.size());
  return ZSTD_isError(n) == 0 && n == into.size();
}

bool unlz4(std::span<const std::byte> frame, std::span<std::byte> into) {
  LZ4F_dctx* raw = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&raw, LZ4F_VERSION)) != 0) return false;
  const std::unique_ptr<LZ4F_dctx, decltype(&LZ4F_freeDecompressionContext)> context(raw,
                                                                                     &LZ4F_freeDecompressionContext);
  std::size_t written = 0;
  std::size_t hint = 1;
  while (hint != 0 && !frame.empty()) {
    std::size_t taken = frame.size();
    std::size_t given = into.size() - written;
    hint = LZ4F_decompress(raw, into.data() + written, &given, frame.data(), &taken, nullptr);
    if (LZ4F_isError(hint) != 0 || (taken == 0 && given == 0)) return false;
    written += given;
    frame = frame.subspan(taken);
  }
  return hint == 0 && written == into.size();
}

}  // namespace

bool known_compression(std::string_view name) { return name.empty() || name == "zstd" || name == "lz4"; }

std::optional<std::vector<std::byte>> decompress(std::string_view name, std::span<const std::byte> frame,
                                                 std::size_t size) {
  ENSURE(known_compression(name), "asked for a compression that does not exist");
  if (name.empty()) {
    if (frame.size() != size) return std::nullopt;
    return std::vector<std::byte>(frame.begin(), frame.end());
  }
  // A frame that says how much is in it must agree before anything is allocated.
  if (name == "zstd") {
    const unsigned long long said = ZSTD_getFrameContentSize(frame.data(), frame.size());
    if (said == ZSTD_CONTENTSIZE_ERROR) return std::nullopt;
    if (said != ZSTD_CONTENTSIZE_UNKNOWN && said > size) return std::nullopt;
  }
  std::vector<std::byte> bytes(size);
  const bool whole = name == "zstd" ? unzstd(frame, bytes) : unlz4(frame, bytes);
  if (!whole) return std::nullopt;
  return bytes;
}

}  // namespace isochron
