#pragma once
// A serial line on which boards come, as if it were a port to listen on: whoever opens the line is a stream
// (protocol/serial_line.h has the packets, the checks and what is sent again). One at a time: who opens it anew,
// because its board was reset, ends the stream before.
//
// A device that goes away, as a USB adapter that is pulled, ends its stream and is tried again twice a second.
//
// Threads: the reactor's.
// Fails:   a sentence that names the device: missing, not a serial line, in use by another host.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/network.hpp"
#include "link/reactor.hpp"

namespace isochron::link {

struct SerialAddress {
  std::string device;
  std::uint32_t baud = 115'200;
};
/// "/dev/ttyACM0:921600". Fails: a sentence that says what would be right.
Result<SerialAddress, std::string> parse_serial(std::string_view text);

class SerialListener {
 public:
  virtual ~SerialListener() = default;
};
/// Destroying it closes the line; its streams must be gone before.
Result<std::unique_ptr<SerialListener>, std::string> listen_serial(
    EpollReactor& reactor, const SerialAddress& at, std::function<void(std::unique_ptr<Stream>)> on_accept);

}  // namespace isochron::link
