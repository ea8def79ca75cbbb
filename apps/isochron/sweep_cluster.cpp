#include "apps/isochron/sweep_cluster.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "apps/isochron/staging.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/foreign_text.hpp"
#include "core/input_error.hpp"
#include "link/content_hash.hpp"
#include "scenario/scenario_files.hpp"

namespace isochron::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using namespace std::chrono_literals;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_whole(const std::string& path, const std::string& text) {
  const std::string part = path + ".part";
  std::ofstream file(part, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error(path + " cannot be written: is the disk full?");
  file.close();
  fs::rename(part, path);
}

/// A file that others append lines to, here or through a shared file system.
class Lines {
 public:
  explicit Lines(std::string file) : file_(std::move(file)) {}
  void read(std::vector<std::string>& lines) {
    std::ifstream file(file_, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at_));
    std::string line;
    while (std::getline(file, line) && !file.eof()) {
      at_ += line.size() + 1;
      lines.push_back(line);
    }
  }

 private:
  std::string file_;
  std::size_t at_ = 0;
};

/// Code and output of a command.
std::pair<int, std::string> asked(const std::string& command) {
  std::string text;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {127, "no process can be started"};
  char piece[4096];
  for (std::size_t n = fread(piece, 1, sizeof piece, pipe); n > 0; n = fread(piece, 1, sizeof piece, pipe)) {
    text.append(piece, n);
  }
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 127, text};
}

Json part_json(const SweepPlan& plan, const std::vector<SweepPoint>& points) {
  Json json = to_json(plan);
  json["points"] = Json::array();
  for (const SweepPoint& point : points) json["points"].push_back(to_json(point));
  return json;
}

/// All files that the scenario names, into a folder that is called by what is in them: a sweep that goes on tomorrow
/// runs what it ran today. Returns where the scenario is there.
std::string stage_here(const Scenario& scenario, const std::string& folder) {
  std::string all;
  const std::vector<NeededFile> files = needed_files(scenario, std::vector<std::string>{"world"});
  for (const NeededFile& file : files) {
    const std::string content = content_of(file.path);
    all += file.place + "\n" + link::content_hash(std::as_bytes(std::span(content))) + "\n";
  }
  const std::string root =
      fs::absolute(folder).string() + "/staged/" + link::content_hash(std::as_bytes(std::span(all))).substr(0, 16);
  for (const NeededFile& file : files) {
    const fs::path to = root + file.place;
    if (fs::exists(to)) continue;
    fs::create_directories(to.parent_path());
    const fs::path part = to.string() + ".part";
    fs::copy_file(file.path, part, fs::copy_options::overwrite_existing);
    fs::rename(part, to);
  }
  return root + fs::absolute(scenario.file).lexically_normal().string();
}

std::string own_path() { return fs::read_symlink("/proc/self/exe").string(); }

