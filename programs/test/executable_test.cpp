#include "programs/executable.hpp"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/random.hpp"
#include "programs/machine_code.hpp"

namespace isochron::programs {
namespace {

namespace fs = std::filesystem;

#if defined(__x86_64__)
constexpr Elf64_Half here = EM_X86_64, elsewhere = EM_AARCH64;
constexpr const char* loader = "/lib64/ld-linux-x86-64.so.2";
#else
constexpr Elf64_Half here = EM_AARCH64, elsewhere = EM_X86_64;
constexpr const char* loader = "/lib/ld-linux-aarch64.so.1";
#endif

/// An ELF file with just the headers that matter.
struct Made {
  Elf64_Half machine = here;
  std::string interpreter = loader;
  std::vector<std::string> needed = {"libm.so.6", "libc.so.6"};
  bool go = false;

  [[nodiscard]] std::string bytes() const {
    constexpr std::size_t heads = sizeof(Elf64_Ehdr) + 4 * sizeof(Elf64_Phdr);
    std::string rest;
    std::vector<Elf64_Phdr> segments;
    const auto add = [&](Elf64_Word type, const std::string& part) {
      Elf64_Phdr p{};
      p.p_type = type;
      p.p_offset = heads + rest.size();
      p.p_vaddr = 0x400000 + p.p_offset;
      p.p_filesz = p.p_memsz = part.size();
      segments.push_back(p);
      rest += part;
    };
    if (!interpreter.empty()) add(PT_INTERP, interpreter + '\0');
    if (go) {
      const Elf64_Nhdr note{4, 8, 4};
      add(PT_NOTE,
          std::string(reinterpret_cast<const char*>(&note), sizeof note) + std::string("Go\0\0", 4) + "12345678");
    }
    if (!interpreter.empty()) {
      std::string names(1, '\0'), dynamic;
      const auto entry = [&](Elf64_Sxword tag, std::uint64_t value) {
        Elf64_Dyn d{};
        d.d_tag = tag;
        d.d_un.d_val = value;
        dynamic.append(reinterpret_cast<const char*>(&d), sizeof d);
      };
      for (const std::string& name : needed) {
        entry(DT_NEEDED, names.size());
        names += name + '\0';
      }
      entry(DT_STRTAB, 0x400000 + heads + rest.size() + dynamic.size() + 2 * sizeof(Elf64_Dyn));
      entry(DT_NULL, 0);
      add(PT_DYNAMIC, dynamic);
      rest += names;
    }
    Elf64_Phdr load{};
    load.p_type = PT_LOAD;
    load.p_vaddr = 0x400000;
    load.p_filesz = load.p_memsz = heads + rest.size();
    segments.push_back(load);
    Elf64_Ehdr head{};
    std::memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    head.e_type = ET_EXEC;
    head.e_machine = machine;
    head.e_phoff = sizeof head;
    head.e_phentsize = sizeof(Elf64_Phdr);
    head.e_phnum = static_cast<Elf64_Half>(segments.size());
    std::string all(reinterpret_cast<const char*>(&head), sizeof head);
    all.append(reinterpret_cast<const char*>(segments.data()), segments.size() * sizeof(Elf64_Phdr));
    all.resize(heads);
    return all + rest;
  }
};

ByteSource source_of(const std::string& bytes) {
  return [&bytes](std::uint64_t offset, std::span<std::byte> into) {
    if (offset > bytes.size() || into.size() > bytes.size() - offset) return false;
    if (!into.empty()) std::memcpy(into.data(), bytes.data() + offset, into.size());
    return true;
  };
}

class ExecutableTest : public testing::Test {
 protected:
  ExecutableTest() {
    char pattern[] = "/tmp/isochron_executable_XXXXXX";
    folder_ = mkdtemp(pattern);
  }
  ~ExecutableTest() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& bytes, mode_t mode = 0755) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    chmod(path.c_str(), mode);
    return path;
  }
  static std::string said(const std::vector<std::string>& run) {
    const auto obstacle = obstacle_to_following(run);
    return obstacle ? obstacle->what + "; " + obstacle->hint : "";
  }
  std::string said_of(const Made& made) { return said({write("made", made.bytes())}); }
  std::string folder_;
};

