// What `isochron bench programs` runs, with and without Isochron: two processes that exchange datagrams, or a stream.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
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

/// System calls without libc. With `traps` each is caught here, and nothing is done: what catching alone costs.
int calls([[maybe_unused]] long count, [[maybe_unused]] bool traps) {
#if defined(__x86_64__)
  if (traps) {
    struct sigaction action {};
    action.sa_sigaction = [](int, siginfo_t*, void* context) {
      static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RAX] = 0;
    };
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSYS, &action, nullptr);
    // All calls but those of the pages that libc's `syscall` is in.
    const auto libc = reinterpret_cast<unsigned long>(&syscall) & ~0xfffffUL;
    constexpr int set_user_dispatch = 59;
    if (prctl(set_user_dispatch, 1, libc - 0x100000, 0x300000, 0) != 0) return 1;
  }
  timespec t{};
  for (long i = 0; i < count; ++i) {
    long result = SYS_clock_gettime;
    asm volatile("syscall" : "+a"(result) : "D"(CLOCK_MONOTONIC), "S"(&t) : "rcx", "r11", "memory");
  }
#endif
  return 0;
}

}  // namespace

int main(int count, char** values) {
  const std::string what = count > 1 ? values[1] : "";
  const long number = count > 2 ? std::atol(values[2]) : 0;
  if (what == "round_trips") return round_trips(number);
  if (what == "stream") return stream(number);
  if (what == "calls" || what == "traps") return calls(number, what == "traps");
  std::fprintf(stderr, "round_trips N, stream BYTES, calls N, traps N\n");
  return 2;
}
