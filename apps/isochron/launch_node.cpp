#include "apps/isochron/launch_node.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "apps/isochron/command.hpp"
#include "apps/isochron/terminal.hpp"

namespace isochron::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_lines = 4;                                     // of complaints, in a reason
constexpr int not_found = 127;                                            // as shells say it
constexpr int no_connection = 255;                                        // as ssh says it
constexpr const char* remote_shell = "sh";                                // on the host; reads the script
constexpr const char* told_there[] = {"ISOCHRON_KEY", "ROS_MASTER_URI"};  // of our environment

/// A node's name as a part of file names.
std::string file_name(std::string name) {
  std::ranges::replace(name, '/', '.');
  return name;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// As a shell takes it for one word, whatever is in it.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// ssh's own words are right, but do not say what to do.
std::string hint_for(const std::string& said, const std::string& host) {
  const auto has = [&](const char* words) { return said.find(words) != std::string::npos; };
  if (has("Host key verification failed") || has("HOST IDENTIFICATION HAS CHANGED")) {
    return "; connect to " + host + " by hand once and look at its key";
  }
  if (has("Permission denied")) return "; no password can be asked for here: give " + host + " your public key";
  return "";
}

/// A node whose connection was cut may still be writing its journal; while it does, it holds a lock on it.
std::string fetching(const std::string& journal) {
  return "[ -e " + journal + " ] || exit 1\ncommand -v flock > /dev/null && exec flock -s -w 20 " + journal + " cat " +
         journal + "\nexec cat " + journal + "\n";
}

}  // namespace

NodeProcess::NodeProcess(const LaunchFlags& flags, const NodePlace& place, const std::string& base,
                         const std::string& launch)
    : flags_(flags),
      name_(place.name),
      host_(place.host),
      base_(base + "." + file_name(place.name)),
      journal_there_(flags.remote_folder + "/isochron-" + launch + "." + file_name(place.name) + ".mcap"),
      process_(words(), base_ + ".json", "", script()) {}

std::vector<std::string> NodeProcess::words() const {
  if (host_.empty()) {
    std::vector<std::string> all = arguments();
    all.insert(all.begin(), ChildProcess::ourselves);
    return all;
  }
  std::vector<std::string> all = words_of(flags_.shell);
  all.insert(all.end(), {host_, remote_shell});
  return all;
}

std::vector<std::string> NodeProcess::arguments() const {
  std::vector<std::string> all{
      "run",       std::filesystem::absolute(flags_.file).string(), "--node", name_, "--json", "--quiet",
      "--journal", host_.empty() ? journal() : journal_there_};
  if (!host_.empty()) all.emplace_back("--until-stdin-ends");
  if (!flags_.duration.empty()) all.insert(all.end(), {"--duration", flags_.duration});
  for (const std::string& set : flags_.sets) all.insert(all.end(), {"--set", set});
  return all;
}

std::optional<std::string> NodeProcess::script() const {
  if (host_.empty()) return std::nullopt;
  std::string text;
  for (const char* name : told_there) {
    if (const char* value = std::getenv(name)) text += std::string("export ") + name + "=" + quoted(value) + "\n";
  }
  text += "exec env " + flags_.remote;  // as the shell there reads it: ~/isochron, A=B isochron
  for (const std::string& word : arguments()) text += " " + quoted(word);
  return text + "\n";
}

bool NodeProcess::never_began() const {
  const auto code = process_.code();
  return code == exit_bad_input || code == not_found || (code == no_connection && !host_.empty());
}

void NodeProcess::stop() {
  if (host_.empty()) return process_.signal(SIGINT);
  process_.end_input();
}

void NodeProcess::kill() {
  process_.end_input();
  process_.signal(SIGKILL);
}

void NodeProcess::pass_on() {
  char text[4096];
  for (ssize_t n = read(complaints(), text, sizeof text); n > 0; n = read(complaints(), text, sizeof text)) {
    line_.append(text, static_cast<std::size_t>(n));
  }
  for (std::size_t end = line_.find('\n'); end != std::string::npos; end = line_.find('\n')) {
    std::string line = line_.substr(0, end);
    line_.erase(0, end + 1);
    if (line.ends_with('\r')) line.pop_back();  // ssh speaks to terminals
    say(faint("[" + name_ + "] ") + line + "\n");
    last_lines_.push_back(std::move(line));
    if (last_lines_.size() > most_lines) last_lines_.erase(last_lines_.begin());
  }
}

Json NodeProcess::report() const {
  std::ifstream file(base_ + ".json");
  Json json = Json::parse(file, nullptr, false);
  if (json.is_object() && json.contains("end")) return json;
  return Json{{"end", "failed"}, {"why", why()}};
}

/// Why it left no report.
std::string NodeProcess::why() const {
  std::string said;
  for (const std::string& line : last_lines_) said += (said.empty() ? "" : "\n  ") + line;
  const auto code = process_.code();
  if (!host_.empty() && code == no_connection) {
    if (said.empty()) said = "its process there was killed, or the connection was lost";  // ssh says no more
    return "`" + words_of(flags_.shell).front() + " " + host_ + "` failed: " + said + hint_for(said, host_);
  }
  const std::string where = host_.empty() ? "" : " on " + host_;
  if (code == not_found) return said + where + "; say with --remote where isochron is there";
  return "its process" + where + (code ? " " : " was ") + process_.how_it_ended() + (said.empty() ? "" : ": " + said);
}

bool NodeProcess::fetch() const {
  if (host_.empty()) return std::filesystem::exists(journal());
  if (never_began() && process_.code() != no_connection) return false;
  const std::string here = journal() + ".fetched";
  ChildProcess copy(words(), here, "/dev/null", fetching(quoted(journal_there_)));
  copy.wait();
  std::error_code failed;
  if (copy.well()) std::filesystem::rename(here, journal(), failed);
  if (!copy.well() || failed) {
    std::filesystem::remove(here, failed);
    return false;
  }
  ChildProcess remove(words(), "/dev/null", "/dev/null", "exec rm -f " + quoted(journal_there_) + "\n");
  remove.wait();
  return true;
}

void NodeProcess::forget_files(bool journals) const {
  std::error_code ignored;
  std::filesystem::remove(base_ + ".json", ignored);
  if (journals) std::filesystem::remove(journal(), ignored);
}

}  // namespace isochron::app
