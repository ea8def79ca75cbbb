#include "programs/program_input.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/ensure.hpp"
#include "core/input_error.hpp"

namespace isochron::programs {

namespace {

link::Fd text_file(const std::string& text) {
  link::Fd file(memfd_create("isochron-input", MFD_CLOEXEC));
  ENSURE(file.open(), "no memory for the input of a program");
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = write(file.get(), text.data() + at, text.size() - at);
    ENSURE(written > 0, "no memory for the input of a program");
    at += static_cast<std::size_t>(written);
  }
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

void put_lines(const ProgramInput& input, const std::string& name, protocol::Pages& pages) {
  std::size_t at = 0;
  for (const ProgramInput::Line& line : input.lines) {
    const std::string text = line.text + "\n";
    const protocol::InputLine head{line.at.ns(), static_cast<std::uint32_t>(text.size()), 0};
    if (text.size() > protocol::input_max - sizeof head - at) {
      throw InputError({}, name + ": its standard input has more than 1 MiB of lines", "give a file instead");
    }
    std::memcpy(pages.input + at, &head, sizeof head);
    std::memcpy(pages.input + at + sizeof head, text.data(), text.size());
    at += sizeof head + text.size();
  }
  pages.input_size = static_cast<std::uint32_t>(at);
}

}  // namespace

link::Fd open_input(const ProgramInput& input, const std::string& name, protocol::Pages& pages) {
  if (!input.lines.empty()) {
    put_lines(input, name, pages);
    int line[2];
    ENSURE(pipe2(line, O_CLOEXEC) == 0, "no descriptors left");
    fcntl(line[0], F_SETPIPE_SZ, static_cast<int>(protocol::input_max));
    const link::Fd unused(line[1]);  // the program opens it again
    return link::Fd(line[0]);
  }
  if (!input.text.empty()) return text_file(input.text.ends_with('\n') ? input.text : input.text + "\n");
  const std::string path = input.file.empty() ? "/dev/null" : input.file;
  link::Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) {
    throw InputError({}, name + ": its standard input " + path + " cannot be read: " + std::strerror(errno));
  }
  return file;
}

}  // namespace isochron::programs
