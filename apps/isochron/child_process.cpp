#include "apps/isochron/child_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "core/input_error.hpp"

namespace isochron::app {
namespace {

volatile std::sig_atomic_t interrupts = 0;
void on_interrupt(int) { interrupts = interrupts + 1; }
struct sigaction old_interrupt, old_terminate, old_hang_up;

int open_for_words(const std::string& file) {
  const int fd = ::open(file.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
  if (fd < 0) throw InputError({file, 0, 0}, std::strerror(errno), "choose another place with --journal");
  return fd;
}

/// In the child, between fork and exec. A process group of its own: Ctrl-C on the terminal would reach it twice, and a
/// second one would kill it in the middle of its journal.
void settle(int in, int out, int err, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGXFSZ, SIG_DFL);
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
}

[[noreturn]] void become(const std::vector<std::string>& words, int in, int out, int err, pid_t parent) {
  settle(in, out, err, parent);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  dprintf(STDERR_FILENO, "%s: %s\n", argv[0], std::strerror(errno));
  _exit(127);
}

struct Pipe {
  int from, to;
};
Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe can be made");
  return {ends[0], ends[1]};
}

/// What the other end does not want to read is lost.
void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& words, const std::string& out_file,
                           const std::string& err_file, const std::optional<std::string>& input) {
  const int out = open_for_words(out_file);
  Pipe err{-1, -1};
  if (err_file.empty()) {
    err = make_pipe();
    complaints_ = err.from;
    fcntl(complaints_, F_SETFL, O_NONBLOCK);
  } else {
    err.to = open_for_words(err_file);
  }
  const Pipe in = input ? make_pipe() : Pipe{::open("/dev/null", O_RDONLY | O_CLOEXEC), -1};
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) become(words, in.from, out, err.to, parent);
  for (const int fd : {in.from, out, err.to}) close(fd);
  input_ = in.to;
  if (pid_ < 0) throw std::runtime_error(std::string("no process can be started: ") + std::strerror(errno));
  if (input) write_all(input_, *input);
}

ChildProcess::ChildProcess(const std::function<int()>& what, const std::string& out_file)
    : ChildProcess(what, out_file, false) {}

ChildProcess::ChildProcess(const std::function<int()>& what, const std::string& out_file, bool listens) {
  const int out = open_for_words(out_file);
  const Pipe err = make_pipe();
  complaints_ = err.from;
  fcntl(complaints_, F_SETFL, O_NONBLOCK);
  const Pipe in = listens ? make_pipe() : Pipe{::open("/dev/null", O_RDONLY | O_CLOEXEC), -1};
  const pid_t parent = getpid();
  std::fflush(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    settle(in.from, out, err.to, parent);
    // The ends of others' pipes too, which would not end otherwise.
    if (listens) close_range(STDERR_FILENO + 1, UINT_MAX, 0);
    const int code = what();
    std::fflush(nullptr);
    _exit(code);
  }
  for (const int fd : {in.from, out, err.to}) close(fd);
  input_ = in.to;
  if (pid_ < 0) throw std::runtime_error(std::string("no process can be started: ") + std::strerror(errno));
}

ChildProcess::~ChildProcess() {
  if (!ended_) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (complaints_ >= 0) close(complaints_);
  end_input();
}

void ChildProcess::tell(const std::string& text) const {
  if (input_ < 0 || ended_) return;
  fcntl(input_, F_SETFL, O_NONBLOCK);
  write_all(input_, text);
}

void ChildProcess::end_input() {
  if (input_ >= 0) close(input_);
  input_ = -1;
}

bool ChildProcess::ended() {
  if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
  return ended_;
}

void ChildProcess::wait() {
  while (!ended_) ended_ = waitpid(pid_, &status_, 0) == pid_;
}

void ChildProcess::signal(int number) const {
  if (!ended_) kill(pid_, number);
}

bool ChildProcess::well() const { return ended_ && WIFEXITED(status_) && WEXITSTATUS(status_) == 0; }

std::optional<int> ChildProcess::code() const {
  if (!ended_ || !WIFEXITED(status_)) return std::nullopt;
  return WEXITSTATUS(status_);
}

std::string ChildProcess::how_it_ended() const {
  if (WIFSIGNALED(status_)) return std::string("killed: ") + strsignal(WTERMSIG(status_));
  return "ended with code " + std::to_string(WEXITSTATUS(status_));
}

InterruptGuard::InterruptGuard() {
  interrupts = 0;
  struct sigaction act {};
  act.sa_handler = on_interrupt;
  sigaction(SIGINT, &act, &old_interrupt);
  sigaction(SIGTERM, &act, &old_terminate);
  sigaction(SIGHUP, &act, &old_hang_up);
  if (old_hang_up.sa_handler == SIG_IGN) sigaction(SIGHUP, &old_hang_up, nullptr);  // as nohup wants it
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &old_interrupt, nullptr);
  sigaction(SIGTERM, &old_terminate, nullptr);
  sigaction(SIGHUP, &old_hang_up, nullptr);
}

int InterruptGuard::count() { return interrupts; }

}  // namespace isochron::app
