#include "programs/executable.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>

#include "link/fd.hpp"
#include "programs/machine_code.hpp"

namespace isochron::programs {

namespace {

constexpr std::size_t headers_max = 4096;
constexpr std::size_t dynamic_max = 65536;
constexpr std::uint64_t notes_max = 1 << 20;
constexpr std::size_t path_max = 4096;
constexpr std::size_t libraries_max = 1024;
constexpr std::size_t library_name_max = 256;
constexpr std::size_t script_head = 256;  // what the kernel reads of a #! line
constexpr int scripts_max = 5;            // a script run by a script run by …, as far as the kernel goes
constexpr Elf64_Word go_build_id = 4;

#if defined(__x86_64__)
constexpr Elf64_Half this_processor = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half this_processor = EM_AARCH64;
#else
#error "Isochron does not know the ELF number of this processor"
#endif

std::string processor_name(Elf64_Half machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "aarch64";
    case EM_386:
      return "32-bit x86";
    case EM_ARM:
      return "32-bit ARM";
    case EM_RISCV:
      return "RISC-V";
    default:
      return "processor number " + std::to_string(machine);
  }
}

template <class T>
bool read_at(const ByteSource& source, std::uint64_t offset, T& into) {
  return source(offset, std::as_writable_bytes(std::span(&into, 1)));
}

/// A text that ends with 0, byte by byte: it may be the last thing in the file.
std::optional<std::string> text_at(const ByteSource& source, std::uint64_t offset, std::size_t most) {
  std::string text;
  for (char c = 0; text.size() < most; text += c) {
    if (offset + text.size() < offset || !read_at(source, offset + text.size(), c)) return std::nullopt;
    if (c == 0) return text;
  }
  return std::nullopt;
}

class ElfReader {
 public:
  explicit ElfReader(const ByteSource& source) : source_(source) {}

  Result<Elf, std::string> read() {
    unsigned char ident[EI_NIDENT];
    if (!read_at(source_, 0, ident) || std::memcmp(ident, ELFMAG, SELFMAG) != 0) return fail("is no ELF file");
    if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB) return other_kind(ident);
    Elf64_Ehdr header;
    if (!read_at(source_, 0, header)) return damaged();
    elf_.processor = processor_name(header.e_machine);
    elf_.for_this_processor = header.e_machine == this_processor;
    if (!elf_.for_this_processor) return elf_;
    if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > headers_max) return damaged();
    segments_.resize(header.e_phnum);
    if (!source_(header.e_phoff, std::as_writable_bytes(std::span(segments_)))) return damaged();
    for (const Elf64_Phdr& segment : segments_) {
      if (!read_segment(segment)) return damaged();
    }
    return elf_;
  }

 private:
  static Failure<std::string> damaged() { return fail(std::string("is a damaged ELF file")); }

  Result<Elf, std::string> other_kind(const unsigned char* ident) {
    Elf64_Half machine = 0;  // at the same place in all kinds
    if (!read_at(source_, EI_NIDENT + sizeof(Elf64_Half), machine)) return damaged();
    if (ident[EI_DATA] == ELFDATA2MSB) machine = static_cast<Elf64_Half>(machine << 8 | machine >> 8);
    elf_.processor = processor_name(machine);
    if (machine == this_processor) elf_.processor += " with 32-bit addresses";
    return elf_;
  }

  bool read_segment(const Elf64_Phdr& segment) {
    if (segment.p_type == PT_INTERP) {
      auto loader = text_at(source_, segment.p_offset, std::min<std::uint64_t>(segment.p_filesz, path_max));
      if (loader) elf_.loader = std::move(*loader);
      return loader.has_value();
    }
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
      elf_.code.push_back({segment.p_offset, segment.p_filesz});
    }
    if (segment.p_type == PT_DYNAMIC) return read_dynamic(segment);
    if (segment.p_type == PT_NOTE) return read_notes(segment);
    return true;
  }

  /// Where in the file an address of the loaded program is.
  [[nodiscard]] std::optional<std::uint64_t> offset_of(std::uint64_t address) const {
    for (const Elf64_Phdr& s : segments_) {
      if (s.p_type != PT_LOAD || address < s.p_vaddr || address - s.p_vaddr >= s.p_filesz) continue;
      const std::uint64_t into = address - s.p_vaddr;
      if (s.p_offset + into < into) return std::nullopt;
      return s.p_offset + into;
    }
    return std::nullopt;
  }

  bool read_dynamic(const Elf64_Phdr& segment) {
    const std::size_t count = std::min<std::uint64_t>(segment.p_filesz / sizeof(Elf64_Dyn), dynamic_max);
    std::vector<std::uint64_t> names;
    std::optional<std::uint64_t> strings;
    for (std::size_t i = 0; i < count; ++i) {
      Elf64_Dyn entry;
      const std::uint64_t at = segment.p_offset + i * sizeof entry;
      if (at < segment.p_offset || !read_at(source_, at, entry)) return false;
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_NEEDED) names.push_back(entry.d_un.d_val);
      if (entry.d_tag == DT_STRTAB) strings = offset_of(entry.d_un.d_ptr);
    }
    if (names.empty()) return true;
    if (!strings || names.size() > libraries_max) return false;
    for (const std::uint64_t name : names) {
      auto text = *strings + name < name ? std::nullopt : text_at(source_, *strings + name, library_name_max);
      if (!text) return false;
      elf_.needed.push_back(std::move(*text));
    }
    return true;
  }

  bool read_notes(const Elf64_Phdr& segment) {
    const std::uint64_t size = std::min(segment.p_filesz, notes_max);
    const auto padded = [](std::uint64_t n) { return (n + 3) & ~std::uint64_t{3}; };
    for (std::uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= size;) {
      Elf64_Nhdr note;
      if (segment.p_offset + at < at || !read_at(source_, segment.p_offset + at, note)) return false;
      char name[4] = {};
      const std::uint64_t name_at = segment.p_offset + at + sizeof note;
      if (note.n_namesz == sizeof name && !read_at(source_, name_at, name)) return false;
      if (note.n_type == go_build_id && std::memcmp(name, "Go\0", sizeof name) == 0) elf_.go = true;
      at += sizeof note + padded(note.n_namesz) + padded(note.n_descsz);
    }
    return true;
  }

  const ByteSource& source_;
  std::vector<Elf64_Phdr> segments_;
  Elf elf_;
};

