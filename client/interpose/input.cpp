// Standard input whose lines come at simulated times. The lines lie in the shared pages; standard input is a pipe, and
// whoever waits for it here puts those into it whose time has come. So waiting for a line is waiting for a time, which
// repeats in every mode, and everything else (poll, isatty, a child that reads on) sees an ordinary pipe.
//
// libc's own stream functions call read() inside libc, where it cannot be replaced: those that may wait on stdin look
// here first.

#include "client/interpose/input.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "client/interpose/clock.hpp"

using namespace isochron::interpose;

extern "C" {
char* __fgets_chk(char* text, size_t room, int size, FILE* stream);
char* __fgets_unlocked_chk(char* text, size_t room, int size, FILE* stream);
size_t __fread_chk(void* data, size_t room, size_t size, size_t count, FILE* stream);
ssize_t __getdelim(char** line, size_t* room, int end, FILE* stream);
int __uflow(FILE* stream);
int __underflow(FILE* stream);
// The headers call these by other names of ours.
int fed_scanf(const char* format, ...) asm("__isoc99_scanf");
int fed_fscanf(FILE* stream, const char* format, ...) asm("__isoc99_fscanf");
int fed_vscanf(const char* format, va_list list) asm("__isoc99_vscanf");
int fed_vfscanf(FILE* stream, const char* format, va_list list) asm("__isoc99_vfscanf");
}

namespace {

ISOCHRON_ORIGINAL(poll)
ISOCHRON_ORIGINAL(getc)
ISOCHRON_ORIGINAL(fgetc)
ISOCHRON_ORIGINAL(getchar)
ISOCHRON_ORIGINAL(fgets)
ISOCHRON_ORIGINAL(fgets_unlocked)
ISOCHRON_ORIGINAL(__fgets_chk)
ISOCHRON_ORIGINAL(__fgets_unlocked_chk)
ISOCHRON_ORIGINAL(getline)
ISOCHRON_ORIGINAL(__getdelim)
ISOCHRON_ORIGINAL(fread)
ISOCHRON_ORIGINAL(fread_unlocked)
ISOCHRON_ORIGINAL(__fread_chk)
ISOCHRON_ORIGINAL(__uflow)
ISOCHRON_ORIGINAL(__underflow)
constinit Original<decltype(&fed_vfscanf)> libc_vfscanf{"__isoc99_vfscanf"};

isochron::protocol::Pages* fed_pages = nullptr;  // null: nothing is fed
int line_end = -1;                               // where lines are put in; -1 when all have come
ino_t the_pipe = 0;
std::atomic_flag handing_over = ATOMIC_FLAG_INIT;

bool is_ready(int descriptor) {
  pollfd one{descriptor, POLLIN, 0};
  return libc_poll(&one, 1, 0) != 0;
}

/// Called with the flag held.
std::int64_t hand_over_due() {
  using isochron::protocol::InputLine;
  for (std::uint32_t at = fed_pages->input_at.load(std::memory_order_relaxed); line_end >= 0;) {
    if (fed_pages->input_size - at < sizeof(InputLine)) break;
    InputLine line;
    memcpy(&line, fed_pages->input + at, sizeof line);
    if (line.size > fed_pages->input_size - at - sizeof line) break;
    if (line.at > now_ns()) return line.at;
    const ssize_t written = write(line_end, fed_pages->input + at + sizeof line, line.size);
    if (written < 0 && errno == EAGAIN) return forever;  // full: the reader takes its time
    at += static_cast<std::uint32_t>(sizeof line) + line.size;
    fed_pages->input_at.store(at, std::memory_order_relaxed);
  }
  if (line_end >= 0) isochron::client::plain_call(SYS_close, line_end);
  line_end = -1;
  return forever;
}

/// Before a stream function that may wait on stdin: only if it has nothing left to give.
void await_stream(const FILE* stream) {
  if (fed_pages == nullptr || stream != stdin || stream->_IO_read_ptr < stream->_IO_read_end) return;
  if (is_fed(fileno(stdin))) await_input(fileno(stdin));
}

/// scanf skips space, also what is left of the line before: with nothing else it waits.
void await_words(const FILE* stream) {
  if (fed_pages == nullptr || stream != stdin) return;
  for (const char* at = stream->_IO_read_ptr; at < stream->_IO_read_end; ++at) {
    if (*at != ' ' && *at != '\n' && *at != '\t' && *at != '\r') return;
  }
  if (is_fed(fileno(stdin))) await_input(fileno(stdin));
}

}  // namespace

