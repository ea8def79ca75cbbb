#include "apps/isochron/portable_math.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/isochron/terminal.hpp"

namespace isochron::app {
namespace {

constexpr const char* variable = "GLIBC_TUNABLES";
constexpr const char* wanted = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F";

std::vector<std::string> own_words() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(in, word, '\0');) words.push_back(word);
  return words;
}

}  // namespace

void settle_math(const Scenario& scenario) {
  if (scenario.time.math != MathKind::portable) return;
  const char* now = std::getenv(variable);
  const std::string set = now == nullptr ? "" : now;
  if (set.find(wanted) != std::string::npos) return;
  setenv(variable, set.empty() ? wanted : (set + ":" + wanted).c_str(), 1);
  give_output_back();
  std::vector<std::string> words = own_words();
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv("/proc/self/exe", pointers.data());
  throw std::runtime_error(std::string("cannot start anew for `math: portable`: ") + std::strerror(errno));
}

}  // namespace isochron::app
