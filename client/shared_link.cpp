#include "client/shared_link.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

// One for the process: where our clock was loaded first, the client library finds it there, so that its own system calls
// are not taken for the program's.
extern "C" __attribute__((weak, visibility("default"))) std::atomic<isochron::client::SystemCallOfLibc>
    isochron_call_of_libc;
std::atomic<isochron::client::SystemCallOfLibc> isochron_call_of_libc{nullptr};

namespace isochron::client {

namespace {

// A system call without libc's `syscall`, which an interposed clock replaces.
long bare_call(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
  long result;
  register long fourth asm("r10") = d;
  register long fifth asm("r8") = e;
  register long sixth asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  return result;
#else
  const int before = errno;
  long result = syscall(number, a, b, c, d, e, f);
  if (result == -1) result = -errno;
  errno = before;
  return result;
#endif
}

long futex(std::atomic<std::uint32_t>* word, int operation, std::uint32_t value) {
  return plain_call(SYS_futex, reinterpret_cast<long>(word), operation, static_cast<long>(value));
}

// A thread's link ends with the thread: by a pthread key, whose destructor runs in C programs too.
// In the part of a thread's memory that needs no call to be found: the clock is read through it.
__attribute__((tls_model("initial-exec"))) thread_local protocol::Link* link_of_this_thread = nullptr;
// A signal handler that comes while its thread asks must not ask over the same link.
__attribute__((tls_model("initial-exec"))) thread_local bool asking = false;
pthread_key_t ending;
pthread_once_t ending_once = PTHREAD_ONCE_INIT;
void make_ending() {
  pthread_key_create(&ending, [](void* link) {
    static_cast<protocol::Link*>(link)->owner.store(0, std::memory_order_release);
    link_of_this_thread = nullptr;
  });
}

}  // namespace

namespace {

constexpr int access_mode = PROT_READ | PROT_WRITE;

/// Maps a file that the coordinator shares, by the descriptor that was inherited. Many programs close all descriptors
/// before they start another one; then the coordinator's own is found in /proc.
void* map_shared(long descriptor, std::size_t size) {
  const auto map = [size](int file) -> void* {
    struct stat status {};
    if (file < 0 || fstat(file, &status) != 0 || status.st_size != static_cast<off_t>(size)) return nullptr;
    void* at = mmap(nullptr, size, access_mode, MAP_SHARED | MAP_NORESERVE, file, 0);
    return at == MAP_FAILED ? nullptr : at;
  };
  if (void* at = map(static_cast<int>(descriptor))) return at;
  const char* folder = getenv(protocol::descriptors_environment);
  if (folder == nullptr) return nullptr;
  char path[64];
  if (snprintf(path, sizeof path, "%s/%ld", folder, descriptor) >= static_cast<int>(sizeof path)) return nullptr;
  const int file = ::open(path, O_RDWR | O_CLOEXEC);
  void* at = map(file);
  if (file >= 0) ::close(file);
  return at;
}

}  // namespace

void make_plain_calls_by(SystemCallOfLibc libc) { isochron_call_of_libc.store(libc, std::memory_order_relaxed); }

long plain_call(long number, long a, long b, long c, long d, long e, long f) {
  const SystemCallOfLibc libc = isochron_call_of_libc.load(std::memory_order_relaxed);
  if (libc == nullptr) return bare_call(number, a, b, c, d, e, f);
  const int before = errno;
  long result = libc(number, a, b, c, d, e, f);
  if (result == -1) result = -errno;
  errno = before;
  return result;
}

int real_process_id() { return static_cast<int>(plain_call(SYS_getpid)); }

std::int64_t wall_ns_without_counter() {
  timespec t{};
  plain_call(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&t));
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value) { futex(&word, FUTEX_WAIT, value); }
void futex_wake(std::atomic<std::uint32_t>& word, int most) {
  futex(&word, FUTEX_WAKE, static_cast<std::uint32_t>(most));
}

const char* SharedLink::open(const char* descriptors) {
  char* end = nullptr;
  const long pages = strtol(descriptors, &end, 10);
  if (end == descriptors || *end != ',') return "two descriptors are expected, as in shm:3,4";
  const char* second = end + 1;
  const long bell = strtol(second, &end, 10);
  if (end == second || *end != 0) return "two descriptors are expected, as in shm:3,4";
  auto* found = static_cast<protocol::Pages*>(map_shared(pages, sizeof(protocol::Pages)));
  if (found == nullptr) return other_version;
  if (found->magic_number != protocol::magic || found->version_number != protocol::version) {
    munmap(found, sizeof(protocol::Pages));
    return other_version;
  }
  if (found->owner.load(std::memory_order_relaxed) != static_cast<std::uint32_t>(real_process_id())) {
    munmap(reinterpret_cast<char*>(found) + protocol::head_size, sizeof(protocol::Pages) - protocol::head_size);
    family_ = &found->family;
    enter_family();
    return "only the process that the coordinator started may attach; a script that starts the program needs `exec`";
  }
  void* ring = map_shared(bell, protocol::bell_size);
  if (ring == nullptr) return "the coordinator's doorbell cannot be mapped";
  pthread_once(&ending_once, make_ending);
  bell_ = static_cast<protocol::Bell*>(ring);
  bell_descriptor_ = bell;
  snprintf(address_, sizeof address_, "shm:%ld,%ld", pages, bell);
  if (const char* folder = getenv(protocol::descriptors_environment)) snprintf(folder_, sizeof folder_, "%s", folder);
  pages_ = found;
  family_ = &found->family;
  return nullptr;
}

