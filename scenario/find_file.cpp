#include "scenario/find_file.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

namespace isochron {
namespace {

namespace fs = std::filesystem;

/// The folder that holds bin/ and lib/ of this Isochron: above the command, or above the library that this is in where
/// somebody else's program has loaded it.
fs::path home() {
  std::error_code ignored;
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&home), &here) != 0 && here.dli_fname != nullptr) {
    const fs::path file = fs::absolute(here.dli_fname, ignored);
    if (file.extension() == ".so") return file.parent_path().parent_path();
  }
  return fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
}

std::optional<std::string> first_of(const std::vector<fs::path>& candidates, int mode) {
  for (const fs::path& candidate : candidates) {
    std::error_code ignored;
    if (fs::is_regular_file(candidate, ignored) && access(candidate.c_str(), mode) == 0) {
      return fs::absolute(candidate).lexically_normal().string();
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_library(const std::string& name, const std::string& folder) {
  std::vector<fs::path> candidates{fs::path(folder) / name};
  if (name.find('/') == std::string::npos) {
    for (const fs::path& place : {fs::path(folder), home() / "lib", home() / "lib" / "isochron"}) {
      candidates.insert(candidates.end(), {place / name, place / (name + ".so"), place / ("lib" + name + ".so")});
    }
  }
  return first_of(candidates, R_OK);
}

bool is_own_library(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  std::error_code ignored;
  for (const fs::path& own : {home() / "lib", home() / "lib" / "isochron"}) {
    if (fs::equivalent(folder, own, ignored)) return true;
  }
  return false;
}

std::optional<std::string> find_program(const std::string& name, const std::string& folder) {
  std::vector<fs::path> candidates{fs::path(folder) / name};
  if (name.find('/') == std::string::npos) {
    candidates.insert(candidates.end(), {home() / "bin" / name, home() / "lib" / "isochron" / name});
    const char* path = std::getenv("PATH");
    std::istringstream places(path != nullptr ? path : "");
    for (std::string place; std::getline(places, place, ':');) candidates.push_back(fs::path(place) / name);
  }
  return first_of(candidates, X_OK);
}

std::vector<std::string> found_command(const std::vector<std::string>& run, const std::string& folder) {
  std::vector<std::string> words = run;
  if (words.empty()) return words;
  words[0] = find_program(run[0], folder).value_or(run[0]);
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::error_code ignored;
    if (words[i].empty() || words[i][0] == '-' || words[i][0] == '/' || fs::exists(words[i], ignored)) continue;
    if (const auto found = first_of({fs::path(folder) / words[i]}, R_OK)) words[i] = *found;
  }
  return words;
}

}  // namespace isochron
