#pragma once
// Frames over a stream of bytes: the length in four bytes, little endian, then so many bytes. Streams deliver pieces of
// any size; a FrameReader makes whole frames of them again.
//
// Promises: the frames that come out are those that went in, however the bytes were cut.
//           A frame larger than allowed is refused as soon as its length is known, before any memory is taken for it.
// Threads:  owner thread.
// Cost:     a frame that lies whole in a piece is not copied; a partial one is kept, at most largest + 4 bytes.
// Fails:    refused once, refused for good: the stream has lost its place and must be closed.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/result.hpp"

namespace isochron::link {

inline constexpr std::size_t frame_header_bytes = 4;

[[nodiscard]] inline std::array<std::byte, frame_header_bytes> frame_header(std::size_t payload_bytes) {
  ENSURE(payload_bytes <= UINT32_MAX, "a frame of over 4 GB");
  std::array<std::byte, frame_header_bytes> header;
  for (std::size_t i = 0; i < header.size(); ++i) header[i] = static_cast<std::byte>(payload_bytes >> (8 * i));
  return header;
}

/// Adds one frame to what will be sent.
inline void append_frame(std::vector<std::byte>& out, std::span<const std::byte> payload) {
  const auto header = frame_header(payload.size());
  out.insert(out.end(), header.begin(), header.end());
  out.insert(out.end(), payload.begin(), payload.end());
}

class FrameReader {
 public:
  /// Refuses frames with more payload than this.
  explicit FrameReader(std::size_t largest) : largest_(largest) {}

  /// Calls on_frame(payload) for each frame that became whole; the bytes are valid during the call. on_frame returns
  /// whether to go on; after `false` this reader is not touched any more, so that on_frame may destroy it.
  template <class OnFrame>
  Result<Done, std::string> take(std::span<const std::byte> piece, OnFrame&& on_frame) {
    if (!refused_.empty()) return fail(refused_);
    while (!piece.empty()) {
      if (!partial_.empty()) {
        if (!complete(piece)) break;
        std::vector<std::byte> whole = std::exchange(partial_, {});
        if (!on_frame(std::span<const std::byte>(whole).subspan(frame_header_bytes))) return done();
        whole.clear();
        partial_ = std::move(whole);  // its memory serves the next one
        continue;
      }
      if (piece.size() < frame_header_bytes || !allowed(piece) || piece.size() < frame_bytes(piece)) {
        if (refused_.empty()) partial_.assign(piece.begin(), piece.end());
        break;
      }
      const auto frame = piece.first(frame_bytes(piece));
      piece = piece.subspan(frame.size());
      if (!on_frame(frame.subspan(frame_header_bytes))) return done();
    }
    if (!refused_.empty()) return fail(refused_);
    return done();
  }

  /// Bytes of a frame that is not whole yet; 0 = a good place for the stream to end.
  [[nodiscard]] std::size_t partial() const { return partial_.size(); }

 private:
  [[nodiscard]] static std::size_t frame_bytes(std::span<const std::byte> header) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < frame_header_bytes; ++i) length |= std::to_integer<std::size_t>(header[i]) << (8 * i);
    return frame_header_bytes + length;
  }

  bool allowed(std::span<const std::byte> header) {
    const std::size_t payload = frame_bytes(header) - frame_header_bytes;
    if (payload <= largest_) return true;
    refused_ = "a frame of " + std::to_string(payload) + " bytes; at most " + std::to_string(largest_) + " are allowed";
    return false;
  }

  void move_to_partial(std::span<const std::byte>& piece, std::size_t up_to) {
    const std::size_t n = std::min(piece.size(), up_to - partial_.size());
    partial_.insert(partial_.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(n));
    piece = piece.subspan(n);
  }

  /// Whether the partial frame is whole now.
  bool complete(std::span<const std::byte>& piece) {
    if (partial_.size() < frame_header_bytes) {
      move_to_partial(piece, frame_header_bytes);
      if (partial_.size() < frame_header_bytes || !allowed(partial_)) return false;
    }
    move_to_partial(piece, frame_bytes(partial_));
    return partial_.size() == frame_bytes(partial_);
  }

  std::size_t largest_;
  std::vector<std::byte> partial_;
  std::string refused_;
};

}  // namespace isochron::link
