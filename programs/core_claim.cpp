#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>

#include "programs/dispatcher.hpp"

namespace isochron::programs {

namespace {

// A name in the abstract socket space is a lock that no crash can leave behind.
int claim(int core) {
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return -1;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int length = std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "isochron-core-%d", core);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(length));
  if (bind(socket, reinterpret_cast<const sockaddr*>(&address), size) == 0) return socket;
  close(socket);
  return -1;
}

}  // namespace

CoreClaim::CoreClaim() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  for (int core = CPU_SETSIZE - 1; core >= 0 && socket_ < 0; --core) {  // core 0 has the most interrupts: last
    if (!CPU_ISSET(core, &allowed)) continue;
    core_ = core;
    socket_ = claim(core);
  }
}

CoreClaim::~CoreClaim() {
  if (socket_ >= 0) close(socket_);
}

}  // namespace isochron::programs
