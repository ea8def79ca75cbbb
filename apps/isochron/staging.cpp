#include "apps/isochron/staging.hpp"

#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "apps/isochron/terminal.hpp"
#include "core/foreign_text.hpp"
#include "core/input_error.hpp"
#include "link/content_hash.hpp"

namespace isochron::app {
namespace {

namespace fs = std::filesystem;

/// What every script begins with. Nobody else may look into it, or put anything there.
constexpr const char* store =
    "umask 077\n"
    "store=\"${XDG_CACHE_HOME:-${HOME:?}/.cache}/isochron/staged\"\n"
    "mkdir -p \"$store\" && [ -O \"$store\" ] || exit 1\n";

std::string base64(const std::string& bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::size_t line = 76 / 4 * 3;
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    if (i != 0 && i % line == 0) text += '\n';
    std::array<unsigned char, 3> three{};
    const std::size_t n = bytes.copy(reinterpret_cast<char*>(three.data()), 3, i);
    const unsigned all = (three[0] << 16U) | (three[1] << 8U) | three[2];
    for (unsigned k = 0; k < 4; ++k) text += k <= n ? digits[(all >> (18 - 6 * k)) & 63U] : '=';
  }
  return text;
}

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw InputError({path, 0, 0}, "cannot be read, so it cannot be brought to other hosts");
  return content;
}

/// A script for a host, under way.
struct Errand {
  std::string host, out;
  std::unique_ptr<ChildProcess> process;
};

Errand send(const LaunchFlags& flags, const std::string& host, const std::string& script) {
  const fs::path out = fs::temp_directory_path() / ("isochron-staging-" + std::to_string(getpid()) + "-" +
                                                    link::content_hash(std::as_bytes(std::span(host))).substr(0, 16));
  Errand errand{host, out.string(), nullptr};
  errand.process = std::make_unique<ChildProcess>(remote_words(flags, host), errand.out, errand.out + ".err", script);
  errand.process->end_input();
  return errand;
}

/// What it printed; nothing if it failed, which is said.
std::optional<std::string> outcome(Errand& errand) {
  errand.process->wait();
  const std::string said = content_of(errand.out), complaint = content_of(errand.out + ".err");
  std::error_code ignored;
  fs::remove(errand.out, ignored);
  fs::remove(errand.out + ".err", ignored);
  if (errand.process->well()) return said;
  say("the files of the scenario could not be brought to " + errand.host + ": " +
      (complaint.empty() ? "its shell " + errand.process->how_it_ended() : foreign_text(complaint, 400)) + "\n");
  return std::nullopt;
}

}  // namespace

Staging::Staging(const LaunchFlags& flags, const Scenario& scenario, const std::vector<NodePlace>& places,
                 const std::string& word)
    : flags_(flags),
      folder_(flags.remote_folder + "/isochron-" + word + ".files"),
      scenario_(fs::absolute(scenario.file).lexically_normal().string()) {
  if (flags.in_place) return;
  gather(scenario, places);
  bring();
}

void Staging::gather(const Scenario& scenario, const std::vector<NodePlace>& places) {
  std::map<std::string, std::vector<std::string>> nodes;
  for (const NodePlace& place : places) {
    if (!place.host.empty()) nodes[place.host].push_back(place.name);
  }
  for (const auto& [host, names] : nodes) {
    std::vector<NeededFile> needed = needed_files(scenario, names);
    for (const std::string& more : flags_.stage) {
      const std::vector<NeededFile> along = needed_files(scenario, more);
      if (along.empty())
        throw InputError({"--stage " + more, 0, 0}, "there is no such file", "relative to the scenario");
      needed.insert(needed.end(), along.begin(), along.end());
    }
    for (const NeededFile& one : needed) hosts_[host].files.push_back(&read(one));
  }
}

const Staging::File& Staging::read(const NeededFile& needed) {
  const auto [file, is_new] = files_.try_emplace(needed.place);
  if (!is_new) return file->second;
  std::string content = content_of(needed.path);
  std::string hash = link::content_hash(std::as_bytes(std::span(content)));
  file->second = {needed.path, needed.place, std::move(hash), std::move(content), needed.secret};
  return file->second;
}

void Staging::bring() {
  std::vector<Errand> errands;
  for (const auto& [name, host] : hosts_) errands.push_back(send(flags_, name, question(host)));
  std::map<std::string, std::string> missing;
  for (Errand& errand : errands) {
    if (auto said = outcome(errand)) missing[errand.host] = std::move(*said);
  }
  errands.clear();
  for (const auto& [name, hashes] : missing) errands.push_back(send(flags_, name, delivery(hosts_[name], hashes)));
  for (Errand& errand : errands) hosts_[errand.host].staged = outcome(errand).has_value();
}

/// Prints the hashes that it does not have.
std::string Staging::question(const Host& host) const {
  std::string script = store;
  for (const File* file : host.files) {
    if (!file->secret) script += "[ -f \"$store\"/" + file->hash + " ] || echo " + file->hash + "\n";
  }
  return script;
}

std::string Staging::delivery(const Host& host, const std::string& missing) {
  std::string script = std::string(store) + "set -e\n";
  std::string brought;
  const auto unpack = [](const File& file, const std::string& to) {
    return "base64 -d > " + to + " <<'END_OF_FILE'\n" + base64(file.content) + "\nEND_OF_FILE\n";
  };
  for (const File* file : host.files) {
    const bool wanted = missing.find(file->hash) != std::string::npos && brought.find(file->hash) == std::string::npos;
    if (file->secret || !wanted) continue;
    brought += file->hash + " ";
    sent_ += file->content.size();
    script += "new=$(mktemp \"$store\"/" + file->hash + ".XXXXXX)\n" + unpack(*file, "\"$new\"");
    script += "[ \"$(sha256sum < \"$new\")\" = '" + file->hash +
              "  -' ] || { rm -f \"$new\"; echo 'a file came damaged' >&2; exit 1; }\n";
    script += "mv \"$new\" \"$store\"/" + file->hash + "\n";
  }
  // Hosts may share a file system: every file comes to its place whole, whoever else brings it there.
  for (const File* file : host.files) {
    const fs::path place = folder_ + file->place;
    script += "mkdir -p " + quoted(place.parent_path().string()) + "\nnew=$(mktemp " +
              quoted(place.string() + ".XXXXXX") + ")\n";
    script += file->secret ? unpack(*file, "\"$new\"") : "cp \"$store\"/" + file->hash + " \"$new\"\n";
    if (access(file->path.c_str(), X_OK) == 0) script += "chmod u+x \"$new\"\n";
    script += "mv -f \"$new\" " + quoted(place.string()) + "\n";
  }
  return script;
}

std::string Staging::scenario_on(const std::string& host) const {
  const auto found = hosts_.find(host);
  return found == hosts_.end() || !found->second.staged ? "" : folder_ + scenario_;
}

void Staging::clear() const {
  std::vector<Errand> errands;
  for (const auto& [name, host] : hosts_) {
    if (host.staged) errands.push_back(send(flags_, name, "exec rm -rf " + quoted(folder_) + "\n"));
  }
  for (Errand& errand : errands) (void)outcome(errand);
}

}  // namespace isochron::app
