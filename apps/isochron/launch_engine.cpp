#include "apps/isochron/launch_engine.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "core/input_error.hpp"
#include "link/auth.hpp"

namespace isochron::app {
namespace {

/// What a command prints; "" if it fails.
std::string printed_by(const std::string& command) {
  std::string text;
  FILE* const pipe = popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return "";
  char piece[4096];
  for (std::size_t n = fread(piece, 1, sizeof piece, pipe); n > 0; n = fread(piece, 1, sizeof piece, pipe)) {
    text.append(piece, n);
  }
  return pclose(pipe) == 0 ? text : "";
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, at);) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

struct Engine {
  std::string shell;
  std::vector<Host> hosts;
};

/// NodeAddr of a Slurm node: it need not be a name that resolves.
std::string slurm_address(const std::string& node) {
  const std::string text = printed_by("scontrol show node " + node);
  const auto at = text.find("NodeAddr=");
  if (at == std::string::npos) return node;
  return text.substr(at + 9, text.find_first_of(" \n", at + 9) - at - 9);
}

Engine slurm() {
  const char* list = std::getenv("SLURM_JOB_NODELIST");
  if (list == nullptr) {
    throw InputError(
        {"--on slurm", 0, 0}, "there is no allocation here",
        "start it inside one, as in `salloc -N 3 isochron launch FILE --on slurm`, or from an sbatch script");
  }
  Engine engine{"srun --overlap --quiet -N1 -n1 -w", {}};
  for (const std::string& node : split(printed_by(std::string("scontrol show hostnames '") + list + "'"), '\n')) {
    engine.hosts.push_back({node, slurm_address(node)});
  }
  if (engine.hosts.empty())
    throw InputError({"--on slurm", 0, 0}, "scontrol does not say which hosts the allocation has");
  return engine;
}

/// "a,b=10.0.0.2": names, and addresses where those are not the names.
std::vector<Host> hosts_of(const std::string& list) {
  std::vector<Host> hosts;
  for (const std::string& one : split(list, ',')) {
    const auto equals = one.find('=');
    const std::string name = one.substr(0, equals);
    hosts.push_back({name, equals == std::string::npos ? name.substr(name.find('@') + 1) : one.substr(equals + 1)});
  }
  return hosts;
}

Engine mpirun(const LaunchFlags& flags) {
  if (printed_by("command -v mpirun").empty())
    throw InputError({"--on mpirun", 0, 0}, "there is no mpirun on the PATH");
  const std::string as_root = geteuid() == 0 ? "--allow-run-as-root " : "";
  Engine engine{"mpirun " + as_root + "--quiet --oversubscribe -np 1 --host", {}};
  engine.hosts = hosts_of(flags.hosts);
  if (engine.hosts.empty()) engine.hosts.push_back({"localhost", "127.0.0.1"});
  return engine;
}

bool is_this_machine(const std::string& address) { return address.starts_with("127.") || address == "localhost"; }

}  // namespace

std::string Addresses::on(const Host& host) {
  // Below the ports that systems hand out by themselves; another launch has another word.
  constexpr std::size_t first_port = 10'000, ports = 20'000;
  return host.address + ":" + std::to_string(first_port + next_++ % ports);
}

void use_engine(LaunchFlags& flags, std::vector<NodePlace>& places, LaunchedRun& run, Addresses& addresses) {
  if (flags.on == "ssh") {
    run.hosts = hosts_of(flags.hosts);
    return;
  }
  if (flags.on != "slurm" && flags.on != "mpirun") {
    throw InputError({"--on " + flags.on, 0, 0}, "is no engine", "write ssh, slurm or mpirun");
  }
  const Engine engine = flags.on == "slurm" ? slurm() : mpirun(flags);
  flags.shell = engine.shell;
  run.hosts = engine.hosts;
  bool reachable = false;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!places[i].host.empty()) continue;
    const Host& host = engine.hosts[i % engine.hosts.size()];
    places[i].host = host.name;
    run.places[places[i].name] = addresses.on(host);
    reachable = reachable || !is_this_machine(host.address);
  }
  if (reachable && std::getenv("ISOCHRON_KEY") == nullptr && run.scenario.network.key.empty()) {
    setenv("ISOCHRON_KEY", link::Key::generate().text().c_str(), 1);
  }
}

std::string places_text(const std::map<std::string, std::string>& places) {
  std::string text;
  for (const auto& [name, address] : places) text += (text.empty() ? "" : ";") + name + "=" + address;
  return text;
}

std::map<std::string, std::string> read_places(const std::string& text) {
  std::map<std::string, std::string> places;
  for (const std::string& one : split(text, ';')) {
    const auto equals = one.find('=');
    if (equals != std::string::npos) places.emplace(one.substr(0, equals), one.substr(equals + 1));
  }
  return places;
}

}  // namespace isochron::app
