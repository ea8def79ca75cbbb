#include "run/trust.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/foreign_text.hpp"
#include "link/auth.hpp"
#include "run/fmu_nodes.hpp"
#include "scenario/find_file.hpp"

namespace isochron {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> libraries_of(const Scenario& scenario) {
  std::vector<std::string> all;
  const auto add = [&](const LibraryPath& library) {
    if (!library.empty() && std::ranges::find(all, library.path) == all.end()) all.push_back(library.path);
  };
  if (scenario.world) {
    if (const auto engine = find_library(scenario.world->engine, scenario.folder)) add({*engine});
  }
  for (const auto& [name, node] : scenario.nodes) {
    if (!node.library.empty()) add({find_library(node.library, scenario.folder).value_or(node.library)});
    if (!node.fmu.empty()) add({fmu_file(node.fmu, scenario.folder)});  // there are libraries in it
  }
  for (const auto& [name, robot] : scenario.robots) {
    add(robot.policy.library);
    for (const auto& [program, section] : robot.programs) add(section.library);
  }
  return all;
}

std::vector<std::string> hosts_of(const Scenario& scenario) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& host) {
    if (!host.empty() && std::ranges::find(all, host) == all.end()) all.push_back(host);
  };
  for (const auto& [name, node] : scenario.nodes) add(node.host);
  for (const auto& [name, robot] : scenario.robots) add(robot.host);
  if (scenario.world) add(scenario.world->host);
  if (scenario.ros) add(scenario.ros->host);
  if (scenario.ros2) add(scenario.ros2->host);
  return all;
}

std::string state_folder() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/') return state;
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.local/state" : "";
}

/// Made when it is first needed.
std::optional<link::Key> origin_key() {
  const std::string state = state_folder();
  if (state.empty()) return std::nullopt;
  std::error_code failed;
  fs::create_directories(state + "/isochron", failed);
  const std::string file = state + "/isochron/origin.key";
  const int made = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made >= 0) {
    const std::string text = link::Key::generate().text() + "\n";
    const bool written = ::write(made, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::close(made);
    if (!written) fs::remove(file, failed);
  }
  try {
    return link::Key::from_file(file);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

bool is_trusted_owner(uid_t owner) {
  if (owner == 0 || owner == ::geteuid()) return true;
  const char* caller = ::geteuid() == 0 ? std::getenv("SUDO_UID") : nullptr;
  return caller != nullptr && std::to_string(owner) == caller;
}

}  // namespace

std::vector<std::string> executed_by(const Scenario& scenario) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& what, const std::vector<std::string>& run) {
    if (run.empty()) return;
    std::string line = what + ":";
    for (const std::string& word : run) line += " " + foreign_name(word, 200);
    all.push_back(std::move(line));
  };
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, program] : section.programs) add("program " + robot + "/" + name, program.run);
  }
  for (const auto& [name, node] : scenario.nodes) add("node " + name, node.run);
  for (const std::string& library : libraries_of(scenario)) all.push_back("library " + foreign_name(library, 400));
  for (const std::string& host : hosts_of(scenario)) all.push_back("isochron on host " + foreign_name(host));
  return all;
}

std::vector<std::string> foreign_libraries(const Scenario& scenario) {
  std::vector<std::string> all = libraries_of(scenario);
  std::erase_if(all, [](const std::string& path) { return is_own_library(path); });
  return all;
}

std::string why_foreign(const std::string& file) {
  struct stat about {};
  if (::stat(file.c_str(), &about) != 0) return "";  // reading it will say why
  if (!is_trusted_owner(about.st_uid)) return "belongs to another user";
  if (S_ISREG(about.st_mode) && (about.st_mode & S_IWOTH) != 0) return "can be written by every user";
  return "";
}

std::string own_mark(const std::string& text, const std::string& folder) {
  const auto key = origin_key();
  if (!key) return "";
  const std::string all = std::to_string(folder.size()) + ":" + folder + text;
  static constexpr char digits[] = "0123456789abcdef";
  std::string mark;
  for (const std::byte byte : key->prove("isochron origin", std::as_bytes(std::span(all)))) {
    mark += digits[std::to_integer<unsigned>(byte) >> 4U];
    mark += digits[std::to_integer<unsigned>(byte) & 15U];
  }
  return mark;
}

bool bears_own_mark(const std::string& mark, const std::string& text, const std::string& folder) {
  return !mark.empty() && mark == own_mark(text, folder);
}

}  // namespace isochron
