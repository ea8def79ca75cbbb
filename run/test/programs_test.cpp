// What a scenario says about programs that nobody wrote for us.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "programs/spec.hpp"
#include "run/coordinator_specs.hpp"
#include "run/run.hpp"

namespace isochron {
namespace {
using namespace std::chrono_literals;

class ProgramsTest : public testing::Test {
 protected:
  ProgramsTest() {
    char pattern[] = "/tmp/isochron_programs_XXXXXX";
    folder_ = mkdtemp(pattern);
    std::ofstream(folder_ + "/moves.txt") << "e2e4\n";
    std::ofstream(folder_ + "/ships.xml") << "<mujoco/>";
  }
  ~ProgramsTest() override { std::filesystem::remove_all(folder_); }

  void add_program(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
    std::filesystem::permissions(folder_ + "/" + name, std::filesystem::perms::owner_all);
  }
  Scenario read(const std::string& program, const std::string& time = "{mode: callback}") {
    return read_scenario("name: x\nworld: {model: ships.xml, step: 10ms}\nrobots:\n  a:\n    programs:\n      p: {" +
                             program + "}\ntime: " + time + "\n",
                         "s.yaml", folder_);
  }
  std::string mistakes_of(const std::string& program, const std::string& time = "{mode: callback}") {
    try {
      check_scenario(read(program, time));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  std::string folder_;
};

void expect_has(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "said: " << text;
}

TEST_F(ProgramsTest, TheEpochIsFixedUnlessTheScenarioGivesAnother) {
  EXPECT_EQ(to_string(read("run: [sh]").time.epoch), "2030-01-01T00:00:00Z");
  EXPECT_EQ(to_string(read("run: [sh]", "{epoch: 1999-12-31T12:00:00Z}").time.epoch), "1999-12-31T12:00:00Z");
  expect_has(mistakes_of("run: [sh]", "{epoch: tomorrow}"), "s.yaml:7:15: `tomorrow` is not a date");
  EXPECT_EQ(coordinator_options(read("run: [sh]", "{epoch: 1970-01-02}"), 10ms).epoch.unix_ns, 86'400'000'000'000);
}

// The journal has the text of the scenario: a replay sees the date that the run saw.
TEST_F(ProgramsTest, TheEpochNowIsWrittenDownWithTheRun) {
  const Scenario first = read("run: [sh]", "{epoch: now}");
  EXPECT_GT(first.time.epoch.epoch.unix_ns, Epoch::parse("2024-01-01")->unix_ns);
  expect_has(first.text, to_string(first.time.epoch));
  const Scenario again = read_scenario(first.text, "s.yaml", folder_);
  EXPECT_EQ(again.time.epoch.epoch, first.time.epoch.epoch);
}

TEST_F(ProgramsTest, ThatCannotBeFollowedAreRefusedWithTheirPlace) {
  Elf64_Ehdr head{};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_ident[EI_DATA] = ELFDATA2LSB;
#if defined(__x86_64__)
  head.e_machine = EM_X86_64;
#else
  head.e_machine = EM_AARCH64;
#endif
  head.e_phentsize = sizeof(Elf64_Phdr);
  add_program("still", std::string(reinterpret_cast<const char*>(&head), sizeof head));
  for (const char* mode : {"{mode: callback}", "{mode: consistent}", "{mode: repeatable, compute: {modelled: {}}}"}) {
    expect_has(mistakes_of("run: [still], clock: virtual", mode),
               "s.yaml:6:16: `run` names `still`, which is linked statically, so that its clock cannot be followed");
  }
  add_program("script", "#!" + folder_ + "/still\n");
  expect_has(mistakes_of("run: [script], clock: virtual"), "which is linked statically");
}

TEST_F(ProgramsTest, MistakesInNetworksAreSaidBeforeTheRun) {
  const std::string found =
      mistakes_of("run: [cat], clock: virtual",
                  "{mode: consistent}\nnetworks: {w: {hosts: {nobody: 10.0.0.1, other: 999.1.1.1}, "
                  "latency: -5ms, cuts: [{robots: [], from: 2s, until: 1s}]}}");
  expect_has(found, "`latency` must not be negative");
  expect_has(found, "there is no robot `nobody`");
  expect_has(found, "`999.1.1.1` is no IPv4 address");
  expect_has(found, "a cut must end after it begins");
}

TEST_F(ProgramsTest, StandardInputIsATextAFileOrLinesWithTimes) {
  const auto input_of = [](const Scenario& s) { return robot_specs(s).at(0).programs.at(0).input; };
  EXPECT_EQ(input_of(read("run: [cat], stdin: go")).text, "go");
  expect_has(input_of(read("run: [cat], stdin: {file: moves.txt}")).file, "moves.txt");
  const auto lines =
      input_of(read("run: [cat], clock: virtual, stdin: [{at: 1s, line: go depth 5}, {at: 3s, line: stop}]")).lines;
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].at, SimTime::zero() + SimSpan(1s));
  EXPECT_EQ(lines[0].text, "go depth 5");
  EXPECT_EQ(lines[1].text, "stop");
}

TEST_F(ProgramsTest, MistakesInStandardInputAreSaid) {
  expect_has(mistakes_of("run: [cat], stdin: [{at: 1s, line: go}]"),
             "s.yaml:6:30: `stdin` with times needs a program whose clock is followed; add `clock: virtual`");
  expect_has(mistakes_of("run: [cat], clock: virtual, stdin: [{at: 2s, line: b}, {at: 1s, line: a}]"),
             "`at` must not be earlier than that of the line before");
  expect_has(mistakes_of("run: [cat], clock: virtual, stdin: [{at: 1s, line: go}]", "{mode: realtime}"),
             "`stdin` with times is for programs on simulated time");
  expect_has(mistakes_of("run: [cat], stdin: {file: none.txt}"), "there is no file");
  expect_has(mistakes_of("run: [cat], clock: virtual, stdin: [{at: 2s}]"), "`line` is missing");
}

TEST_F(ProgramsTest, StartUpIsFreeUnlessTheScenarioChargesIt) {
  const auto free_of = [](const Scenario& s) { return robot_specs(s).at(0).programs.at(0).startup_free; };
  EXPECT_EQ(free_of(read("run: [sh]")), CpuSpan(10s));
  EXPECT_EQ(free_of(read("run: [sh], startup: 2s")), CpuSpan(2s));
  EXPECT_EQ(free_of(read("run: [sh], startup: charged")), CpuSpan::zero());
  expect_has(mistakes_of("run: [sh], startup: -1s"), "must not be negative");
}

}  // namespace
}  // namespace isochron
