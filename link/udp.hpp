#pragma once
// UDP for the EpollReactor. Used through core/network.hpp.

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <memory>

#include "link/reactor.hpp"
#include "link/socket.hpp"

namespace isochron::link {

/// The tables and buffers with which datagrams are received and sent, one set for all ports of a reactor: they are only
/// used within one call.
struct DatagramBatch {
  static constexpr std::size_t size = 64;
  // Not a power of two: else all datagrams would begin in the same cache set.
  static constexpr std::size_t stride = 64 * 1024 + 192;

  DatagramBatch();
  ~DatagramBatch();
  DatagramBatch(const DatagramBatch&) = delete;
  DatagramBatch& operator=(const DatagramBatch&) = delete;

  std::array<mmsghdr, size> headers{};
  std::array<iovec, size> pieces{};
  std::array<SocketAddress, size> addresses{};
  std::array<Datagram, size> datagrams{};
  std::byte* memory;  // size * stride
};

Result<std::unique_ptr<DatagramPort>, NetError> open_udp(EpollReactor& reactor, const Address& at);

}  // namespace isochron::link
