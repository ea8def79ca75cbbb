#include "client/interpose/raw_calls.hpp"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "client/interpose/system.hpp"

using namespace isochron::interpose;
using isochron::client::plain_call;
using isochron::protocol::CounterUse;

namespace {

ISOCHRON_ORIGINAL(sigaction)
ISOCHRON_ORIGINAL(syscall)

// Also where this machine's headers do not know them yet.
constexpr int set_user_dispatch = 59;  // PR_SET_SYSCALL_USER_DISPATCH
constexpr int caught_by_dispatch = 2;  // SYS_USER_DISPATCH
constexpr std::int64_t booted = 1'000'000'000'000;

bool catches = false;
CounterUse the_counter = CounterUse::host;
struct sigaction kept_calls {};  // the program's own
struct sigaction kept_faults {};

#if defined(__x86_64__)

struct Code {
  std::uintptr_t begin = 0, end = 0;
  [[nodiscard]] bool has(std::uintptr_t at) const { return at >= begin && at < end; }
};
Code libc_code, loader_code;

/// The code of the object that an address is in.
Code code_of(const void* inside) {
  struct Search {
    std::uintptr_t at;
    Code found;
  } search{reinterpret_cast<std::uintptr_t>(inside), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* with) {
        auto& s = *static_cast<Search*>(with);
        Code code;
        bool here = false;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const auto& part = object->dlpi_phdr[i];
          if (part.p_type != PT_LOAD) continue;
          const Code whole{object->dlpi_addr + part.p_vaddr, object->dlpi_addr + part.p_vaddr + part.p_memsz};
          here = here || whole.has(s.at);
          if ((part.p_flags & PF_X) != 0 && code.begin == 0) code = whole;
        }
        if (here) s.found = code;
        return here ? 1 : 0;
      },
      &search);
  return search.found;
}

// ---- calls

/// Goroutines have stacks of a few kilobytes, and their signal stacks have 32: a call is made on one of our own.
constexpr std::size_t stack_size = std::size_t{256} << 10;
__attribute__((tls_model("initial-exec"))) thread_local char* own_stack = nullptr;
__attribute__((tls_model("initial-exec"))) thread_local bool on_own_stack = false;

struct Caught {
  ucontext_t* context;
  long result;
};

void make_call(Caught* caught) {
  const auto& r = caught->context->uc_mcontext.gregs;
  const long arguments[6] = {static_cast<long>(r[REG_RDI]), static_cast<long>(r[REG_RSI]),
                             static_cast<long>(r[REG_RDX]), static_cast<long>(r[REG_R10]),
                             static_cast<long>(r[REG_R8]),  static_cast<long>(r[REG_R9])};
  caught->result = mediated_call(static_cast<long>(r[REG_RAX]), arguments, caught->context);
}

