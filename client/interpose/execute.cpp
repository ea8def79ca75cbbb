// What a process of a stack executes goes on taking part: its environment is made whole again, whatever the program did
// to it, and what could not be followed is refused with its name. libc's own ways to start processes are made of these.

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <paths.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/interpose/raw_calls.hpp"
#include "client/interpose/system.hpp"

using namespace isochron::interpose;

namespace {

ISOCHRON_ORIGINAL(execve)
ISOCHRON_ORIGINAL(fexecve)
ISOCHRON_ORIGINAL(posix_spawn)
ISOCHRON_ORIGINAL(posix_spawnp)
ISOCHRON_ORIGINAL(popen)
ISOCHRON_ORIGINAL(pclose)
ISOCHRON_ORIGINAL(system)

/// Why a file cannot be followed when it is executed; null: it can, or the kernel will say what is wrong.
const char* obstacle(const char* path, int depth) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  unsigned char head[4096] = {};
  const ssize_t size = plain_read(file, head, sizeof head - 1);
  struct stat status {};
  fstat(file, &status);
  close(file);
  if (size < 4) return nullptr;
  if (head[0] == '#' && head[1] == '!' && depth < 4) {
    char* interpreter = reinterpret_cast<char*>(head) + 2;
    interpreter += strspn(interpreter, " \t");
    interpreter[strcspn(interpreter, " \t\n")] = 0;
    return obstacle(interpreter, depth + 1);
  }
  if (memcmp(head, ELFMAG, SELFMAG) != 0) return nullptr;
  if (head[EI_CLASS] != ELFCLASS64) return "is not a 64-bit program";
  if ((status.st_mode & (S_ISUID | S_ISGID)) != 0 && status.st_uid != geteuid()) return "runs as another user (setuid)";
  Elf64_Ehdr elf{};
  memcpy(&elf, head, sizeof elf);
  for (int i = 0; i < elf.e_phnum; ++i) {
    const std::size_t at = elf.e_phoff + std::size_t{elf.e_phentsize} * static_cast<unsigned>(i);
    if (at + sizeof(Elf64_Phdr) > static_cast<std::size_t>(size)) return nullptr;
    Elf64_Phdr part{};
    memcpy(&part, head + at, sizeof part);
    if (part.p_type == PT_INTERP) return nullptr;
  }
  return "is statically linked";
}

/// Whether it may be executed; otherwise it is told why not.
bool may_execute(const char* path) {
  const char* why = path == nullptr ? nullptr : obstacle(path, 0);
  if (why == nullptr) return true;
  char text[PATH_MAX + 100];
  const int size =
      snprintf(text, sizeof text, "executes %s, which %s and cannot be followed; see docs/stacks.md", path, why);
  Call call = call_of(SystemCall::refused);
  ask_system(call, text, static_cast<std::size_t>(size));
  errno = EPERM;
  return false;
}

std::size_t count(char* const* list) {
  std::size_t n = 0;
  while (list != nullptr && list[n] != nullptr) ++n;
  return n;
}

bool same_name(const char* entry, const char* other) {
  const std::size_t size = strcspn(other, "=");
  return strncmp(entry, other, size) == 0 && entry[size] == '=';
}

int execute(const char* path, char* const* arguments, char* const* environment) {
  if (!in_stack()) return libc_execve(path, arguments, environment);
  if (!may_execute(path)) return -1;
  const char* const* keep = environment_to_keep();
  const std::size_t n = count(environment), kept = count(const_cast<char*const*>(keep));
  auto** whole = static_cast<char**>(malloc((n + kept + 1) * sizeof(char*)));
  if (whole == nullptr) return returned(-ENOMEM);
  std::size_t size = 0;
  for (std::size_t i = 0; i < n; ++i) {
    bool ours = false;
    for (std::size_t k = 0; k < kept; ++k) ours = ours || same_name(environment[i], keep[k]);
    if (!ours) whole[size++] = environment[i];
  }
  for (std::size_t k = 0; k < kept; ++k) whole[size++] = const_cast<char*>(keep[k]);
  whole[size] = nullptr;
  free_counter();
  libc_execve(path, arguments, whole);
  trap_counter();
  free(whole);
  return -1;
}