/// Parts that wait become one job array; each element is a part with a folder of its own.
class SlurmEngine final : public SweepEngine {
 public:
  SlurmEngine(const ClusterFlags& flags, SweepPlan& plan, const Scenario& scenario) : flags_(flags), plan_(plan) {
    if (asked("command -v sbatch").first != 0) {
      throw InputError({"--on slurm", 0, 0}, "there is no sbatch here",
                       "run it where jobs are submitted, or install slurm-client; --on local needs nothing");
    }
    if (const auto [code, said] = asked("sinfo -h"); code != 0) {
      throw InputError({"--on slurm", 0, 0}, "Slurm does not answer: " + foreign_text(said, 300),
                       "is slurmctld running? The same command continues later");
    }
    folder_ = fs::absolute(plan.folder).string();
    fs::create_directories(folder_ + "/parts");
    plan.file = stage_here(scenario, plan.folder);
  }
  ~SlurmEngine() override {
    for (const Array& array : arrays_) (void)asked("scancel " + array.job);
  }
  [[nodiscard]] std::size_t lanes() const override { return 1000; }  // Slurm's own limit of an array
  [[nodiscard]] std::size_t part_size(std::size_t points) const override {
    return std::clamp<std::size_t>(points / 100, 1, 100);
  }
  bool begin(std::size_t part, const std::vector<SweepPoint>& points) override {
    fs::create_directories(part_folder(part));
    SweepPlan there = plan_;
    there.folder = part_folder(part);
    write_whole(part_folder(part) + "/part.json", part_json(there, points).dump() + "\n");
    given_.push_back(part);
    return true;
  }
  void all_given() override {
    std::string list;
    for (const std::size_t part : given_) list += (list.empty() ? "" : ",") + std::to_string(part);
    std::string command = "sbatch --parsable --requeue --job-name=isochron-sweep --output=" +
                          app::quoted(folder_ + "/parts/%a/slurm.log") + " --open-mode=append --array=" + list;
    if (flags_.alone) command += " --exclusive --ntasks=1";
    for (const std::string& word : flags_.pass) command += " " + app::quoted(word);
    const std::string work = "exec " + app::quoted(own_path()) + " sweep-part " + app::quoted(folder_ + "/parts/") +
                             "\"$SLURM_ARRAY_TASK_ID\"/part.json --trust";
    command += " --wrap " + app::quoted(work);
    const auto [code, said] = asked(command);
    if (code != 0) {
      throw InputError({"--on slurm", 0, 0}, "sbatch refuses the job: " + foreign_text(said, 400),
                       "finished runs are kept; the same command continues later");
    }
    Array array{said.substr(0, said.find_first_of(";\n")), {given_.begin(), given_.end()}};
    for (const std::size_t part : given_) lines_.emplace(part, Lines(part_folder(part) + "/results.jsonl"));
    say("submitted job " + array.job + " with " + std::to_string(given_.size()) + " parts\n");
    arrays_.push_back(std::move(array));
    given_.clear();
  }
  std::vector<std::string> take_lines() override {
    std::vector<std::string> lines = std::move(last_);
    last_.clear();
    if (!looked_) return lines;
    for (auto& [part, file] : lines_) file.read(lines);
    return lines;
  }
  std::vector<std::size_t> take_ended() override {
    std::vector<std::size_t> ended;
    const auto now = std::chrono::steady_clock::now();
    looked_ = now - asked_at_ >= 1s;
    if (!looked_) return ended;
    asked_at_ = now;
    for (Array& array : arrays_) {
      std::set<std::size_t> alive;
      const auto [code, said] = asked("squeue -h -r -o %K -j " + array.job);
      // A controller that does not answer just now may still have it; one that knows no such job has not.
      if (code != 0 && said.find("Invalid job id") == std::string::npos) continue;
      std::istringstream in(code == 0 ? said : "");
      for (std::size_t part = 0; in >> part;) alive.insert(part);
      std::erase_if(array.parts, [&](std::size_t part) {
        if (alive.contains(part)) return false;
        lines_.at(part).read(last_);
        lines_.erase(part);
        ended.push_back(part);
        return true;
      });
    }
    std::erase_if(arrays_, [](const Array& array) { return array.parts.empty(); });
    return ended;
  }
  void stop(bool) override {
    for (const Array& array : arrays_) (void)asked("scancel " + array.job);
  }

 private:
  struct Array {
    std::string job;
    std::set<std::size_t> parts;
  };
  [[nodiscard]] std::string part_folder(std::size_t part) const { return folder_ + "/parts/" + std::to_string(part); }

  ClusterFlags flags_;
  SweepPlan& plan_;
  std::string folder_;
  std::vector<std::size_t> given_;
  std::vector<Array> arrays_;
  std::map<std::size_t, Lines> lines_;
  std::vector<std::string> last_;
  std::chrono::steady_clock::time_point asked_at_{};
  bool looked_ = false;
};

