// The part of AllocationGuard that must be linked: it stands between the program and malloc, and turns the kernel's
// page-fault events of a thread into stacks. Under a sanitizer, which has a malloc of its own, it uses that one's
// hooks.

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "rt/allocation_guard.hpp"

using isochron::rt::GuardFindings;
using isochron::rt::OnViolation;
using isochron::rt::Violation;

namespace {

// In the program's own thread block, so that reaching it never allocates.
__attribute__((tls_model("initial-exec"))) thread_local GuardFindings* watching = nullptr;

void keep(GuardFindings& findings, Violation what, std::uint64_t bytes, const void* address) {
  if (findings.kept == GuardFindings::most_kept) return;
  GuardFindings::Found& found = findings.found[findings.kept++];
  found.what = what;
  found.bytes = bytes;
  found.address = address;
  found.frames = backtrace(found.stack.data(), GuardFindings::most_frames);
}

[[noreturn]] void give_up(const GuardFindings& findings) {
  const char* what = findings.kept > 0 && findings.found[findings.kept - 1].what == Violation::page_fault
                         ? "page fault in real-time thread: "
                         : "heap use in real-time thread: ";
  (void)!write(STDERR_FILENO, what, std::strlen(what));
  (void)!write(STDERR_FILENO, findings.name, std::strlen(findings.name));
  (void)!write(STDERR_FILENO, "\n", 1);
  void* stack[GuardFindings::most_frames];
  backtrace_symbols_fd(stack, backtrace(stack, GuardFindings::most_frames), STDERR_FILENO);
  std::abort();
}

void note(Violation what, std::uint64_t bytes, const void* address) {
  GuardFindings* findings = watching;
  if (findings == nullptr) return;
  watching = nullptr;  // whatever the stack walk does is not the program's doing
  const int error = errno;
  findings->allocations += what == Violation::allocate ? 1 : 0;
  findings->frees += what == Violation::free ? 1 : 0;
  findings->bytes += bytes;
  keep(*findings, what, bytes, address);
  if (findings->on_violation == OnViolation::abort) give_up(*findings);
  errno = error;
  watching = findings;
}

void on_fault_event(int, siginfo_t* info, void*) {
  const GuardFindings* findings = watching;
  if (findings == nullptr) return;
  const int events = findings->fault_events;
  ioctl(events, PERF_EVENT_IOC_DISABLE, 0);  // the stack walk may itself touch a new page
  note(Violation::page_fault, 0, info->si_addr);
  ioctl(events, PERF_EVENT_IOC_ENABLE, 0);
}

bool install_handler() {
  void* stack[4];
  backtrace(stack, 4);  // loads its library now rather than in a real-time thread
  struct sigaction action {};
  action.sa_sigaction = &on_fault_event;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  return sigaction(SIGTRAP, &action, nullptr) == 0;
}

}  // namespace

extern "C" {

GuardFindings* isochron_rt_guard_watch(GuardFindings* findings) {
  GuardFindings* before = watching;
  watching = findings;
  return before;
}

// The kernel raises SIGTRAP in the thread itself right after each page fault of its own, before it goes on.
int isochron_rt_guard_open_fault_events(void) {
  static const bool ready = install_handler();
  if (!ready) return -1;
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_PAGE_FAULTS;
  attributes.sample_period = 1;
  attributes.sample_type = PERF_SAMPLE_ADDR;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.remove_on_exec = 1;
  attributes.sigtrap = 1;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

void isochron_rt_guard_close_fault_events(int events) {
  if (events >= 0) close(events);
}

void isochron_rt_guard_describe(const void* frame, char* text, std::size_t size) {
  Dl_info info{};
  if (dladdr(frame, &info) == 0) {
    std::snprintf(text, size, "%p", frame);
    return;
  }
  const auto offset = static_cast<const char*>(frame) - static_cast<const char*>(info.dli_fbase);
  if (info.dli_sname == nullptr) {  // not exported: addr2line -e FILE OFFSET tells the line
    std::snprintf(text, size, "%s +0x%tx", info.dli_fname, offset);
    return;
  }
  char* plain = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, nullptr);
  std::snprintf(text, size, "%s (%s +0x%tx)", plain != nullptr ? plain : info.dli_sname, info.dli_fname, offset);
  std::free(plain);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*, size_t),
                                              void (*on_free)(const volatile void*));
__attribute__((constructor)) static void install_hooks() {
  __sanitizer_install_malloc_and_free_hooks(
      [](const volatile void*, size_t size) { note(Violation::allocate, size, nullptr); },
      [](const volatile void* p) { note(Violation::free, 0, const_cast<const void*>(p)); });
}

#else

// glibc's own names for what stands behind malloc.
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

void* malloc(size_t size) {
  note(Violation::allocate, size, nullptr);
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  note(Violation::allocate, count * size, nullptr);
  return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  note(Violation::allocate, size, old);
  return __libc_realloc(old, size);
}
void* memalign(size_t alignment, size_t size) {
  note(Violation::allocate, size, nullptr);
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  note(Violation::allocate, size, nullptr);
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** result, size_t alignment, size_t size) {
  note(Violation::allocate, size, nullptr);
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
  void* memory = __libc_memalign(alignment, size);
  if (memory == nullptr) return ENOMEM;
  *result = memory;
  return 0;
}
void free(void* p) {
  if (p != nullptr) note(Violation::free, 0, p);
  __libc_free(p);
}

#endif

}  // extern "C"