void make_call_on(char* top, Caught* caught) {
  asm volatile(
      "movq %%rsp, %%rbx\n\t"
      "movq %0, %%rsp\n\t"
      "callq *%2\n\t"
      "movq %%rbx, %%rsp"
      : "+r"(top), "+D"(caught)
      : "r"(&make_call)
      : "rbx", "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3",
        "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

char* stack_of_thread() {
  if (own_stack != nullptr || on_own_stack) return own_stack;
  const long made =
      plain_call(SYS_mmap, 0, stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return own_stack = made < 0 && made > -4096 ? nullptr : reinterpret_cast<char*>(made);
}

void chain(const struct sigaction& kept, int signal, siginfo_t* info, void* context) {
  const bool informed = (kept.sa_flags & SA_SIGINFO) != 0;
  if (informed && kept.sa_sigaction != nullptr) return kept.sa_sigaction(signal, info, context);
  if (!informed && kept.sa_handler != SIG_DFL && kept.sa_handler != SIG_IGN) return kept.sa_handler(signal);
  struct sigaction plain {};  // what went wrong goes wrong again, and ends the program as it should
  libc_sigaction(signal, &plain, nullptr);
}

void on_call(int signal, siginfo_t* info, void* context) {
  if (info->si_code != caught_by_dispatch) return chain(kept_calls, signal, info, context);
  const int error = errno;
  auto* where = static_cast<ucontext_t*>(context);
  auto& r = where->uc_mcontext.gregs;
  Caught caught{where, 0};
  if (r[REG_RAX] == SYS_rt_sigreturn) {  // of a handler whose end is not libc's: what it returns to is on its stack
    const auto* frame = reinterpret_cast<const ucontext_t*>(r[REG_RSP]);
    where->uc_mcontext = frame->uc_mcontext;
    memcpy(&where->uc_sigmask, &frame->uc_sigmask, sizeof(std::uint64_t));
    where->uc_stack = frame->uc_stack;
    errno = error;
    return;
  }
  if (loader_code.has(static_cast<std::uintptr_t>(r[REG_RIP]))) {
    caught.result =
        plain_call(static_cast<long>(r[REG_RAX]), static_cast<long>(r[REG_RDI]), static_cast<long>(r[REG_RSI]),
                   static_cast<long>(r[REG_RDX]), static_cast<long>(r[REG_R10]), static_cast<long>(r[REG_R8]),
                   static_cast<long>(r[REG_R9]));
  } else if (char* stack = on_own_stack ? nullptr : stack_of_thread(); stack != nullptr) {
    on_own_stack = true;
    make_call_on(stack + stack_size - 128, &caught);
    on_own_stack = false;
  } else {
    make_call(&caught);
  }
  r[REG_RAX] = caught.result;
  errno = error;
}

bool catch_calls() {
  return plain_call(SYS_prctl, set_user_dispatch, 1, static_cast<long>(libc_code.begin),
                    static_cast<long>(libc_code.end - libc_code.begin)) == 0;
}

// ---- the vDSO

int clock_of_vdso(clockid_t clock, timespec* t) {
  if (is_cpu_clock(clock) || is_virtual(clock)) return clock_gettime(clock, t);
  return static_cast<int>(plain_call(SYS_clock_gettime, clock, reinterpret_cast<long>(t)));
}
int day_of_vdso(timeval* t, void* zone) {
  if (!attached())
    return static_cast<int>(plain_call(SYS_gettimeofday, reinterpret_cast<long>(t), reinterpret_cast<long>(zone)));
  if (t != nullptr) *t = from_ns_us(now_ns() + epoch_ns());
  if (zone != nullptr) plain_call(SYS_gettimeofday, 0, reinterpret_cast<long>(zone));
  return 0;
}
time_t seconds_of_vdso(time_t* t) {
  if (!attached()) return plain_call(SYS_time, reinterpret_cast<long>(t));
  const time_t seconds = (now_ns() + epoch_ns()) / 1'000'000'000;
  if (t != nullptr) *t = seconds;
  return seconds;
}

void put_jump(char* at, void* to) {
  const unsigned char jump[] = {0xff, 0x25, 0, 0, 0, 0};  // jmp [rip]
  memcpy(at, jump, sizeof jump);
  memcpy(at + sizeof jump, &to, sizeof to);
}

/// Its functions read the kernel's clock without asking the kernel. Who has found them, libc too, finds ours there.
void lead_vdso_here() {
  auto* image = reinterpret_cast<char*>(getauxval(AT_SYSINFO_EHDR));
  if (image == nullptr) return;
  const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(image);
  const auto* segments = reinterpret_cast<const Elf64_Phdr*>(image + header.e_phoff);
  const Elf64_Dyn* dynamic = nullptr;
  std::size_t size = 0;
  for (int i = 0; i < header.e_phnum; ++i) {
    if (segments[i].p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const Elf64_Dyn*>(image + segments[i].p_vaddr);
    if (segments[i].p_type == PT_LOAD) size = segments[i].p_vaddr + segments[i].p_memsz;
  }
  const Elf64_Sym* symbols = nullptr;
  const char* names = nullptr;
  const std::uint32_t* table = nullptr;
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    char* at = image + dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const Elf64_Sym*>(at);
    if (dynamic->d_tag == DT_STRTAB) names = at;
    if (dynamic->d_tag == DT_HASH) table = reinterpret_cast<const std::uint32_t*>(at);
  }
  std::uint32_t count = table != nullptr ? table[1] : 0;
  if (symbols == nullptr || names == nullptr) return;
  // Without the old table the symbols end where the names begin.
  if (table == nullptr) {
    count = static_cast<std::uint32_t>(
        (reinterpret_cast<std::uintptr_t>(names) - reinterpret_cast<std::uintptr_t>(symbols)) / sizeof(Elf64_Sym));
  }
  const std::size_t whole = (size + 4095) & ~std::size_t{4095};
  if (mprotect(image, whole, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return;
  struct Ours {
    const char* name;
    void* function;
  };
  const Ours all[] = {{"__vdso_clock_gettime", reinterpret_cast<void*>(&clock_of_vdso)},
                      {"__vdso_gettimeofday", reinterpret_cast<void*>(&day_of_vdso)},
                      {"__vdso_time", reinterpret_cast<void*>(&seconds_of_vdso)}};
  for (std::uint32_t i = 0; i < count; ++i) {
    for (const Ours& ours : all) {
      if (symbols[i].st_size >= 14 && strcmp(names + symbols[i].st_name, ours.name) == 0)
        put_jump(image + symbols[i].st_value, ours.function);
    }
  }
  mprotect(image, whole, PROT_READ | PROT_EXEC);
}

// ---- the time stamp counter

/// Counts of a counter that runs at 1 GHz, the same on every machine.
void on_fault(int signal, siginfo_t* info, void* context) {
  auto& r = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto* code = reinterpret_cast<const unsigned char*>(r[REG_RIP]);
  const auto wrong = reinterpret_cast<std::uintptr_t>(info->si_addr);
  // The kernel says SI_KERNEL, without an address, of an instruction that is not allowed: so it can be read.
  const bool may_be = info->si_code == SI_KERNEL && wrong == 0;
  const bool plain = may_be && code[0] == 0x0f && code[1] == 0x31;
  const bool with_core = may_be && code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xf9;
  if (!plain && !with_core) return chain(kept_faults, signal, info, context);
  if (the_counter == CounterUse::refused) {
    constexpr char text[] = "reads the processor's time stamp counter (rdtsc), which the scenario refuses";
    tell_refused(text);
    plain_write(2, "isochron: the program ", 22);
    plain_write(2, text, sizeof text - 1);
    plain_write(2, "\n", 1);
    _exit(1);
  }
  const int error = errno;
  const auto counts = static_cast<std::uint64_t>(now_ns() + booted);
  r[REG_RAX] = static_cast<greg_t>(counts & 0xffffffff);
  r[REG_RDX] = static_cast<greg_t>(counts >> 32);
  if (with_core) r[REG_RCX] = 0;
  r[REG_RIP] += with_core ? 3 : 2;
  errno = error;
}

void stand_in_front(int signal, void (*handler)(int, siginfo_t*, void*), const struct sigaction& kept) {
  struct sigaction ours {};
  ours.sa_sigaction = handler;
  ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | (kept.sa_flags & SA_RESTART);
  if (signal != SIGSYS) ours.sa_mask = kept.sa_mask;
  let_through(ours.sa_mask);
  libc_sigaction(signal, &ours, nullptr);
}

#endif

}  // namespace

namespace isochron::interpose {

void tell_refused(const char* what) {
  if (in_stack() && !is_asking()) {
    Call call = call_of(SystemCall::refused);
    ask_system(call, what, strlen(what));
    return;
  }
  for (const char* part : {"isochron: the program ", what, "\n"}) plain_write(2, part, strlen(part));
}

bool is_kept(int signal) {
  return (signal == SIGSYS && catches) || (signal == SIGSEGV && the_counter != CounterUse::host);
}

void let_through(sigset_t& mask) {
  for (const int signal : {SIGSYS, SIGSEGV}) {
    if (is_kept(signal)) sigdelset(&mask, signal);
  }
}

#if defined(__x86_64__)

int keep_action(int signal, const struct sigaction* action, struct sigaction* old) {
  struct sigaction& kept = signal == SIGSYS ? kept_calls : kept_faults;
  const struct sigaction before = kept;
  if (action != nullptr) {
    kept = *action;
    stand_in_front(signal, signal == SIGSYS ? on_call : on_fault, kept);
  }
  if (old != nullptr) *old = before;
  return 0;
}

void begin_to_catch(CounterUse counter) {
  libc_code = code_of(reinterpret_cast<const void*>(libc_syscall.get()));
  loader_code = code_of(reinterpret_cast<const void*>(getauxval(AT_BASE)));
  if (libc_code.begin != 0) {
    client::make_plain_calls_by(libc_syscall.get());
    catches = true;
    libc_sigaction(SIGSYS, nullptr, &kept_calls);
    stand_in_front(SIGSYS, on_call, kept_calls);
    lead_vdso_here();
  }
  the_counter = counter;
  if (the_counter != CounterUse::host) {
    libc_sigaction(SIGSEGV, nullptr, &kept_faults);
    stand_in_front(SIGSEGV, on_fault, kept_faults);
  }
  sigset_t needed;
  sigemptyset(&needed);
  for (const int signal : {SIGSYS, SIGSEGV}) {
    if (is_kept(signal)) sigaddset(&needed, signal);
  }
  plain_call(SYS_rt_sigprocmask, SIG_UNBLOCK, reinterpret_cast<long>(&needed), 0, sizeof(std::uint64_t));
  catch_in_thread();
  trap_counter();
}

void catch_in_thread() {
  if (!catches || catch_calls()) return;
  static std::atomic<bool> told{false};
  if (!told.exchange(true))
    tell_refused("may make system calls without libc, and this kernel cannot catch them (syscall user dispatch)");
}

void end_catching() {
  if (own_stack == nullptr || on_own_stack) return;
  plain_call(SYS_munmap, reinterpret_cast<long>(own_stack), stack_size);
  own_stack = nullptr;
}

void free_counter() {
  if (the_counter != CounterUse::host) plain_call(SYS_prctl, PR_SET_TSC, PR_TSC_ENABLE);
}
void trap_counter() {
  if (the_counter != CounterUse::host) plain_call(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV);
}

#else

int keep_action(int, const struct sigaction*, struct sigaction*) { return 0; }
void begin_to_catch(CounterUse) {}
void catch_in_thread() {}
void end_catching() {}
void free_counter() {}
void trap_counter() {}

#endif

}  // namespace isochron::interpose