/// A worker on each host, behind a remote shell: its lines come back as its standard output.
class SshEngine final : public SweepEngine {
 public:
  SshEngine(const ClusterFlags& flags, SweepPlan& plan, const Scenario& scenario) : flags_(flags), plan_(plan) {
    if (flags.hosts.empty()) throw InputError({"--on ssh", 0, 0}, "needs hosts", "as in --on ssh --hosts a,b");
    fs::create_directories(plan.folder + "/parts");
    std::vector<NodePlace> places;
    for (const std::string& host : flags.hosts) places.push_back({"world", host, {}});
    word_ = std::to_string(getpid());
    staging_ = std::make_unique<Staging>(flags_.launch, scenario, places, word_);
    for (const std::string& host : flags.hosts) {
      if (!staging_->scenario_on(host).empty()) free_.push_back(host);
    }
    if (free_.empty()) throw InputError({"--on ssh", 0, 0}, "no host can be used", "see the messages above");
  }
  ~SshEngine() override {
    parts_.clear();
    staging_->clear();
  }
  [[nodiscard]] std::size_t lanes() const override { return std::max<std::size_t>(free_.size() + parts_.size(), 1); }
  [[nodiscard]] std::size_t part_size(std::size_t points) const override {
    return std::clamp<std::size_t>(points / (flags_.hosts.size() * 4), 1, 50);
  }
  bool begin(std::size_t part, const std::vector<SweepPoint>& points) override {
    if (free_.empty()) {
      if (parts_.empty()) throw std::runtime_error("no host is left; the same command continues later");
      return false;
    }
    const std::string host = free_.back();
    free_.pop_back();
    SweepPlan there = plan_;
    there.file = staging_->scenario_on(host);
    there.where = host + ":";  // journals stay where they were made
    there.folder = flags_.launch.remote_folder + "/isochron-" + word_ + ".runs/" + std::to_string(part);
    const std::string file = plan_.folder + "/parts/" + std::to_string(part) + ".jsonl";
    const std::string place = there.folder + "/part.json";
    const std::string script = "umask 077\nmkdir -p " + app::quoted(there.folder) + " || exit 1\ncat > " +
                               app::quoted(place) + " <<'END_OF_PART'\n" + part_json(there, points).dump() +
                               "\nEND_OF_PART\nexec " + flags_.launch.remote + " sweep-part " + app::quoted(place) +
                               " --results - --trust --until-stdin-ends\n";
    parts_.push_back({part, host, file, Lines(file),
                      std::make_unique<ChildProcess>(remote_words(flags_.launch, host), file, file + ".log", script)});
    return true;
  }
  std::vector<std::string> take_lines() override {
    std::vector<std::string> lines = std::move(last_);
    last_.clear();
    for (Part& part : parts_) part.lines.read(lines);
    return lines;
  }
  std::vector<std::size_t> take_ended() override {
    std::vector<std::size_t> ended;
    std::erase_if(parts_, [&](Part& part) {
      if (!part.process->ended()) return false;
      part.lines.read(last_);
      ended.push_back(part.number);
      if (part.process->well()) {
        free_.push_back(part.host);
      } else {
        say(part.host + " is not used any more: " + foreign_tail(content_of(part.file + ".log"), 300) + " (" +
            part.process->how_it_ended() + ")\n");
      }
      fs::remove(part.file);
      fs::remove(part.file + ".log");
      return true;
    });
    return ended;
  }
  void stop(bool at_once) override {
    for (Part& part : parts_) at_once ? part.process->signal(SIGKILL) : part.process->end_input();
  }

 private:
  struct Part {
    std::size_t number;
    std::string host, file;
    Lines lines;
    std::unique_ptr<ChildProcess> process;
  };
  ClusterFlags flags_;
  const SweepPlan& plan_;
  std::string word_;
  std::unique_ptr<Staging> staging_;
  std::vector<std::string> free_;
  std::vector<Part> parts_;
  std::vector<std::string> last_;
};

}  // namespace

std::unique_ptr<SweepEngine> cluster_engine(const ClusterFlags& flags, SweepPlan& plan, const Scenario& scenario) {
  if (flags.on == "local") return local_engine(plan);
  if (flags.on == "slurm") return std::make_unique<SlurmEngine>(flags, plan, scenario);
  if (flags.on == "ssh") return std::make_unique<SshEngine>(flags, plan, scenario);
  throw InputError({"--on " + flags.on, 0, 0}, "is no engine", "write local, slurm or ssh");
}

}  // namespace isochron::app