/// As execvp finds it.
int execute_found(const char* file, char* const* arguments, char* const* environment) {
  if (file == nullptr || *file == 0) return returned(-ENOENT);
  const auto as_script = [&](const char* path) {
    const std::size_t n = count(arguments);
    auto** shell = static_cast<char**>(malloc((n + 3) * sizeof(char*)));
    if (shell == nullptr) return;
    shell[0] = const_cast<char*>("sh");
    shell[1] = const_cast<char*>(path);
    for (std::size_t i = 1; i <= n; ++i) shell[i + 1] = arguments[i];
    if (n == 0) shell[2] = nullptr;
    execute(_PATH_BSHELL, shell, environment);
    free(shell);
  };
  if (strchr(file, '/') != nullptr) {
    execute(file, arguments, environment);
    if (errno == ENOEXEC) as_script(file);
    return -1;
  }
  const char* folders = getenv("PATH");
  if (folders == nullptr) folders = "/bin:/usr/bin";
  int error = ENOENT;
  for (const char* at = folders;; ++at) {
    const std::size_t size = strcspn(at, ":");
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%.*s%s%s", static_cast<int>(size), at, size > 0 ? "/" : "", file);
    if (length < static_cast<int>(sizeof path) && access(path, F_OK) == 0) {
      execute(path, arguments, environment);
      if (errno == ENOEXEC) as_script(path);
      if (errno != ENOENT && errno != ENOTDIR) error = errno;
      if (errno != EACCES && errno != ENOENT && errno != ENOTDIR) break;
    }
    at += size;
    if (*at == 0) break;
  }
  errno = error;
  return -1;
}

// What glibc keeps of posix_spawn_file_actions, in its order.
struct Action {
  enum Kind : int { close, dup2, open, chdir, fchdir, closefrom, tcsetpgrp };
  Kind kind;
  union {
    struct {
      int fd;
    } one;
    struct {
      int fd, copy;
    } copy;
    struct {
      int fd;
      char* path;
      int flags;
      mode_t mode;
    } file;
    struct {
      char* path;
    } folder;
  };
};

bool perform(const Action& action) {
  switch (action.kind) {
    case Action::close:
      close(action.one.fd);
      return true;
    case Action::dup2:
      if (action.copy.fd == action.copy.copy) return fcntl(action.copy.fd, F_SETFD, 0) == 0;
      return dup2(action.copy.fd, action.copy.copy) >= 0;
    case Action::open: {
      const int file = open(action.file.path, action.file.flags, action.file.mode);
      if (file < 0) return false;
      if (file == action.file.fd) return true;
      dup2(file, action.file.fd);
      close(file);
      return true;
    }
    case Action::chdir:
      return chdir(action.folder.path) == 0;
    case Action::fchdir:
      return fchdir(action.one.fd) == 0;
    case Action::closefrom:
      return close_range(static_cast<unsigned>(action.one.fd), ~0u, 0) == 0;
    case Action::tcsetpgrp:
      return true;
  }
  return true;
}

/// In the child: never returns but by an errno.
int become(const char* file, bool search, const posix_spawn_file_actions_t* actions,
           const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  short flags = 0;
  if (attributes != nullptr) posix_spawnattr_getflags(attributes, &flags);
  if ((flags & POSIX_SPAWN_SETSIGDEF) != 0) {
    sigset_t plain;
    posix_spawnattr_getsigdefault(attributes, &plain);
    for (int signal = 1; signal < NSIG; ++signal) {
      if (sigismember(&plain, signal) == 1) ::signal(signal, SIG_DFL);
    }
  }
  if ((flags & POSIX_SPAWN_SETSIGMASK) != 0) {
    sigset_t mask;
    posix_spawnattr_getsigmask(attributes, &mask);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
  }
  if (actions != nullptr) {
    const auto* list = *reinterpret_cast<const Action* const*>(reinterpret_cast<const char*>(actions) + 8);
    for (int i = 0; i < actions->__used; ++i) {
      if (!perform(list[i])) return errno;
    }
  }
  if (search) {
    execute_found(file, arguments, environment);
  } else {
    execute(file, arguments, environment);
  }
  return errno;
}

int spawn(pid_t* process, const char* file, bool search, const posix_spawn_file_actions_t* actions,
          const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  int report[2];
  if (const long error = -isochron::client::plain_call(SYS_pipe2, reinterpret_cast<long>(report), O_CLOEXEC);
      error != 0)
    return static_cast<int>(error);  // not the program's: the system's own
  const int high = fcntl(report[1], F_DUPFD_CLOEXEC, 300);
  if (high >= 0) {
    close(report[1]);
    report[1] = high;
  }
  const pid_t child = fork();
  if (child == 0) {
    const int error = become(file, search, actions, attributes, arguments, environment);
    plain_write(report[1], &error, sizeof error);
    _exit(127);
  }
  const int failed = errno;
  close(report[1]);
  if (child < 0) {
    close(report[0]);
    return failed;
  }
  // A child that executes takes its time, in simulated time too: whether it could is known when it did.
  int error = 0;
  pid_t found = 0;
  if (!may_be_executed(file, search)) found = waitpid(child, nullptr, 0);
  if (found == child && plain_read(report[0], &error, sizeof error) != sizeof error) error = 0;
  close(report[0]);
  if (error == 0 && process != nullptr) *process = child;
  return error;
}

}  // namespace