namespace isochron::interpose {

void open_input(protocol::Pages& shared) {
  struct stat status {};
  if (shared.input_size == 0 || shared.input_size > protocol::input_max) return;
  if (fstat(0, &status) != 0 || !S_ISFIFO(status.st_mode)) return;
  line_end = open("/proc/self/fd/0", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (line_end < 0) return;
  const int high = fcntl(line_end, F_DUPFD_CLOEXEC, 200);  // out of the way of programs that number their own
  if (high >= 0) {
    isochron::client::plain_call(SYS_close, line_end);
    line_end = high;
  }
  the_pipe = status.st_ino;
  fed_pages = &shared;
}

void close_input() {
  if (line_end >= 0) isochron::client::plain_call(SYS_close, line_end);
  line_end = -1;
  fed_pages = nullptr;
}

bool is_fed(int descriptor) {
  if (fed_pages == nullptr || descriptor < 0) return false;
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode) && status.st_ino == the_pipe;
}

std::int64_t hand_over_input() {
  if (fed_pages == nullptr || line_end < 0 || handing_over.test_and_set(std::memory_order_acquire)) return forever;
  const std::int64_t next = hand_over_due();
  handing_over.clear(std::memory_order_release);
  return next;
}

void await_input(int descriptor) {
  for (;;) {
    const std::int64_t next = hand_over_input();
    if (is_ready(descriptor) || next == forever) return;
    sleep_until_ns(std::min(next, next_signal()));
    if (next_signal() <= now_ns()) send_signals();
  }
}

}  // namespace isochron::interpose

#pragma GCC visibility push(default)
extern "C" {

int getc(FILE* stream) { return await_stream(stream), libc_getc(stream); }
int fgetc(FILE* stream) { return await_stream(stream), libc_fgetc(stream); }
int getchar() { return await_stream(stdin), libc_getchar(); }
int __uflow(FILE* stream) { return await_stream(stream), libc___uflow(stream); }
int __underflow(FILE* stream) { return await_stream(stream), libc___underflow(stream); }
char* fgets(char* __restrict text, int size, FILE* __restrict stream) {
  return await_stream(stream), libc_fgets(text, size, stream);
}
char* fgets_unlocked(char* __restrict text, int size, FILE* __restrict stream) {
  return await_stream(stream), libc_fgets_unlocked(text, size, stream);
}
char* __fgets_chk(char* text, size_t room, int size, FILE* stream) {
  return await_stream(stream), libc___fgets_chk(text, room, size, stream);
}
char* __fgets_unlocked_chk(char* text, size_t room, int size, FILE* stream) {
  return await_stream(stream), libc___fgets_unlocked_chk(text, room, size, stream);
}
ssize_t getline(char** __restrict line, size_t* __restrict room, FILE* __restrict stream) {
  return await_stream(stream), libc_getline(line, room, stream);
}
ssize_t __getdelim(char** line, size_t* room, int end, FILE* stream) {
  return await_stream(stream), libc___getdelim(line, room, end, stream);
}
ssize_t getdelim(char** __restrict line, size_t* __restrict room, int end, FILE* __restrict stream) {
  return __getdelim(line, room, end, stream);
}
size_t fread(void* __restrict data, size_t size, size_t count, FILE* __restrict stream) {
  return await_stream(stream), libc_fread(data, size, count, stream);
}
size_t fread_unlocked(void* __restrict data, size_t size, size_t count, FILE* __restrict stream) {
  return await_stream(stream), libc_fread_unlocked(data, size, count, stream);
}
size_t __fread_chk(void* data, size_t room, size_t size, size_t count, FILE* stream) {
  return await_stream(stream), libc___fread_chk(data, room, size, count, stream);
}

int fed_vfscanf(FILE* stream, const char* format, va_list list) {
  return await_words(stream), libc_vfscanf(stream, format, list);
}
int fed_vscanf(const char* format, va_list list) { return fed_vfscanf(stdin, format, list); }
int fed_scanf(const char* format, ...) {
  va_list list;
  va_start(list, format);
  const int result = fed_vfscanf(stdin, format, list);
  va_end(list);
  return result;
}
int fed_fscanf(FILE* stream, const char* format, ...) {
  va_list list;
  va_start(list, format);
  const int result = fed_vfscanf(stream, format, list);
  va_end(list);
  return result;
}

}  // extern "C"
#pragma GCC visibility pop
