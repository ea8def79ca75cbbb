#pragma once
// A target's serial line as a socket, so that a TcpLink speaks over it: a thread carries bytes between the two, in
// packets that are checked and sent again (protocol/serial_line.h).
//
// Threads: any; the thread that carries is its own. It ends with the socket's other end; leaving the program waits for
//          what was said last, half a second at most.
// Fails:   a sentence; later the socket is closed.

#include <cstdint>
#include <string>

namespace isochron::client {

struct SerialPlace {
  std::string device;
  std::uint32_t baud = 0;
};
/// Of "DEVICE:BAUD/ROBOT/PROGRAM"; `name` is what stands behind. "" = fine; else what is wrong with it.
std::string parse_serial(const std::string& text, SerialPlace& place, std::string& name);

/// A socket; -1: `why` says what is wrong. Waits for a host on the line, ten seconds at most.
int open_serial(const SerialPlace& place, std::string& why);

}  // namespace isochron::client
