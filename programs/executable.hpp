#pragma once
// An executable as it lies on the disk, looked at before anything is started. A program that knows nothing of Isochron
// (`clock: virtual`) is followed through a library that is preloaded into it. That cannot work for a program that is
// linked statically, makes its system calls without libc as Go does, is made for another libc or processor, or runs
// with the rights of somebody else: the kernel or the loader would leave the library out without a word, and the
// program would run in real time, for free.
//
//   script  ── #! ──▶  interpreter  ── #!/usr/bin/env X ──▶  X on the PATH  ──▶  ELF: interpreter, needed, notes
//
// Promises: never reads outside of a file, whatever is in it. Threads: any. Cost: opens a few files.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace isochron::programs {

/// Bytes of a file from an offset on; false where there are not as many.
using ByteSource = std::function<bool(std::uint64_t offset, std::span<std::byte> into)>;

/// What the headers of an ELF file say.
struct Elf {
  bool for_this_processor = false;
  std::string processor;            // "aarch64", "32-bit"
  std::string loader;               // "/lib64/ld-linux-x86-64.so.2"; "" = static
  std::vector<std::string> needed;  // libraries: "libc.so.6"
  bool go = false;                  // made by the Go compiler, with or without cgo
  struct Part {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };
  std::vector<Part> code;  // where in the file
};
/// Fails: a sentence about a damaged file.
Result<Elf, std::string> read_elf(const ByteSource& source);

/// What runs a script, and the one argument that it is given: {"/usr/bin/env", "python3"}; nothing where the text does
/// not begin with #!.
struct Interpreter {
  std::string path;
  std::string argument;
};
std::optional<Interpreter> interpreter_of(std::string_view head);

/// What stands in the way of following a program, and what to do about it.
struct Obstacle {
  std::string what;  // "is linked statically, so that its clock cannot be followed"
  std::string hint;
};
/// `run` is the program and its arguments. Nothing when it can be followed, and also when there is no such file:
/// whoever starts it says so.
std::optional<Obstacle> obstacle_to_following(const std::vector<std::string>& run);

/// What `doctor` says of a program: how each thing that it may do is followed.
struct Remark {
  std::string what;   // "time stamp counter"
  std::string found;  // "read in libfoo.so.1"
  bool good = true;
  std::string means;  // "" = nothing
  std::string mend;   // what to do; "" = nothing
};
/// Fails: there is no such program.
Result<std::vector<Remark>, std::string> how_it_is_followed(const std::vector<std::string>& run);

}  // namespace isochron::programs
