// Descriptors that the simulated system keeps: made, copied and closed. A real one of the same kind stands for each.

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>

#include "client/interpose/system.hpp"

using namespace isochron::interpose;
using isochron::protocol::Descriptor;
using isochron::protocol::descriptors_max;

extern "C" {
int closefrom_of(int lowest) asm("closefrom");
}

namespace {

ISOCHRON_ORIGINAL(pipe2)
ISOCHRON_ORIGINAL(dup)
ISOCHRON_ORIGINAL(dup2)
ISOCHRON_ORIGINAL(dup3)
ISOCHRON_ORIGINAL(fcntl)
ISOCHRON_ORIGINAL(ioctl)
ISOCHRON_ORIGINAL(eventfd)
ISOCHRON_ORIGINAL(close)
ISOCHRON_ORIGINAL(close_range)
ISOCHRON_ORIGINAL(fclose)
ISOCHRON_ORIGINAL(readv)
ISOCHRON_ORIGINAL(writev)
ISOCHRON_ORIGINAL(sendfile)
ISOCHRON_ORIGINAL(splice)
ISOCHRON_ORIGINAL(copy_file_range)

/// `copy` stands now for what `original` does.
int copied(int original, int copy) {
  if (copy < 0 || !in_stack() || copy == original) return copy;
  const Descriptor kind = kind_of(original);
  if (kind == Descriptor::simulated) {
    Call call = call_of(SystemCall::duplicate, original, copy);
    ask_system(call);
  } else if (is_simulated(copy)) {
    Call call = call_of(SystemCall::close, copy);
    ask_system(call);
  }
  set_kind(copy, kind);
  return copy;
}

void forget(int descriptor) {
  if (is_simulated(descriptor)) {
    Call call = call_of(SystemCall::close, descriptor);
    ask_system(call);
  }
  set_kind(descriptor, Descriptor::system);
}

template <class Move>
ssize_t each_part(const iovec* parts, int count, Move&& move) {
  ssize_t all = 0;
  for (int i = 0; i < count; ++i) {
    if (parts[i].iov_len == 0) continue;
    const ssize_t size = move(parts[i], all > 0);
    if (size < 0) return all > 0 ? all : size;
    all += size;
    if (size < static_cast<ssize_t>(parts[i].iov_len)) break;
  }
  return all;
}

}  // namespace

namespace isochron::interpose {
void closed_descriptor(int descriptor) { forget(descriptor); }
}  // namespace isochron::interpose