std::string name_in(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

/// A file that is open for looking at.
class Opened {
 public:
  explicit Opened(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    there_ = fd_.open() && fstat(fd_.get(), &status_) == 0 && S_ISREG(status_.st_mode);
  }
  [[nodiscard]] bool there() const { return there_; }
  [[nodiscard]] const struct stat& status() const { return status_; }
  [[nodiscard]] int descriptor() const { return fd_.get(); }
  [[nodiscard]] ByteSource source() const {
    return [this](std::uint64_t offset, std::span<std::byte> into) {
      if (offset > static_cast<std::uint64_t>(INT64_MAX)) return false;
      const ssize_t got = pread(fd_.get(), into.data(), into.size(), static_cast<off_t>(offset));
      return got >= 0 && static_cast<std::size_t>(got) == into.size();
    };
  }
  [[nodiscard]] std::string head() const {
    std::string text(script_head, '\0');
    const ssize_t got = pread(fd_.get(), text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
  }

 private:
  link::Fd fd_;
  struct stat status_ {};
  bool there_ = false;
};

std::optional<std::string> on_path(const std::string& name) {
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/bin:/bin";
  while (true) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    const std::string candidate = (folder.empty() ? std::string(".") : std::string(folder)) + "/" + name;
    struct stat status {};
    if (stat(candidate.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
    if (folder.size() == rest.size()) return std::nullopt;
    rest.remove_prefix(folder.size() + 1);
  }
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; (at = text.find_first_not_of(" \t", at)) != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

/// What `env` runs: the first word that is neither a flag nor a variable; "" = nothing.
std::string run_by_env(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "-u" || word == "-C") {
      ++i;  // with its value
    } else if (!word.starts_with('-') && word.find('=') == std::string::npos) {
      return word;
    }
  }
  return "";
}

constexpr const char* use_the_client =
    "attach it with the client library (docs/programs.md) and leave out `clock: virtual`";

/// The kernel tells the loader to leave out preloaded libraries where a program has more rights than who starts it.
bool has_more_rights(const Opened& file) {
  const struct stat& s = file.status();
  if ((s.st_mode & S_ISUID) != 0 && s.st_uid != getuid()) return true;
  if ((s.st_mode & S_ISGID) != 0 && (s.st_mode & S_IXGRP) != 0 && s.st_gid != getgid()) return true;
  return getuid() != 0 && fgetxattr(file.descriptor(), "security.capability", nullptr, 0) > 0;
}

std::optional<Obstacle> obstacle_in(const Elf& elf, const Opened& file) {
  if (!elf.for_this_processor) {
    return Obstacle{"is a program for another processor (" + elf.processor + ")", "build it for this one"};
  }
  if (elf.go) {
    return Obstacle{"is a Go program, which makes its system calls without libc, so that its clock cannot be followed",
                    "use the C interface (client/isochron.h) through cgo and leave out `clock: virtual`"};
  }
  if (elf.loader.empty()) {
    return Obstacle{"is linked statically, so that its clock cannot be followed",
                    std::string("link it dynamically (without -static), or ") + use_the_client};
  }
  if (access(elf.loader.c_str(), X_OK) != 0) {
    return Obstacle{"needs the loader " + elf.loader + ", which is not installed", "build it for this system"};
  }
  if (!name_in(elf.loader).starts_with("ld-linux")) {
    return Obstacle{"is made for another C library than that of this system (its loader is " + elf.loader + ")",
                    "build it with glibc"};
  }
  if (elf.needed.empty()) {
    return Obstacle{"does not use libc, so that its clock cannot be followed", use_the_client};
  }
  if (has_more_rights(file)) {
    return Obstacle{
        "runs with the rights of somebody else (setuid, setgid or capabilities), so that its clock cannot "
        "be followed",
        "start a copy without these rights"};
  }
  return std::nullopt;
}

std::optional<Obstacle> obstacle_at(const std::string& path, const std::vector<std::string>& arguments, int depth);

std::optional<Obstacle> obstacle_through_env(const std::vector<std::string>& arguments, int depth) {
  const std::string name = run_by_env(arguments);
  const auto found = on_path(name);
  if (!found) return std::nullopt;
  auto obstacle = obstacle_at(*found, {}, depth + 1);
  if (obstacle) obstacle->what = "runs " + name + ", which " + obstacle->what;
  return obstacle;
}

std::optional<Obstacle> obstacle_in_script(const Interpreter& interpreter, int depth) {
  if (depth >= scripts_max) return Obstacle{"is run by too many scripts in a row", "name the program itself"};
  if (!Opened(interpreter.path).there()) {
    return Obstacle{"is a script for " + interpreter.path + ", which does not exist", "fix its first line"};
  }
  const std::vector<std::string> arguments = words_of(interpreter.argument);
  if (name_in(interpreter.path) == "env") return obstacle_through_env(arguments, depth);
  auto obstacle = obstacle_at(interpreter.path, arguments, depth + 1);
  if (obstacle) obstacle->what = "is a script for " + interpreter.path + ", which " + obstacle->what;
  return obstacle;
}

std::optional<Obstacle> obstacle_at(const std::string& path, const std::vector<std::string>& arguments, int depth) {
  const Opened file(path);
  if (!file.there()) return std::nullopt;
  if (access(path.c_str(), X_OK) != 0) return Obstacle{"is not executable", "chmod +x " + path};
  const std::string head = file.head();
  if (const auto interpreter = interpreter_of(head)) return obstacle_in_script(*interpreter, depth);
  if (!head.starts_with(ELFMAG)) {
    // A text without #! is run by the shell.
    if (head.find('\0') == std::string::npos) return std::nullopt;
    return Obstacle{"is neither a program of this system nor a script", ""};
  }
  const auto elf = read_elf(file.source());
  if (!elf) return Obstacle{elf.error(), "build it again"};
  if (auto obstacle = obstacle_in(*elf, file)) return obstacle;
  if (depth == 0 && name_in(path) == "env") return obstacle_through_env(arguments, depth);
  return std::nullopt;
}

/// The executable that runs in the end: of a script its interpreter.
std::optional<std::string> program_behind(std::string path, std::vector<std::string> arguments) {
  for (int depth = 0; depth <= scripts_max; ++depth) {
    const Opened file(path);
    if (!file.there()) return std::nullopt;
    const auto interpreter = interpreter_of(file.head());
    if (interpreter) arguments = words_of(interpreter->argument);
    if (interpreter ? name_in(interpreter->path) == "env" : depth == 0 && name_in(path) == "env") {
      const auto found = on_path(run_by_env(arguments));
      if (!found) return path;
      path = *found;
    } else if (interpreter) {
      path = interpreter->path;
    } else {
      return path;
    }
  }
  return path;
}

/// Where the loader finds a library that is installed; "" = not there.
std::string library_at(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  for (const char* folder : {"/lib/x86_64-linux-gnu/", "/usr/lib/x86_64-linux-gnu/", "/lib/aarch64-linux-gnu/",
                             "/usr/lib/aarch64-linux-gnu/", "/usr/local/lib/", "/lib64/", "/lib/", "/usr/lib/"}) {
    if (access((folder + name).c_str(), R_OK) == 0) return folder + name;
  }
  return "";
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < 4; ++i) text += (i > 0 ? ", " : "") + names[i];
  return names.size() > 4 ? text + " and " + std::to_string(names.size() - 4) + " more" : text;
}

/// A program and the libraries that it needs: who makes system calls by itself, who reads counter and chance.
std::vector<Remark> remarks_on_code(const std::string& program) {
  std::vector<std::string> paths{program}, calls, counters, chance, missing;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < paths.size() && i < libraries_max; ++i) {
    const Opened file(paths[i]);
    const auto elf = file.there() ? read_elf(file.source()) : Result<Elf, std::string>(fail(std::string()));
    if (!elf) continue;
    MachineCode code;
    for (const Elf::Part& part : elf->code) code += look_at_code(file.source(), part.offset, part.size);
    const std::string name = name_in(paths[i]);
    // Of libc and its loader nobody reads these but through what is followed.
    const bool of_libc = name.starts_with("libc.so") || name.starts_with("ld-linux");
    if (code.calls > 0 && !of_libc) calls.push_back(name);
    if (code.counter > 0 && !of_libc) counters.push_back(name);
    if (code.chance > 0 && !of_libc) chance.push_back(name);
    for (const std::string& needed : elf->needed) {
      if (!seen.insert(needed).second) continue;
      const std::string at = library_at(needed);
      at.empty() ? missing.push_back(needed) : paths.push_back(at);
    }
  }
  std::vector<Remark> remarks;
  remarks.push_back({"system calls without libc", calls.empty() ? "none seen" : "in " + listed(calls), true,
                     calls.empty() ? "" : "they are caught, and cost about ten times as much each", ""});
  remarks.push_back({"time stamp counter", counters.empty() ? "not seen" : "read in " + listed(counters),
                     counters.empty(),
                     counters.empty() ? ""
                                      : "it shows the host's time where computing is measured or recorded, and "
                                        "simulated time elsewhere",
                     counters.empty() ? "" : "say with `rdtsc: simulated`, `refused` or `host` what it shall show"});
  remarks.push_back({"random instruction", chance.empty() ? "not seen" : "in " + listed(chance), true,
                     chance.empty() ? "" : "what rdrand gives is not the same in two runs, if the program uses it",
                     ""});
  if (!missing.empty()) {
    remarks.push_back({"libraries", "not looked at: " + listed(missing), true,
                       "they are not in the folders of the system, and may do any of this", ""});
  }
  return remarks;
}

}  // namespace