void SharedLink::enter_family() {
  if (family_ == nullptr) return;
  // It has inherited the priority and the core of a measured program, where it would only run when nobody else does.
  sched_param none{};
  cpu_set_t all;
  memset(&all, 0xff, sizeof all);
  sched_setscheduler(0, SCHED_OTHER, &none);
  sched_setaffinity(0, sizeof all, &all);
  const auto process = static_cast<std::uint32_t>(getpid());
  for (auto& member : family_->members) {
    std::uint32_t there = 0;
    if (member.compare_exchange_strong(there, process, std::memory_order_relaxed) || there == process) return;
  }
  family_->more.fetch_add(1, std::memory_order_relaxed);
}

protocol::Link* SharedLink::mine() {
  if (link_of_this_thread != nullptr) return link_of_this_thread;
  const auto thread = static_cast<std::uint32_t>(plain_call(SYS_gettid));
  for (protocol::Link& link : pages_->links) {
    std::uint32_t owner = 0;
    const bool taken = link.owner.compare_exchange_strong(owner, thread, std::memory_order_acq_rel);
    if (!taken && owner != thread) continue;  // our own from before an exec is taken over
    const auto used = static_cast<std::uint32_t>(&link - pages_->links) + 1;
    std::uint32_t before = pages_->links_used.load(std::memory_order_relaxed);
    while (before < used && !pages_->links_used.compare_exchange_weak(before, used, std::memory_order_acq_rel)) {
    }
    link_of_this_thread = &link;
    pthread_setspecific(ending, &link);
    return &link;
  }
  pages_->links_missing.fetch_add(1, std::memory_order_relaxed);
  if (when_links_are_missing_ != nullptr) when_links_are_missing_();
  return nullptr;
}

void SharedLink::close_after_fork() {
  pages_ = nullptr;
  enter_family();
  if (link_of_this_thread == nullptr) return;
  pthread_setspecific(ending, nullptr);  // or the child's end would give away its parent's link
  link_of_this_thread = nullptr;
}

void SharedLink::release() {
  if (link_of_this_thread == nullptr) return;
  pthread_setspecific(ending, nullptr);
  link_of_this_thread->owner.store(0, std::memory_order_release);
  link_of_this_thread = nullptr;
}

void SharedLink::ask(protocol::Link& link) { ask(link, pages_->patience.load(std::memory_order_relaxed)); }

void SharedLink::ask(protocol::Link& link, std::uint32_t looks) {
  post(link);
  sleep_on(link, link.answered, looks);
}