namespace isochron::interpose {
bool may_be_executed(const char* file, bool search) {
  if (file == nullptr) return false;
  if (!search || strchr(file, '/') != nullptr) return access(file, X_OK) == 0;
  const char* folders = getenv("PATH");
  if (folders == nullptr) folders = "/bin:/usr/bin";
  for (const char* at = folders;; ++at) {
    const std::size_t size = strcspn(at, ":");
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%.*s%s%s", static_cast<int>(size), at, size > 0 ? "/" : "", file);
    if (length < static_cast<int>(sizeof path) && access(path, X_OK) == 0) return true;
    at += size;
    if (*at == 0) return false;
  }
}
}  // namespace isochron::interpose

namespace {

struct Stream {
  FILE* file;
  pid_t process;
  Stream* next;
};
Stream* streams = nullptr;

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int execve(const char* path, char* const arguments[], char* const environment[]) {
  return execute(path, arguments, environment);
}
int execv(const char* path, char* const arguments[]) { return execute(path, arguments, environ); }
int execvp(const char* file, char* const arguments[]) { return execute_found(file, arguments, environ); }
int execvpe(const char* file, char* const arguments[], char* const environment[]) {
  return execute_found(file, arguments, environment);
}
int fexecve(int file, char* const arguments[], char* const environment[]) {
  if (!in_stack()) return libc_fexecve(file, arguments, environment);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  return execute(path, arguments, environment);
}

static int execute_list(const char* file, bool search, const char* first, va_list list, bool has_environment) {
  char* arguments[1024] = {const_cast<char*>(first)};
  std::size_t n = 0;
  while (arguments[n] != nullptr && n + 1 < 1023) arguments[++n] = va_arg(list, char*);
  char* const* environment = has_environment ? va_arg(list, char**) : environ;
  return search ? execute_found(file, arguments, environment) : execute(file, arguments, environment);
}
int execl(const char* path, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const int result = execute_list(path, false, first, list, false);
  va_end(list);
  return result;
}
int execlp(const char* file, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const int result = execute_list(file, true, first, list, false);
  va_end(list);
  return result;
}
int execle(const char* path, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const int result = execute_list(path, false, first, list, true);
  va_end(list);
  return result;
}

int posix_spawn(pid_t* __restrict process, const char* __restrict path,
                const posix_spawn_file_actions_t* __restrict actions, const posix_spawnattr_t* __restrict attributes,
                char* const* arguments, char* const* environment) {
  if (!in_stack()) return libc_posix_spawn(process, path, actions, attributes, arguments, environment);
  return spawn(process, path, false, actions, attributes, arguments, environment);
}
int posix_spawnp(pid_t* __restrict process, const char* __restrict file,
                 const posix_spawn_file_actions_t* __restrict actions, const posix_spawnattr_t* __restrict attributes,
                 char* const* arguments, char* const* environment) {
  if (!in_stack()) return libc_posix_spawnp(process, file, actions, attributes, arguments, environment);
  return spawn(process, file, true, actions, attributes, arguments, environment);
}

int system(const char* command) {
  if (!in_stack() || command == nullptr) return libc_system(command);
  const pid_t child = fork();
  if (child == 0) {
    execl(_PATH_BSHELL, "sh", "-c", command, nullptr);
    _exit(127);
  }
  int status = -1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

FILE* popen(const char* command, const char* mode) {
  if (!in_stack()) return libc_popen(command, mode);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return nullptr;
  const int ours = mode[0] == 'r' ? 0 : 1;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1 - ours], 1 - ours);
    execl(_PATH_BSHELL, "sh", "-c", command, nullptr);
    _exit(127);
  }
  close(ends[1 - ours]);
  FILE* file = child < 0 ? nullptr : fdopen(ends[ours], mode[0] == 'r' ? "r" : "w");
  auto* entry = file == nullptr ? nullptr : static_cast<Stream*>(malloc(sizeof(Stream)));
  if (entry == nullptr) {
    close(ends[ours]);
    return nullptr;
  }
  *entry = {file, child, streams};
  streams = entry;
  return file;
}

int pclose(FILE* file) {
  for (Stream** at = &streams; *at != nullptr; at = &(*at)->next) {
    if ((*at)->file != file) continue;
    Stream* entry = *at;
    *at = entry->next;
    const pid_t child = entry->process;
    free(entry);
    fclose(file);
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }
  return libc_pclose(file);
}

}  // extern "C"
#pragma GCC visibility pop