Result<Elf, std::string> read_elf(const ByteSource& source) { return ElfReader(source).read(); }

std::optional<Interpreter> interpreter_of(std::string_view head) {
  if (!head.starts_with("#!")) return std::nullopt;
  std::string_view line = head.substr(2, std::min(head.find('\n'), script_head) - 2);
  const auto trim = [](std::string_view text) {
    const std::size_t from = std::min(text.find_first_not_of(" \t"), text.size());
    const std::size_t to = text.find_last_not_of(std::string_view(" \t\r\0", 4));
    return from > to || to == std::string_view::npos ? std::string_view() : text.substr(from, to - from + 1);
  };
  line = trim(line);
  const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
  return Interpreter{std::string(line.substr(0, end)), std::string(trim(line.substr(end)))};
}

Result<std::vector<Remark>, std::string> how_it_is_followed(const std::vector<std::string>& run) {
  const auto path = run.empty() ? std::nullopt : on_path(run[0]);
  const auto program = path ? program_behind(*path, {run.begin() + 1, run.end()}) : std::nullopt;
  if (!program) return fail("there is no program `" + (run.empty() ? "" : run[0]) + "`");
  std::vector<Remark> remarks;
  if (*program != *path) remarks.push_back({"script", "run by " + *program, true, "", ""});
  if (const auto obstacle = obstacle_to_following(run)) {
    remarks.push_back({"followed", "no", false, run[0] + " " + obstacle->what, obstacle->hint});
    return remarks;
  }
  remarks.push_back({"followed", "yes: clocks, sleeps, processes, pipes, sockets, randomness", true, "", ""});
  for (Remark& remark : remarks_on_code(*program)) remarks.push_back(std::move(remark));
  return remarks;
}

std::optional<Obstacle> obstacle_to_following(const std::vector<std::string>& run) {
  if (run.empty()) return std::nullopt;
  const auto path = on_path(run[0]);
  if (!path) return std::nullopt;
  return obstacle_at(*path, {run.begin() + 1, run.end()}, 0);
}

}  // namespace isochron::programs