void expect_has(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "said: " << text;
}

TEST_F(ExecutableTest, ProgramsOfThisSystemAreFollowed) {
  for (const char* program : {"true", "/bin/sh", "python3", "bash"}) EXPECT_EQ(said({program}), "") << program;
  EXPECT_EQ(said_of({}), "");
  EXPECT_EQ(said({"no-such-program"}), "") << "whoever starts it says so";
}

TEST_F(ExecutableTest, ReadsWhatTheHeadersSay) {
  Made made;
  made.go = true;
  const std::string bytes = made.bytes();
  const auto elf = read_elf(source_of(bytes));
  ASSERT_TRUE(elf.ok()) << elf.error();
  EXPECT_TRUE(elf->for_this_processor);
  EXPECT_EQ(elf->loader, loader);
  EXPECT_EQ(elf->needed, made.needed);
  EXPECT_TRUE(elf->go);
}

TEST_F(ExecutableTest, StaticProgramsAreRefused) {
  Made made;
  made.interpreter = "";
  expect_has(said_of(made), "is linked statically, so that its clock cannot be followed; link it dynamically");
}

TEST_F(ExecutableTest, GoProgramsAreRefusedWithAndWithoutLibc) {
  Made made;
  made.go = true;
  expect_has(said_of(made), "is a Go program");
  made.interpreter = "";
  expect_has(said_of(made), "is a Go program");
  expect_has(said_of(made), "through cgo");
}

TEST_F(ExecutableTest, ProgramsForOthersAreRefused) {
  Made made;
  made.machine = elsewhere;
  expect_has(said_of(made), "is a program for another processor (");
  Made musl;
  musl.interpreter = "/bin/true";
  expect_has(said_of(musl), "is made for another C library");
  musl.interpreter = "/lib/ld-nowhere.so.1";
  expect_has(said_of(musl), "needs the loader /lib/ld-nowhere.so.1, which is not installed");
  Made alone;
  alone.needed.clear();
  expect_has(said_of(alone), "does not use libc");
  std::string small = Made().bytes();
  small[EI_CLASS] = ELFCLASS32;
  expect_has(said({write("small", small)}), "with 32-bit addresses");
}

TEST_F(ExecutableTest, RightsOfSomebodyElseAreInTheWay) {
  const std::string path = write("made", Made().bytes());
  chmod(path.c_str(), 04755);
  EXPECT_EQ(said({path}), "") << "our own rights change nothing";
  if (chown(path.c_str(), 65534, 65534) != 0) GTEST_SKIP() << "needs root";
  chmod(path.c_str(), 04755);
  expect_has(said({path}), "runs with the rights of somebody else");
}

TEST_F(ExecutableTest, ScriptsAreFollowedToTheirInterpreter) {
  Made made;
  made.interpreter = "";
  const std::string still = write("still", made.bytes());
  EXPECT_EQ(said({write("good", "#!/bin/sh\necho\n")}), "");
  EXPECT_EQ(said({write("plain", "echo no first line\n")}), "") << "the shell runs it";
  EXPECT_EQ(said({write("env", "#!/usr/bin/env python3\n")}), "");
  expect_has(said({write("bad", "#! " + still + " -x\n")}),
             "is a script for " + still + ", which is linked statically");
  expect_has(said({write("bad_env", "#!/usr/bin/env -S A=1 " + still + " -x\r\n")}),
             "runs " + still + ", which is linked statically");
  expect_has(said({write("chain", "#!" + folder_ + "/bad\n")}), "which is linked statically");
  expect_has(said({write("gone", "#!/nowhere/python\n")}), "is a script for /nowhere/python, which does not exist");
  expect_has(said({write("loop", "#!" + folder_ + "/loop\n")}), "too many scripts");
  expect_has(said({"env", "A=1", still}), "which is linked statically");
}

