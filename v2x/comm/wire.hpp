#pragma once
// Frames between a communication server and its clients: plain while they prove who they are, sealed CDR afterwards.

#include <cstring>
#include <string>
#include <vector>

#include "core/cdr.hpp"
#include "core/network.hpp"
#include "link/auth.hpp"
#include "link/frame.hpp"

namespace isochron::v2x {

inline constexpr std::size_t largest_hello = 1024, largest_exchange = 16U << 20U;

inline std::span<const std::byte> text_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

inline void send_frame(Stream& stream, std::span<const std::byte> payload) {
  std::vector<std::byte> bytes;
  link::append_frame(bytes, payload);
  stream.send(bytes);
}

template <Message T>
void send_sealed(Stream& stream, link::Sealer& sealer, const T& message) {
  const std::size_t size = cdr_size(message) + link::seal_bytes;
  std::vector<std::byte> bytes(link::frame_header_bytes + size);
  const auto header = link::frame_header(size);
  std::memcpy(bytes.data(), header.data(), header.size());
  const std::span<std::byte> sealed = std::span(bytes).subspan(header.size());
  cdr_write(message, sealed.subspan(link::seal_head_bytes, size - link::seal_bytes));
  sealer.seal(sealed);
  stream.send(bytes);
}

}  // namespace isochron::v2x
