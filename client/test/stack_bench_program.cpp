// What `isochron bench programs` runs, with and without Isochron: two processes that exchange datagrams, or a stream.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

sockaddr_in bound(int socket) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address);
  socklen_t size = sizeof address;
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return address;
}

int round_trips(long count) {
  const int here = socket(AF_INET, SOCK_DGRAM, 0), there = socket(AF_INET, SOCK_DGRAM, 0);
  const sockaddr_in to = bound(there);
  bound(here);
  char data[64] = {};
  if (fork() == 0) {
    for (long i = 0; i < count; ++i) {
      sockaddr_in from{};
      socklen_t size = sizeof from;
      const ssize_t got = recvfrom(there, data, sizeof data, 0, reinterpret_cast<sockaddr*>(&from), &size);
      sendto(there, data, static_cast<std::size_t>(got), 0, reinterpret_cast<sockaddr*>(&from), size);
    }
    _exit(0);
  }
  for (long i = 0; i < count; ++i) {
    sendto(here, data, sizeof data, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    if (recv(here, data, sizeof data, 0) != sizeof data) return 1;
  }
  wait(nullptr);
  return 0;
}

int stream(long bytes) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in to = bound(listener);
  listen(listener, 1);
  std::vector<char> part(65536);
  if (fork() == 0) {
    const int out = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(out, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) _exit(1);
    for (long left = bytes; left > 0;) {
      const ssize_t sent = send(out, part.data(), part.size(), 0);
      if (sent <= 0) _exit(1);
      left -= sent;
    }
    _exit(0);
  }
  const int in = accept(listener, nullptr, nullptr);
  long got = 0;
  for (ssize_t size; (size = recv(in, part.data(), part.size(), 0)) > 0;) got += size;
  wait(nullptr);
  return got >= bytes ? 0 : 1;
}

}  // namespace

int main(int count, char** values) {
  const std::string what = count > 1 ? values[1] : "";
  const long number = count > 2 ? std::atol(values[2]) : 0;
  if (what == "round_trips") return round_trips(number);
  if (what == "stream") return stream(number);
  std::fprintf(stderr, "round_trips N, stream BYTES\n");
  return 2;
}