TEST_F(ExecutableTest, WhatIsNoProgramIsSaid) {
  expect_has(said({write("text", "#!/bin/sh\n", 0644)}), "is not executable; chmod +x");
  expect_has(said({write("junk", std::string("MZ\0\0junk", 8))}), "is neither a program of this system nor a script");
  expect_has(said({write("short", Made().bytes().substr(0, 70))}), "is a damaged ELF file");
}

std::vector<std::byte> code(std::initializer_list<int> bytes) {
  std::vector<std::byte> all;
  for (const int byte : bytes) all.push_back(static_cast<std::byte>(byte));
  return all;
}

TEST(MachineCodeOf, AProgramTellsWhatReachesPastLibc) {
  // mov eax, 228; syscall · rdtsc; shl rdx, 32; or rax, rdx · rdtscp · rdrand rax; jc
  EXPECT_EQ(look_at_code(code({0xb8, 228, 0, 0, 0, 0x0f, 0x05})).calls, 1u);
  EXPECT_EQ(look_at_code(code({0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0x48, 0x09, 0xd0})).counter, 1u);
  EXPECT_EQ(look_at_code(code({0x0f, 0x01, 0xf9})).counter, 1u);
  EXPECT_EQ(look_at_code(code({0x48, 0x0f, 0xc7, 0xf0, 0x72, 0x02})).chance, 1u);
}

TEST(MachineCodeOf, BytesThatOnlyLookLikeItAreNotCounted) {
  const MachineCode found = look_at_code(code({0x0f, 0x05, 0x12, 0x0f, 0x31, 0x90, 0x0f, 0xc7, 0x08, 0x0f}));
  EXPECT_EQ(found.calls + found.counter + found.chance, 0u);
}

TEST(MachineCodeOf, AnInstructionAcrossTwoPiecesOfAFileIsFoundOnce) {
  std::vector<std::byte> whole((std::size_t{1} << 20) + 100, std::byte{0x90});
  const auto counter = code({0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20});
  std::copy(counter.begin(), counter.end(), whole.begin() + (1 << 20) - 1);
  const auto source = [&whole](std::uint64_t offset, std::span<std::byte> into) {
    if (offset + into.size() > whole.size()) return false;
    std::copy_n(whole.begin() + static_cast<std::ptrdiff_t>(offset), into.size(), into.begin());
    return true;
  };
  EXPECT_EQ(look_at_code(source, 0, whole.size()).counter, 1u);
  EXPECT_EQ(look_at_code(source, 0, whole.size() + 1).counter, 1u);  // the last piece is not there
}

TEST(HowItIsFollowed, AScriptIsFollowedThroughItsInterpreter) {
  const auto remarks = how_it_is_followed({"/bin/sh"});
  ASSERT_TRUE(remarks);
  EXPECT_EQ((*remarks)[0].what, "followed");
  EXPECT_TRUE((*remarks)[0].good);
  EXPECT_FALSE(how_it_is_followed({"/nowhere/program"}));
  EXPECT_FALSE(how_it_is_followed({}));
}

// Cut off anywhere, or with any bytes wrong: told or refused, never more. The reads are checked by the source.
TEST_F(ExecutableTest, DamagedFilesAreReadOrRefused) {
  Made made;
  made.go = true;
  const std::string whole = made.bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    (void)read_elf(source_of(cut));
    (void)interpreter_of(cut);
  }
  RandomStream random(1, "executable");
  for (int i = 0; i < 20'000; ++i) {
    std::string changed = whole;
    for (int n = 0; n < 1 + i % 8; ++n) {
      changed[static_cast<std::size_t>(random.uniform() * static_cast<double>(changed.size()))] =
          static_cast<char>(random.uniform() * 256);
    }
    (void)read_elf(source_of(changed));
  }
}

}  // namespace
}  // namespace isochron::programs
