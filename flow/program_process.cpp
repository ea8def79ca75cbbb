#include "flow/program_process.hpp"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>

#include "core/input_error.hpp"
#include "flow/program_wire.hpp"

namespace isochron::flow {
namespace {

constexpr int descriptor = 3;  // of the socket, in the program
constexpr int could_not_start = 127;

/// Only what is allowed between fork and exec.
[[noreturn]] void become(char* const* words, char* const* environment, const char* folder, int socket, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(could_not_start);
  dup2(STDERR_FILENO, STDOUT_FILENO);  // our standard output is for reports
  if (socket == descriptor) {
    const int moved = dup(socket);
    close(socket);
    socket = moved;
  }
  dup2(socket, descriptor);
  if (*folder != '\0' && chdir(folder) != 0) _exit(could_not_start);
  execvpe(words[0], words, environment);
  _exit(could_not_start);
}

std::vector<std::string> environment_of_program() {
  std::vector<std::string> all;
  const std::string variable = std::string(program_wire::descriptor_variable) + "=";
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string(*entry).starts_with(variable)) all.emplace_back(*entry);
  }
  all.push_back(variable + std::to_string(descriptor));
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

ProgramProcess::ProgramProcess(const ProgramCommand& command) : owner_(getpid()) {
  for (const std::string& word : command.words) name_ += (name_.empty() ? "" : " ") + word;
  int ends[2];
  if (command.words.empty()) throw InputError({}, "no program is named");
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw InputError({}, std::string("no socket for a program: ") + strerror(errno));
  }
  std::vector<std::string> words = command.words, environment = environment_of_program();
  const std::vector<char*> arguments = pointers(words), variables = pointers(environment);
  pid_ = fork();
  if (pid_ == 0) become(arguments.data(), variables.data(), command.folder.c_str(), ends[1], owner_);
  close(ends[1]);
  socket_ = ends[0];
  if (pid_ < 0) throw InputError({}, "the program `" + name_ + "` could not be started");
}

ProgramProcess::~ProgramProcess() {
  if (socket_ >= 0) close(socket_);
  if (pid_ <= 0 || owner_ != getpid()) return;
  for (int i = 0; i < 100; ++i) {
    if (waitpid(pid_, nullptr, WNOHANG) != 0) return;
    usleep(10'000);
  }
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void ProgramProcess::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) ended();
    bytes = bytes.subspan(static_cast<std::size_t>(size));
  }
}

std::span<const std::byte> ProgramProcess::read() {
  while (true) {
    std::uint32_t size = 0;
    if (end_ - begin_ >= 4) {
      std::memcpy(&size, buffer_.data() + begin_, 4);
      if (size == 0 || size > program_wire::largest_frame) {
        throw std::runtime_error("its program `" + name_ + "` does not speak the protocol of nodes");
      }
      if (end_ - begin_ >= 4 + size) {
        const std::span<const std::byte> frame(buffer_.data() + begin_ + 4, size);
        begin_ += 4 + size;
        return frame;
      }
    }
    if (begin_ > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
    buffer_.resize(std::max<std::size_t>(buffer_.size(), std::max<std::size_t>(size + 4, 64 * 1024)));
    const ssize_t came = recv(socket_, buffer_.data() + end_, buffer_.size() - end_, 0);
    if (came < 0 && errno == EINTR) continue;
    if (came <= 0) ended();
    end_ += static_cast<std::size_t>(came);
  }
}

/// A copy of the process that started it cannot wait for it, but sees how it ended as long as nobody has.
std::optional<int> ProgramProcess::status() {
  int status = 0;
  if (owner_ == getpid()) {
    if (waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
    pid_ = -1;
    return status;
  }
  std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  const std::size_t behind_name = text.rfind(") "), last = text.rfind(' ');
  if (behind_name == std::string::npos || last < behind_name + 3 || text[behind_name + 2] != 'Z') return std::nullopt;
  return std::atoi(text.c_str() + last);
}

void ProgramProcess::ended() {
  const std::string program = "its program `" + name_ + "` ";
  for (int i = 0; i < 50; ++i) {
    if (const auto how = status()) {
      if (WIFSIGNALED(*how)) throw std::runtime_error(program + "was killed: " + strsignal(WTERMSIG(*how)));
      if (WEXITSTATUS(*how) == could_not_start) throw std::runtime_error(program + "could not be started");
      throw std::runtime_error(program + "ended with code " + std::to_string(WEXITSTATUS(*how)));
    }
    usleep(10'000);
  }
  throw std::runtime_error(program + "ended");
}

}  // namespace isochron::flow
