// Calls of the simulated system, and descriptors that it keeps.

#include "client/interpose/system.hpp"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "client/interpose/files.hpp"

namespace isochron::interpose {

namespace {

ISOCHRON_ORIGINAL(close)

}  // namespace

ssize_t plain_read(int descriptor, void* data, std::size_t size) {
  return returned<ssize_t>(
      client::plain_call(SYS_read, descriptor, reinterpret_cast<long>(data), static_cast<long>(size)));
}
ssize_t plain_write(int descriptor, const void* data, std::size_t size) {
  return returned<ssize_t>(
      client::plain_call(SYS_write, descriptor, reinterpret_cast<long>(data), static_cast<long>(size)));
}

// libc's streams call its read and write directly, where nothing can be put in front of them: a jump is put into their
// beginning. They do nothing else than the system call, which ours make themselves.
void lead_here(const char* name, void* ours) {
#if defined(__x86_64__)
  auto* begin = static_cast<unsigned char*>(dlsym(RTLD_NEXT, name));
  if (begin == nullptr || begin == ours) return;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(begin) & ~(page - 1);
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(begin) + 16;
  void* at = reinterpret_cast<void*>(first);
  if (mprotect(at, end - first, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return;
  const unsigned char jump[] = {0xff, 0x25, 0, 0, 0, 0};  // jmp [rip]
  memcpy(begin, jump, sizeof jump);
  memcpy(begin + sizeof jump, &ours, sizeof ours);
  mprotect(at, end - first, PROT_READ | PROT_EXEC);
#else
  (void)name;
  (void)ours;
#endif
}

bool in_stack() { return attached() && shared_pages()->stack != 0; }

protocol::Descriptor kind_of(int descriptor) {
  if (descriptor < 0 || descriptor >= protocol::descriptors_max || !in_stack()) return protocol::Descriptor::system;
  return shared_pages()->descriptors[descriptor].load(std::memory_order_relaxed);
}

void set_kind(int descriptor, protocol::Descriptor kind) {
  if (descriptor < 0 || descriptor >= protocol::descriptors_max || !in_stack()) return;
  shared_pages()->descriptors[descriptor].store(kind, std::memory_order_relaxed);
}

std::int64_t ask_system(Call& call, const void* out, std::size_t out_size, void* in, std::size_t room) {
  protocol::Link* link = the_link_of_thread();
  if (link == nullptr) return -EAGAIN;
  out_size = std::min(out_size, protocol::payload_max);
  if (is_asking()) return -EAGAIN;  // a signal handler, while its thread asks
  call.size = static_cast<std::uint32_t>(out_size);
  link->call = call;
  if (out_size > 0) memcpy(link->payload, out, out_size);
  if (!call_link(*link)) return -EAGAIN;
  call = link->call;
  if (in != nullptr) memcpy(in, link->payload, std::min<std::size_t>(call.size, room));
  const std::int64_t result = call.result;
  // 1: nothing came, or only what was blocked or wants its call again.
  const std::uint64_t signals = link->signals.exchange(0, std::memory_order_relaxed);
  call.flags = signals == 0 || take_signals(signals) ? 1 : 0;
  return result;
}

std::int64_t ask_again(Call& call, const void* out, std::size_t out_size, void* in, std::size_t room) {
  const Call asked = call;
  for (;;) {
    const std::int64_t result = ask_system(call, out, out_size, in, room);
    if (result != -EINTR || call.flags == 0) return result;
    call = asked;
  }
}

bool take_signals(std::uint64_t bits) {
  bool again = true;
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  for (int signal = 1; bits != 0; ++signal, bits >>= 1) {
    if ((bits & 1) == 0) continue;
    if (sigismember(&blocked, signal) == 1) {  // another thread may take it
      client::plain_call(SYS_kill, client::real_process_id(), signal);
      continue;
    }
    if (!restarts_calls(signal)) again = false;
    client::plain_call(SYS_tgkill, client::real_process_id(), client::plain_call(SYS_gettid), signal);
  }
  return again;
}

void set_waiting(Call& call, int flags, std::int64_t limit) {
  call.flags = static_cast<std::uint32_t>(flags) & (protocol::message_flags | protocol::of_socket);
  call.until = limit;
  if ((flags & MSG_DONTWAIT) != 0 || !is_blocking(call.descriptor)) call.flags |= protocol::does_not_wait;
}

int opened_as(Call call, int descriptor) {
  if (descriptor < 0) return descriptor;
  if (descriptor >= protocol::descriptors_max) {
    libc_close(descriptor);
    errno = EMFILE;
    return -1;
  }
  call.descriptor = descriptor;
  if (const std::int64_t result = ask_system(call); result < 0) {
    libc_close(descriptor);
    return returned(result);
  }
  set_kind(descriptor, protocol::Descriptor::simulated);
  return descriptor;
}

void put_address(Call& call, const void* address, std::size_t size) {
  if (address == nullptr) return;
  call.address_size = static_cast<std::uint32_t>(std::min(size, sizeof call.address));
  memcpy(call.address, address, call.address_size);
}

void get_address(const Call& call, void* address, unsigned* size) {
  if (address == nullptr || size == nullptr) return;
  memcpy(address, call.address, std::min<std::size_t>({*size, call.address_size, sizeof call.address}));
  *size = call.address_size;
}

ssize_t simulated_read(int descriptor, void* data, std::size_t size, int flags, Call* answer) {
  Call call = call_of(SystemCall::read, descriptor);
  call.a = static_cast<std::int64_t>(std::min(size, protocol::payload_max));
  set_waiting(call, flags, receive_limit(descriptor));
  const std::int64_t result = ask_again(call, nullptr, 0, data, size);
  if (answer != nullptr) *answer = call;
  return returned<ssize_t>(result);
}

ssize_t simulated_write(int descriptor, const void* data, std::size_t size, int flags, const void* to,
                        std::size_t to_size) {
  std::size_t written = 0;
  do {
    Call call = call_of(SystemCall::write, descriptor);
    set_waiting(call, flags, send_limit(descriptor));
    put_address(call, to, to_size);
    const std::size_t part = std::min(size - written, protocol::payload_max);
    const std::int64_t result = ask_again(call, static_cast<const char*>(data) + written, part);
    if (result == -EPIPE && (flags & MSG_NOSIGNAL) == 0) raise(SIGPIPE);
    if (result < 0) return written > 0 ? static_cast<ssize_t>(written) : returned<ssize_t>(result);
    written += static_cast<std::size_t>(result);
    if (static_cast<std::size_t>(result) < part) break;
  } while (written < size);
  return static_cast<ssize_t>(written);
}

ssize_t print(const void* data, std::size_t size) {
  Call call = call_of(SystemCall::print);
  return returned<ssize_t>(ask_again(call, data, std::min(size, protocol::payload_max)));
}

}  // namespace isochron::interpose
