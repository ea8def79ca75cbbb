#include "flow/bench/primitives.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <chrono>
#include <cstring>

#include "flow/futex.hpp"

namespace isochron::bench {
namespace {

using namespace isochron::flow;
constexpr std::size_t message_size = 64;

struct Shared {
  alignas(64) std::atomic<std::uint32_t> there;
  alignas(64) std::atomic<std::uint32_t> back;
  alignas(64) char message[message_size];
  alignas(64) char answer[message_size];
};

void await(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  for (std::uint32_t now = word.load(); now != value; now = word.load()) {
    futex_wait(word, now, std::chrono::seconds(1));
  }
}

void give(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  word.store(value);
  futex_wake(word);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void read_all(int end, char* to) {
  for (std::size_t have = 0; have < message_size;) {
    const ssize_t got = recv(end, to + have, message_size - have, 0);
    if (got <= 0) _exit(1);
    have += static_cast<std::size_t>(got);
  }
}

}  // namespace

double futex_ping_pong(std::uint64_t rounds) {
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& shared = *new (memory) Shared();
  char own[message_size] = {};
  const pid_t child = fork();
  if (child == 0) {
    for (std::uint32_t i = 1; i <= rounds; ++i) {
      await(shared.there, i);
      std::memcpy(shared.answer, shared.message, message_size);
      give(shared.back, i);
    }
    _exit(0);
  }
  const auto start = std::chrono::steady_clock::now();
  for (std::uint32_t i = 1; i <= rounds; ++i) {
    own[0] = static_cast<char>(i);
    std::memcpy(shared.message, own, message_size);
    give(shared.there, i);
    await(shared.back, i);
    std::memcpy(own, shared.answer, message_size);
  }
  const double seconds = seconds_since(start);
  waitpid(child, nullptr, 0);
  munmap(memory, sizeof(Shared));
  return static_cast<double>(rounds) / seconds;
}

double tcp_ping_pong(std::uint64_t rounds) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener, generic, size) != 0 || listen(listener, 1) != 0 || getsockname(listener, generic, &size) != 0) {
    return 0;
  }
  const int yes = 1;
  char message[message_size] = {};
  const pid_t child = fork();
  if (child == 0) {
    const int end = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(end, generic, size) != 0) _exit(1);
    setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    for (std::uint64_t i = 0; i < rounds; ++i) {
      read_all(end, message);
      if (send(end, message, message_size, 0) < 0) _exit(1);
    }
    _exit(0);
  }
  const int end = accept(listener, nullptr, nullptr);
  setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < rounds; ++i) {
    if (send(end, message, message_size, 0) < 0) break;
    read_all(end, message);
  }
  const double seconds = seconds_since(start);
  close(end);
  close(listener);
  waitpid(child, nullptr, 0);
  return static_cast<double>(rounds) / seconds;
}

}  // namespace isochron::bench
