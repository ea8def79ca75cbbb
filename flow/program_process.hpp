#pragma once
// The program behind a node, and the socket to it. Inside flow/ only.
//
// Fails: the constructor throws InputError; read() throws std::runtime_error with how the program ended.

#include <sys/types.h>
#include <optional>

#include <span>
#include <string>
#include <vector>

#include "flow/program_node.hpp"

namespace isochron::flow {

class ProgramProcess {
 public:
  explicit ProgramProcess(const ProgramCommand& command);
  /// Waits a second for it to end by itself, then kills it. Only in the process that started it.
  ~ProgramProcess();
  ProgramProcess(const ProgramProcess&) = delete;
  ProgramProcess& operator=(const ProgramProcess&) = delete;

  void write(std::span<const std::byte> bytes);
  /// The next frame, without its size; valid until the next call. Blocks.
  std::span<const std::byte> read();
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  [[noreturn]] void ended();
  std::optional<int> status();

  std::string name_;  // as it was called
  int socket_ = -1;
  pid_t pid_ = -1;
  pid_t owner_ = -1;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // of what is in the buffer
};

}  // namespace isochron::flow
