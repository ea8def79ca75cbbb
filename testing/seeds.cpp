#include "testing/seeds.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace isochron {
namespace {

std::optional<std::uint64_t> number_from_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  std::uint64_t number = 0;
  const char* end = text + std::strlen(text);
  const auto [at, code] = std::from_chars(text, end, number);
  if (code == std::errc{} && at == end) return number;
  std::fprintf(stderr, "%s=%s is not a number; it is ignored\n", name, text);
  return std::nullopt;
}

// Written before each seed, so that the signal handler has nothing to compose.
std::array<char, 1024> last_words{};
constexpr std::array deadly{SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

void say_last_words(int number) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, last_words.data(), std::strlen(last_words.data()));
  ::signal(number, SIG_DFL);
  ::raise(number);
}

/// While it lives, a crash names the seed.
class CrashNotice {
 public:
  CrashNotice() {
    for (std::size_t i = 0; i < deadly.size(); ++i) before_[i] = ::signal(deadly[i], say_last_words);
  }
  ~CrashNotice() {
    for (std::size_t i = 0; i < deadly.size(); ++i) ::signal(deadly[i], before_[i]);
  }
  CrashNotice(const CrashNotice&) = delete;
  CrashNotice& operator=(const CrashNotice&) = delete;
  static void about(std::uint64_t seed, const std::string& command) {
    std::snprintf(last_words.data(), last_words.size(), "seed %llu crashes\nrepeat it with: %s\n",
                  static_cast<unsigned long long>(seed), command.c_str());
  }

 private:
  std::array<sighandler_t, deadly.size()> before_{};
};

std::string this_program() {
  std::array<char, 4096> path{};
  const auto n = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  std::string program = n > 0 ? std::string(path.data(), static_cast<std::size_t>(n)) : "THIS_TEST";
  // From the tree's top, where people stand.
  const auto build = program.rfind("/build/");
  return build == std::string::npos ? program : program.substr(build + 1);
}

std::optional<std::string> run(const std::function<std::optional<std::string>(std::uint64_t)>& body,
                               std::uint64_t seed) {
  try {
    return body(seed);
  } catch (const std::exception& error) {
    return std::string("it threw: ") + error.what();
  }
}

}  // namespace

std::string repeat_command(std::uint64_t seed, const std::string& filter) {
  static const std::string program = this_program();
  std::string command = "ISOCHRON_SEED=" + std::to_string(seed) + " " + program;
  if (!filter.empty()) command += " --gtest_filter=" + filter;
  return command;
}

std::optional<FailingSeed> find_failing_seed(std::uint64_t count, const std::string& filter,
                                             const std::function<std::optional<std::string>(std::uint64_t)>& body) {
  const auto only = number_from_environment("ISOCHRON_SEED");
  const std::uint64_t first = only.value_or(1);
  const std::uint64_t last = only ? *only : number_from_environment("ISOCHRON_SEEDS").value_or(count);
  const CrashNotice notice;
  for (std::uint64_t seed = first, left = last - first + 1; left > 0 && first <= last; ++seed, --left) {
    const std::string command = repeat_command(seed, filter);
    CrashNotice::about(seed, command);
    if (auto why = run(body, seed)) return FailingSeed{seed, *why, command};
  }
  return std::nullopt;
}

}  // namespace isochron