void SharedLink::post(protocol::Link& link) {
  link.ticket.store(pages_->asks.fetch_add(1, std::memory_order_relaxed), std::memory_order_relaxed);
  link.asked.store(link.asked.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
  bell_->rings.fetch_add(1, std::memory_order_seq_cst);
  futex(&bell_->rings, FUTEX_WAKE, INT_MAX);
}

void SharedLink::await(protocol::Link& link) {
  sleep_on(link, link.answered, pages_->patience.load(std::memory_order_relaxed));
}

void SharedLink::sleep_on(protocol::Link& link, std::atomic<std::uint32_t>& word, std::uint32_t looks) {
  const std::uint32_t turn = link.asked.load(std::memory_order_relaxed);
  // Waking a core that fell asleep costs more than most answers take.
  for (std::uint32_t n = looks; n > 0; --n) {
    if (word.load(std::memory_order_acquire) == turn) return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  for (;;) {
    const std::uint32_t seen = word.load(std::memory_order_acquire);
    if (seen == turn) return;
    // Told before looking again, so that the coordinator either sees a sleeper or is seen.
    link.sleeping.store(1, std::memory_order_seq_cst);
    if (word.load(std::memory_order_seq_cst) != turn) futex(&word, FUTEX_WAIT, seen);
    link.sleeping.store(0, std::memory_order_relaxed);
  }
}

bool SharedLink::wait(protocol::Link& link, std::int64_t until) {
  if (asking) return true;
  asking = true;
  link.exchange = {};
  link.exchange.ask = static_cast<std::uint32_t>(protocol::Ask::wait);
  link.exchange.number = -1;
  link.exchange.time = until;
  const bool passes_on = around_waits_ != nullptr && around_waits_->before(link.exchange);
  post(link);
  if (passes_on) {
    sleep_on(link, link.passed, pages_->patience.load(std::memory_order_relaxed));
    around_waits_->asked();
  }
  await(link);
  if (around_waits_ != nullptr) around_waits_->answered(link.exchange.number);
  const bool goes_on = link.exchange.verdict != static_cast<std::uint32_t>(protocol::Verdict::ended);
  asking = false;
  return goes_on;
}

bool SharedLink::is_asking() { return asking; }

// A call that was answered at once keeps the baton; one that waited has it again in the order of answers.
bool SharedLink::ask_system(protocol::Link& link) {
  if (asking) return false;
  asking = true;
  link.exchange = {};
  link.exchange.ask = static_cast<std::uint32_t>(protocol::Ask::call);
  const bool passes_on = around_waits_ != nullptr && around_waits_->before(link.exchange);
  post(link);
  bool passed = false;
  if (passes_on) {
    sleep_on(link, link.passed, pages_->patience.load(std::memory_order_relaxed));
    const bool answered = link.answered.load(std::memory_order_acquire) == link.asked.load(std::memory_order_relaxed);
    passed = !answered || link.exchange.number != 0;
    if (passed) around_waits_->asked();
  }
  await(link);
  if (passed) around_waits_->answered(link.exchange.number);
  asking = false;
  return true;
}

void SharedLink::prepare_fork() {
  for (int i = 0; i < protocol::descriptors_max; ++i) {
    inherited_.descriptors[i] = pages_->descriptors[i].load(std::memory_order_relaxed);
  }
  inherited_.handled = pages_->handled.load();
  inherited_.ignored = pages_->ignored.load();
}

bool SharedLink::reopen(long descriptor) {
  char path[64];
  snprintf(path, sizeof path, "%s/%ld", folder_, descriptor);
  const int file = ::open(path, O_RDWR | O_CLOEXEC);
  void* at =
      file < 0 ? MAP_FAILED : mmap(nullptr, sizeof(protocol::Pages), access_mode, MAP_SHARED | MAP_NORESERVE, file, 0);
  // Not by what stands in front of close: until here the pages are the parent's, who may have a socket of this number.
  if (file >= 0) plain_call(SYS_close, file);
  if (at == MAP_FAILED) return false;
  auto* before = pages_;
  pages_ = static_cast<protocol::Pages*>(at);
  for (int i = 0; i < protocol::descriptors_max; ++i) pages_->descriptors[i].store(inherited_.descriptors[i]);
  pages_->handled.store(inherited_.handled);
  pages_->ignored.store(inherited_.ignored);
  munmap(before, sizeof(protocol::Pages));
  pages_->owner.store(static_cast<std::uint32_t>(real_process_id()));
  family_ = &pages_->family;
  snprintf(address_, sizeof address_, "shm:%ld,%ld", descriptor, bell_descriptor_);
  pthread_setspecific(ending, nullptr);
  link_of_this_thread = nullptr;
  asking = false;
  return true;
}

std::int64_t SharedLink::ask_for_time(protocol::Link& link) {
  asking = true;
  link.exchange = {};
  link.exchange.ask = static_cast<std::uint32_t>(protocol::Ask::clock);
  ask(link);
  const std::int64_t now = link.exchange.time;
  asking = false;
  return now;
}

std::int64_t SharedLink::now() {
  protocol::ClockFace& face = pages_->clock;
  const auto mode = static_cast<protocol::ClockMode>(face.mode.load(std::memory_order_relaxed));
  if (mode == protocol::ClockMode::held || asking) return look_at_clock(face);
  protocol::Link* link = mine();
  if (link == nullptr) return look_at_clock(face);
  if (mode == protocol::ClockMode::asked) return monotone(face, ask_for_time(*link));
  if (face.first_look.load(std::memory_order_relaxed) != 0) ask_for_time(*link);
  if (mode == protocol::ClockMode::flowing) {
    const std::int64_t value = look_at_clock(face);
    while (!leave_in_ring(*link, value)) ask_for_time(*link);
    return value;
  }
  std::int64_t value = 0;
  // Exactly what it was: another thread may have read a later one already.
  if (take_from_ring(*link, value)) return value;
  const std::int64_t now = ask_for_time(*link);
  // Beyond its record a program has only the time at which the order stands.
  return take_from_ring(*link, value) ? monotone(face, value) : monotone(face, now);
}

// A value of the CPU clock is left for the record like any other look, so that a replay sees it again in its place.
std::int64_t SharedLink::executed(std::int64_t at_most) {
  protocol::ClockFace& face = pages_->clock;
  const auto mode = static_cast<protocol::ClockMode>(face.mode.load(std::memory_order_relaxed));
  if (mode == protocol::ClockMode::held || asking) return look_at_cpu_clock(face);
  protocol::Link* link = mine();
  if (link == nullptr) return look_at_cpu_clock(face);
  if (mode == protocol::ClockMode::asked) {
    ask_for_time(*link);
    return look_at_cpu_clock(face);
  }
  if (face.first_look.load(std::memory_order_relaxed) != 0) ask_for_time(*link);
  if (mode == protocol::ClockMode::flowing) {
    const std::int64_t whole = look_at_cpu_clock(face);
    const std::int64_t value = whole < at_most ? whole : at_most;
    while (!leave_in_ring(*link, value)) ask_for_time(*link);
    return value;
  }
  std::int64_t value = 0;
  if (take_from_ring(*link, value)) return value;
  ask_for_time(*link);
  return take_from_ring(*link, value) ? value : look_at_cpu_clock(face);
}

}  // namespace isochron::client
