#include "bridge/fmi/package.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "core/foreign_text.hpp"
#include "core/input_error.hpp"

namespace isochron::fmi {
namespace fs = std::filesystem;
namespace {

const std::string folder_prefix = "isochron_fmu_";

/// Folders of processes that are gone.
void sweep(const fs::path& place) {
  std::error_code failed;
  for (fs::directory_iterator entry(place, failed), end; !failed && entry != end; entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(folder_prefix)) continue;
    const int owner = std::atoi(name.c_str() + folder_prefix.size());
    std::error_code ignored;
    if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH) fs::remove_all(entry->path(), ignored);
  }
}

std::string make_folder(const std::string& file) {
  std::error_code failed;
  const fs::path place = fs::temp_directory_path(failed);
  sweep(place);
  std::string name = (place / (folder_prefix + std::to_string(::getpid()) + "_XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw InputError({file, 0, 0}, "cannot be unpacked in " + place.string() + ": " + std::strerror(errno),
                     "set TMPDIR to a folder that can be written");
  }
  return name;
}

std::string list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + foreign_name(word);
  return text.empty() ? "none" : text;
}

/// Refuses what this machine cannot load.
void check_platform(const Archive& archive, const Description& description) {
  const std::string here = platform_here(description.version);
  const auto platforms = platforms_of(archive);
  const std::string library = "binaries/" + here + "/" + description.identifier + ".so";
  if (!here.empty() && archive.has(library)) return;
  if (!here.empty() && std::ranges::find(platforms, here) != platforms.end()) {
    throw InputError({archive.file(), 0, 0}, "has no `" + library + "`", "its model description names that binary");
  }
  const bool sources =
      std::ranges::any_of(archive.names(), [](const auto& name) { return name.starts_with("sources/"); });
  throw InputError(
      {archive.file(), 0, 0},
      "has no binary for this machine (" + (here.empty() ? "unknown to FMI" : here) + "); it has " + list(platforms),
      sources ? "it brings its sources: compile it for this machine" : "export it for this machine");
}

struct Stamp {
  fs::file_time_type changed;
  std::uintmax_t size = 0;
  friend auto operator<=>(const Stamp&, const Stamp&) = default;
};

}  // namespace

Description description_of(const Archive& archive) {
  const std::string name = "modelDescription.xml";
  if (!archive.has(name)) {
    throw InputError({archive.file(), 0, 0}, "has no modelDescription.xml", "this zip file is not an FMU");
  }
  return read_description(archive.read(name, most_description), archive.file() + "/" + name);
}

std::vector<std::string> platforms_of(const Archive& archive) {
  static const std::string root = "binaries/";
  std::set<std::string> all;
  for (const std::string& name : archive.names()) {
    const auto end = name.find('/', root.size());
    if (name.starts_with(root) && end != std::string::npos) all.insert(name.substr(root.size(), end - root.size()));
  }
  return {all.begin(), all.end()};
}

std::string platform_here(Version version) {
#if defined(__linux__) && defined(__x86_64__)
  return version == Version::fmi2 ? "linux64" : "x86_64-linux";
#elif defined(__linux__) && defined(__aarch64__)
  return version == Version::fmi2 ? "aarch64-linux" : "aarch64-linux";
#else
  return "";
#endif
}

Package::Package(const std::string& file) : file_(file), owner_(::getpid()) {
  const Archive archive = Archive::open(file);
  description_ = description_of(archive);
  check_platform(archive, description_);
  folder_ = make_folder(file);
  try {
    archive.unpack("modelDescription.xml", folder_);
    archive.unpack("resources/", folder_);
    archive.unpack("binaries/" + platform_here(description_.version) + "/", folder_);
    fs::create_directories(folder_ + "/resources");
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    throw;
  }
}

Package::~Package() {
  std::error_code ignored;
  if (owner_ == ::getpid()) fs::remove_all(folder_, ignored);
}

std::shared_ptr<const Package> open_package(const std::string& file) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, Stamp>, std::shared_ptr<const Package>> opened;
  std::error_code ignored;
  const fs::path path = fs::weakly_canonical(file, ignored);
  const Stamp stamp{fs::last_write_time(path, ignored), fs::file_size(path, ignored)};
  const std::lock_guard lock(mutex);
  auto& known = opened[{path.string(), stamp}];
  if (known == nullptr) known = std::make_shared<const Package>(file);
  return known;
}

}  // namespace isochron::fmi
