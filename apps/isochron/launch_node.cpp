#include "apps/isochron/launch_node.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "apps/isochron/command.hpp"
#include "apps/isochron/launch_engine.hpp"
#include "apps/isochron/run_watched.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/foreign_text.hpp"
#include "core/input_error.hpp"

namespace isochron::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_lines = 4;  // of complaints, in a reason
constexpr std::size_t longest_line = 64U << 10U;
constexpr int not_found = 127;                                            // as shells say it
constexpr int no_connection = 255;                                        // as ssh says it
constexpr const char* remote_shell = "sh";                                // on the host; reads the script
constexpr const char* told_there[] = {"ISOCHRON_KEY", "ROS_MASTER_URI"};  // of our environment

/// A node's name as a part of file names.
std::string file_name(std::string name) {
  std::ranges::replace(name, '/', '.');
  return name;
}

/// Each life has files of its own.
std::string life_name(const std::optional<LaunchTerms>& terms) {
  return terms && terms->life > 0 ? ".again" + std::to_string(terms->life) : "";
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
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

std::vector<std::string> remote_words(const LaunchFlags& flags, const std::string& host) {
  std::vector<std::string> all = words_of(flags.shell);
  if (std::filesystem::path(all.front()).filename() == "ssh") all.emplace_back("--");  // no host is an option
  all.insert(all.end(), {host, remote_shell});
  return all;
}

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

NodeProcess::NodeProcess(const LaunchFlags& flags, const NodePlace& place, const LaunchedRun& run,
                         std::optional<LaunchTerms> terms)
    : flags_(flags),
      name_(place.name),
      host_(place.host),
      terms_(std::move(terms)),
      base_(run.base + "." + file_name(place.name) + life_name(terms_)),
      file_there_(run.staged.contains(place.host) ? run.staged.at(place.host)
                                                  : std::filesystem::absolute(flags.file).string()),
      journal_there_(flags.remote_folder + "/isochron-" + run.word + "." + file_name(place.name) + life_name(terms_) +
                     ".mcap"),
      system_there_(journal_there_ + ".system"),
      system_(run.system),
      places_(places_text(run.places)),
      process_(start(run)) {}

std::unique_ptr<ChildProcess> NodeProcess::start(const LaunchedRun& run) const {
  const std::string report = base_ + ".json";
  if (host_.empty()) return std::make_unique<ChildProcess>([&] { return live(run); }, report, terms_.has_value());
  return std::make_unique<ChildProcess>(words(), report, "", script());
}

/// In the copy of this process that is the node.
int NodeProcess::live(const LaunchedRun& run) const {
  prctl(PR_SET_NAME, name_.c_str());  // so that ps and top tell them apart
  try {
    keep_output_for_reports();
    RunOptions options;
    options.journal = journal();
    options.node = name_;
    options.machine = run.machine;
    options.places = run.places;
    options.graph = &run.graph;
    RunWatch watch;
    std::optional<LaunchLine> line;
    if (terms_) options.rendezvous = &line.emplace(watch, *terms_);
    const RunReport report = run_watched(run.scenario, std::move(options), false, watch);
    print(to_json(report) + "\n");
    return exit_code(report);
  } catch (const InputError& error) {
    say(std::string(error.what()) + "\n");
    return exit_bad_input;
  } catch (const std::exception& error) {
    say(std::string("isochron: ") + error.what() + "\n");
    return exit_failed;
  }
}

std::vector<std::string> NodeProcess::arguments() const {
  std::vector<std::string> all{"run",          file_there_,         "--node", name_, "--json", "--quiet", "--journal",
                               journal_there_, "--until-stdin-ends"};
  all.insert(all.end(), {"--system", system_there_});
  if (flags_.trust) all.emplace_back("--trust");
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
  if (!places_.empty()) text += "export ISOCHRON_PLACES=" + quoted(places_) + "\n";
  if (terms_) text += "export ISOCHRON_LAUNCH=" + quoted(to_text(*terms_)) + "\n";
  // With it the host needs the libraries of its own nodes only.
  text += "cat > " + quoted(system_there_) + " <<'END_OF_SYSTEM'\n" + system_ + "\nEND_OF_SYSTEM\n";
  text += "exec env " + flags_.remote;  // as the shell there reads it: ~/isochron, A=B isochron
  for (const std::string& word : arguments()) text += " " + quoted(word);
  return text + "\n";
}

bool NodeProcess::never_began() const {
  const auto code = process_->code();
  return code == exit_bad_input || code == not_found || (code == no_connection && !host_.empty() && !began_);
}

bool NodeProcess::lost() const {
  constexpr int by_signal = 128;  // as shells, srun and mpirun say it; ssh says 255
  const auto code = process_->code();
  return !code || (began_ && *code > by_signal && !host_.empty());
}

void NodeProcess::stop() {
  if (host_.empty()) return process_->signal(SIGINT);
  process_->end_input();
}

void NodeProcess::kill() {
  process_->end_input();
  process_->signal(SIGKILL);
}

void NodeProcess::pass_on() {
  const bool was_over = process_->ended();  // then nothing more comes than is there now
  char text[4096];
  ssize_t n = 0;
  while (!silent_ && (n = read(process_->complaints(), text, sizeof text)) > 0) {
    line_.append(text, static_cast<std::size_t>(n));
  }
  silent_ = silent_ || n == 0;
  if (line_.size() > longest_line) line_ += '\n';
  if (was_over && !line_.empty() && !line_.ends_with('\n')) line_ += '\n';
  for (std::size_t end = line_.find('\n'); end != std::string::npos; end = line_.find('\n')) {
    std::string line = line_.substr(0, end);
    line_.erase(0, end + 1);
    if (line.ends_with('\r')) line.pop_back();  // ssh speaks to terminals
    if (const auto word = terms_ ? take_node_word(line, terms_->number) : std::nullopt) {
      began_ = true;
      if (word->what == NodeWord::What::finished) finished_ = true;
      if (word->what == NodeWord::What::missing) missing_.push_back(word->node);
      if (line.empty()) continue;
    }
    line = foreign_text(line);
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
  const auto code = process_->code();
  if (!host_.empty() && code == no_connection) {
    if (said.empty()) said = "its process there was killed, or the connection was lost";  // ssh says no more
    return "`" + words_of(flags_.shell).front() + " " + host_ + "` failed: " + said + hint_for(said, host_);
  }
  const std::string where = host_.empty() ? "" : " on " + host_;
  if (code == not_found) return said + where + "; say with --remote where isochron is there";
  return "its process" + where + (code ? " " : " was ") + process_->how_it_ended() + (said.empty() ? "" : ": " + said);
}

void NodeProcess::clean_up() const {
  if (host_.empty()) return;
  ChildProcess remove(words(), "/dev/null", "/dev/null",
                      "exec rm -f " + quoted(journal_there_) + " " + quoted(system_there_) + " " +
                          quoted(journal_there_ + ".sent") + "\n");
  remove.wait();
}

bool NodeProcess::fetch() const {
  if (host_.empty()) return std::filesystem::exists(journal());
  if (never_began() && process_->code() != no_connection) {
    clean_up();
    return false;
  }
  const std::string here = journal() + ".fetched";
  ChildProcess copy(words(), here, "/dev/null", fetching(quoted(journal_there_)));
  copy.wait();
  std::error_code failed;
  if (copy.well()) std::filesystem::rename(here, journal(), failed);
  if (!copy.well() || failed) {
    std::filesystem::remove(here, failed);
    return false;
  }
  clean_up();
  return true;
}

void NodeProcess::forget_files(bool journals) const {
  std::error_code ignored;
  std::filesystem::remove(base_ + ".json", ignored);
  std::filesystem::remove(journal() + ".sent", ignored);
  if (journals) std::filesystem::remove(journal(), ignored);
}

}  // namespace isochron::app
