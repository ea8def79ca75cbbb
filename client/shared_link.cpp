#include "client/shared_link.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

namespace isochron::client {

namespace {

// A system call without libc's `syscall`, which an interposed clock replaces.
long futex(std::atomic<std::uint32_t>* word, int operation, std::uint32_t value) {
#if defined(__x86_64__)
  long result;
  register long no_timeout asm("r10") = 0;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(SYS_futex), "D"(word), "S"(operation), "d"(value), "r"(no_timeout)
               : "rcx", "r11", "memory");
  return result;
#else
  return syscall(SYS_futex, word, operation, value, nullptr, nullptr, 0);
#endif
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

const char* SharedLink::open(const char* descriptors) {
  char* end = nullptr;
  const long pages = strtol(descriptors, &end, 10);
  if (end == descriptors || *end != ',') return "two descriptors are expected, as in shm:3,4";
  const char* second = end + 1;
  const long bell = strtol(second, &end, 10);
  if (end == second || *end != 0) return "two descriptors are expected, as in shm:3,4";
  struct stat status {};
  if (fstat(static_cast<int>(pages), &status) != 0 || status.st_size != static_cast<off_t>(sizeof(protocol::Pages))) {
    return "the coordinator's memory is not there, or is of another version";
  }
  constexpr int access = PROT_READ | PROT_WRITE;
  void* at = mmap(nullptr, sizeof(protocol::Pages), access, MAP_SHARED | MAP_NORESERVE, static_cast<int>(pages), 0);
  if (at == MAP_FAILED) return "the coordinator's memory cannot be mapped";
  auto* found = static_cast<protocol::Pages*>(at);
  if (found->magic_number != protocol::magic || found->version_number != protocol::version) {
    munmap(at, sizeof(protocol::Pages));
    return "program and coordinator speak different versions; build both from one Isochron";
  }
  if (found->owner.load(std::memory_order_relaxed) != static_cast<std::uint32_t>(getpid())) {
    munmap(at, sizeof(protocol::Pages));
    return "only the process that the coordinator started may attach; a script that starts the program needs `exec`";
  }
  void* ring = mmap(nullptr, 4096, access, MAP_SHARED, static_cast<int>(bell), 0);
  if (ring == MAP_FAILED) return "the coordinator's doorbell cannot be mapped";
  pthread_once(&ending_once, make_ending);
  bell_ = static_cast<protocol::Bell*>(ring);
  pages_ = found;
  return nullptr;
}

protocol::Link* SharedLink::mine() {
  if (link_of_this_thread != nullptr) return link_of_this_thread;
  const auto thread = static_cast<std::uint32_t>(gettid());
  for (protocol::Link& link : pages_->links) {
    std::uint32_t owner = 0;
    const bool taken = link.owner.compare_exchange_strong(owner, thread, std::memory_order_acq_rel);
    if (!taken && owner != thread) continue;  // our own from before an exec is taken over
    const auto used = static_cast<std::uint32_t>(&link - pages_->links) + 1;
    if (pages_->links_used.load(std::memory_order_relaxed) < used) pages_->links_used.store(used);
    link_of_this_thread = &link;
    pthread_setspecific(ending, &link);
    return &link;
  }
  return nullptr;
}

void SharedLink::close_after_fork() {
  pages_ = nullptr;
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

void SharedLink::ask(protocol::Link& link) {
  const std::uint32_t turn = link.asked.load(std::memory_order_relaxed) + 1;
  link.asked.store(turn, std::memory_order_seq_cst);
  bell_->rings.fetch_add(1, std::memory_order_seq_cst);
  futex(&bell_->rings, FUTEX_WAKE, INT_MAX);
  // Waking a core that fell asleep costs more than most answers take.
  for (std::uint32_t n = pages_->patience.load(std::memory_order_relaxed); n > 0; --n) {
    if (link.answered.load(std::memory_order_acquire) == turn) return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  for (;;) {
    const std::uint32_t answered = link.answered.load(std::memory_order_acquire);
    if (answered == turn) return;
    // Told before looking again, so that the coordinator either sees a sleeper or is seen.
    link.sleeping.store(1, std::memory_order_seq_cst);
    if (link.answered.load(std::memory_order_seq_cst) != turn) futex(&link.answered, FUTEX_WAIT, answered);
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
  ask(link);
  const bool goes_on = link.exchange.verdict != static_cast<std::uint32_t>(protocol::Verdict::ended);
  asking = false;
  return goes_on;
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
  if (mode == protocol::ClockMode::flowing) {
    const std::int64_t value = look_at_clock(face);
    while (!leave_in_ring(*link, value)) ask_for_time(*link);
    return value;
  }
  std::int64_t value = 0;
  if (take_from_ring(*link, value)) return monotone(face, value);
  const std::int64_t now = ask_for_time(*link);
  // Beyond its record a program has only the time at which the order stands.
  return take_from_ring(*link, value) ? monotone(face, value) : monotone(face, now);
}

}  // namespace isochron::client
