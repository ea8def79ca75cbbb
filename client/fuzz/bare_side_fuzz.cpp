// Whatever a host says, a bare target stays up and takes no more than it has room for. The first byte says whether
// there is a key, and whether bytes come singly; what follows is what the host sends.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "client/bare/isochron_bare.h"

namespace {

struct Host {
  std::span<const std::uint8_t> says;
  bool singly = false;
};

int send(void*, const std::uint8_t*, std::size_t size) { return static_cast<int>(size); }

int receive(void* context, std::uint8_t* bytes, std::size_t size) {
  auto& host = *static_cast<Host*>(context);
  std::size_t n = std::min(size, host.says.size());
  if (host.singly) n = std::min<std::size_t>(n, 1);
  if (n == 0) return -1;
  std::memcpy(bytes, host.says.data(), n);
  host.says = host.says.subspan(n);
  return static_cast<int>(n);
}

std::int64_t time_here(void*) { return 1; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 60'000) return 0;
  Host host{{data + 1, size - 1}, (data[0] & 2U) != 0};
  const isochron_bare_transport transport{&host, send, receive, time_here};
  const std::array<std::uint8_t, 32> key{}, nonce{};
  const isochron_bare_who who{"uav/pilot", (data[0] & 1U) != 0 ? key.data() : nullptr, 32, nonce.data()};
  auto robot = std::make_unique<isochron_bare>();
  if (isochron_bare_attach(robot.get(), &transport, &who) != ISOCHRON_BARE_OK) {
    if (std::strlen(robot->why) > ISOCHRON_BARE_MESSAGE) std::abort();
    return 0;
  }
  std::array<std::uint8_t, 24> value{};
  std::uint32_t variable = 0;
  std::size_t came = 0;
  for (int i = 0; i < 4; ++i) {
    (void)isochron_bare_wait(robot.get(), 10, nullptr);
    (void)isochron_bare_bind(robot.get(), "pose", nullptr, value.size(), &variable);
    (void)isochron_bare_read(robot.get(), variable, value.data(), value.size());
    (void)isochron_bare_write(robot.get(), variable, value.data(), value.size());
    (void)isochron_bare_receive(robot.get(), "", nullptr, value.data(), value.size(), &came, 0);
    if (came > value.size()) std::abort();
    (void)isochron_bare_now(robot.get());
  }
  isochron_bare_leave(robot.get());
  return 0;
}
