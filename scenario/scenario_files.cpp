#include "scenario/scenario_files.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "scenario/find_file.hpp"

namespace isochron {
namespace {

namespace fs = std::filesystem;

fs::path whole(const fs::path& path) { return fs::absolute(path).lexically_normal(); }

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

class Collector {
 public:
  explicit Collector(const Scenario& scenario) : folder_(whole(scenario.folder)) {}

  /// Files keep their places relative to each other, so that paths in the scenario mean the same there.
  void add(const fs::path& file, bool secret = false) {
    const fs::path path = whole(file);
    if (std::error_code ignored; fs::is_directory(path, ignored)) return add_definitions(path);
    if (!is_file(path) || !seen_.insert(path.string()).second) return;
    files_.push_back({path.string(), path.string(), secret});
    if (path.extension() == ".xml") add_included_by(path);
  }
  /// One of Isochron's own may be another version there, or missing: it is put next to the scenario, where it is looked
  /// for first.
  void add_library(const std::string& name) {
    const auto found = name.empty() ? std::nullopt : find_library(name, folder_.string());
    if (!found) return;
    if (!is_own_library(*found)) return add(*found);
    if (!seen_.insert(*found).second) return;
    files_.push_back({*found, (folder_ / fs::path(*found).filename()).string(), false});
  }
  /// A command: of its words those that are files next to the scenario. What is found on the PATH is there too.
  void add_command(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      if (!word.empty() && word.front() != '-' && fs::path(word).is_relative()) add(folder_ / word);
    }
  }
  [[nodiscard]] std::vector<NeededFile> take() { return std::move(files_); }

 private:
  /// A package of message types.
  void add_definitions(const fs::path& folder) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().extension() == ".msg") add(entry.path());
    }
  }
  /// Meshes, textures and other parts of a model: file="…", next to it or in the folder that its compiler names.
  void add_included_by(const fs::path& model) {
    std::ifstream in(model);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    std::vector<fs::path> folders{model.parent_path()};
    for (const char* key : {"meshdir", "texturedir", "assetdir"}) {
      for (const std::string& value : values_of(text, key)) folders.push_back(model.parent_path() / value);
    }
    for (const std::string& value : values_of(text, "file")) {
      for (const fs::path& folder : folders) add(folder / value);
    }
  }
  static std::vector<std::string> values_of(const std::string& text, const std::string& key) {
    std::vector<std::string> values;
    const std::string mark = key + "=\"";
    for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
      const auto begin = at + mark.size(), end = text.find('"', begin);
      if (end != std::string::npos) values.push_back(text.substr(begin, end - begin));
    }
    return values;
  }

  fs::path folder_;
  std::set<std::string> seen_;
  std::vector<NeededFile> files_;
};

/// Walks the description of all sections for what names a file.
class FileFinder {
 public:
  explicit FileFinder(Collector& to) : to_(to) {}

  template <class T>
  void required(const char* key, T& target, const char*) {
    look(key, target);
  }
  template <class T>
  void optional(const char* key, T& target, const char*) {
    look(key, target);
  }

 private:
  void look(const std::string& key, FilePath& file) {
    if (!file.empty()) to_.add(file.path, key == "key");
  }
  void look(const std::string&, LibraryPath& library) { to_.add_library(library.path); }
  void look(const std::string&, PolicySection& policy) { to_.add_library(policy.library.path); }
  template <class T>
  void look(const std::string& key, std::optional<T>& value) {
    if (value) look(key, *value);
  }
  template <class T>
  void look(const std::string& key, std::vector<T>& values) {
    for (T& value : values) look(key, value);
  }
  template <class T>
  void look(const std::string& key, std::pair<std::string, T>& named) {
    look(key, named.second);
  }
  template <class T>
  void look(const std::string&, T& value) {
    if constexpr (std::is_base_of_v<Section, T>) describe(*this, value);
  }

  Collector& to_;
};

}  // namespace

std::vector<NeededFile> needed_files(const Scenario& scenario, const std::vector<std::string>& nodes) {
  Collector collector(scenario);
  collector.add(scenario.file);
  Scenario copy = scenario;
  FileFinder finder(collector);
  describe(finder, copy);
  if (scenario.world) collector.add_library(scenario.world->engine);
  bool others = false;  // the world or a robot: those need all programs
  for (const std::string& node : nodes) {
    const auto own = std::ranges::find_if(scenario.nodes, [&](const auto& entry) { return entry.first == node; });
    others = others || own == scenario.nodes.end();
    if (own == scenario.nodes.end()) continue;
    collector.add_library(own->second.library);
    collector.add_library(own->second.fmu);
    collector.add_command(own->second.run);
  }
  for (const auto& [name, robot] : scenario.robots) {
    for (const auto& [program, section] : robot.programs) {
      if (others) collector.add_command(section.run);
    }
  }
  return collector.take();
}

std::vector<NeededFile> needed_files(const Scenario& scenario, const std::string& file_or_folder) {
  Collector collector(scenario);
  const fs::path path = fs::path(scenario.folder) / file_or_folder;
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) collector.add(path);
  for (const auto& entry : fs::recursive_directory_iterator(path, ignored)) collector.add(entry.path());
  return collector.take();
}

}  // namespace isochron