#pragma GCC visibility push(default)
extern "C" {

int pipe2(int ends[2], int flags) {
  const int result = libc_pipe2(ends, flags);
  if (result != 0 || !in_stack() || std::max(ends[0], ends[1]) >= descriptors_max) return result;
  Call call = call_of(SystemCall::pipe, ends[0], ends[1]);
  if (const std::int64_t error = ask_system(call); error < 0) {
    libc_close(ends[0]);
    libc_close(ends[1]);
    return returned(error);
  }
  set_kind(ends[0], Descriptor::simulated);
  set_kind(ends[1], Descriptor::simulated);
  return 0;
}
int pipe(int ends[2]) { return pipe2(ends, 0); }

int dup(int descriptor) { return copied(descriptor, libc_dup(descriptor)); }
int dup2(int descriptor, int copy) { return copied(descriptor, libc_dup2(descriptor, copy)); }
int dup3(int descriptor, int copy, int flags) { return copied(descriptor, libc_dup3(descriptor, copy, flags)); }

static int control(int descriptor, int command, void* argument) {
  const int result = libc_fcntl(descriptor, command, argument);
  return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? copied(descriptor, result) : result;
}
int fcntl(int descriptor, int command, ...) {
  va_list list;
  va_start(list, command);
  void* argument = va_arg(list, void*);
  va_end(list);
  return control(descriptor, command, argument);
}
int fcntl64(int descriptor, int command, ...) {
  va_list list;
  va_start(list, command);
  void* argument = va_arg(list, void*);
  va_end(list);
  return control(descriptor, command, argument);
}

int ioctl(int descriptor, unsigned long command, ...) {
  va_list list;
  va_start(list, command);
  void* argument = va_arg(list, void*);
  va_end(list);
  if (command != FIONREAD || !is_simulated(descriptor)) return libc_ioctl(descriptor, command, argument);
  Call call = call_of(SystemCall::available, descriptor);
  const std::int64_t size = ask_system(call);
  if (size >= 0) *static_cast<int*>(argument) = static_cast<int>(size);
  return returned(size < 0 ? size : 0);
}

int eventfd(unsigned count, int flags) {
  const int descriptor = libc_eventfd(count, flags);
  if (!in_stack()) return descriptor;
  Call call = call_of(SystemCall::event);
  call.a = count;
  call.b = (flags & EFD_SEMAPHORE) != 0 ? 1 : 0;
  return opened_as(call, descriptor);
}

int close_range(unsigned first, unsigned last, int flags) {
  if (in_stack() && (flags & CLOSE_RANGE_CLOEXEC) == 0) {
    for (unsigned i = first; i <= last && i < static_cast<unsigned>(descriptors_max); ++i) forget(static_cast<int>(i));
  }
  return libc_close_range(first, last, flags);
}
int closefrom_of(int lowest) { return close_range(static_cast<unsigned>(std::max(lowest, 0)), ~0u, 0); }

// libc closes the descriptor of a stream inside libc.
int fclose(FILE* stream) {
  const int descriptor = in_stack() && stream != nullptr ? fileno(stream) : -1;
  if (!is_simulated(descriptor)) return libc_fclose(stream);
  fflush(stream);
  forget(descriptor);
  return libc_fclose(stream);
}

ssize_t readv(int descriptor, const struct iovec* parts, int count) {
  if (!in_stack()) return libc_readv(descriptor, parts, count);
  // What waits for the first part does not wait for more.
  return each_part(parts, count, [&](const iovec& part, bool more) -> ssize_t {
    if (more && is_simulated(descriptor)) return simulated_read(descriptor, part.iov_base, part.iov_len, 0x40);
    return read(descriptor, part.iov_base, part.iov_len);
  });
}

ssize_t writev(int descriptor, const struct iovec* parts, int count) {
  if (kind_of(descriptor) == Descriptor::system) return libc_writev(descriptor, parts, count);
  std::size_t size = 0;
  for (int i = 0; i < count; ++i) size += parts[i].iov_len;
  auto* whole = static_cast<char*>(malloc(size + 1));
  if (whole == nullptr) return returned<ssize_t>(-ENOMEM);
  std::size_t at = 0;
  for (int i = 0; i < count; ++i) {
    memcpy(whole + at, parts[i].iov_base, parts[i].iov_len);
    at += parts[i].iov_len;
  }
  const ssize_t written = write(descriptor, whole, size);
  free(whole);
  return written;
}

ssize_t sendfile(int to, int from, off_t* offset, size_t count) {
  if (!is_simulated(to) && !is_simulated(from)) return libc_sendfile(to, from, offset, count);
  char part[65536];
  const std::size_t size = std::min(count, sizeof part);
  const ssize_t got = offset != nullptr ? pread(from, part, size, *offset) : read(from, part, size);
  if (got <= 0) return got;
  const ssize_t sent = write(to, part, static_cast<std::size_t>(got));
  if (sent > 0 && offset != nullptr) *offset += sent;
  if (sent >= 0 && sent < got && offset == nullptr) lseek(from, sent - got, SEEK_CUR);
  return sent;
}
ssize_t sendfile64(int to, int from, off64_t* offset, size_t count) { return sendfile(to, from, offset, count); }

// Who moves bytes within the kernel reads and writes them instead when it cannot.
ssize_t splice(int from, off64_t* at, int to, off64_t* to_at, size_t size, unsigned flags) {
  if (is_simulated(from) || is_simulated(to)) return returned<ssize_t>(-EINVAL);
  return libc_splice(from, at, to, to_at, size, flags);
}
ssize_t copy_file_range(int from, off64_t* at, int to, off64_t* to_at, size_t size, unsigned flags) {
  if (is_simulated(from) || is_simulated(to)) return returned<ssize_t>(-EINVAL);
  return libc_copy_file_range(from, at, to, to_at, size, flags);
}

}  // extern "C"
#pragma GCC visibility pop
