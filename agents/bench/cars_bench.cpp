// Thirty cars with full dynamics on two client processes: the example's scenario, run by this same program.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>

#include "agents/bench/parts.hpp"

namespace isochron::bench {
namespace {

const char* const program = "/proc/self/exe";

struct Child {
  pid_t id = 0;
  FILE* out = nullptr;
};

/// Starts this program with other words; what it prints can be read.
Child start(std::vector<std::string> words) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const std::string self = std::filesystem::read_symlink(program);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], 1);
    ::close(ends[0]);
    ::setenv("ISOCHRON_KEY", "00112233445566778899aabbccddeeff", 1);
    std::vector<char*> arguments{const_cast<char*>("isochron")};
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execv(self.c_str(), arguments.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  return {child, ::fdopen(ends[0], "r")};
}

std::string rest_of(FILE* file) {
  std::string text;
  char buffer[4096];
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, file)) text.append(buffer, n);
  std::fclose(file);
  return text;
}

double number_after(const std::string& text, const std::string& key) {
  const auto at = text.find("\"" + key + "\":");
  return at == std::string::npos ? 0 : std::strtod(text.c_str() + at + key.size() + 3, nullptr);
}

}  // namespace

void bench_cars(Report& report) {
  const std::string scenario = ISOCHRON_THIRTY_CARS;
  if (!std::filesystem::exists(scenario)) {
    return report.found("cars_30_full_dynamics_2_clients_real_time_factor", 0, "x", "the example is not installed");
  }
  const std::string duration = report.long_run() ? "20s" : "8s";
  const Child server = start({"serve", "agents", scenario, "--at", "127.0.0.1:0", "--wait-for", "2", "--quiet"});
  char line[256] = "";
  if (std::fgets(line, sizeof line, server.out) == nullptr) return;
  std::string address(line);
  address = address.substr(address.find(" at ") + 4);
  address = address.substr(0, address.find(','));
  std::vector<Child> clients;
  for (const std::string name : {"one", "two"}) {
    clients.push_back(
        start({"join", scenario, "--as", name, "--server", address, "--json", "--quiet", "--duration", duration,
               "--journal", "/tmp/isochron_bench_" + std::to_string(::getpid()) + name + ".mcap"}));
  }
  double factor = 1e9, drift = 0;
  for (const Child& client : clients) {
    const std::string said = rest_of(client.out);
    ::waitpid(client.id, nullptr, 0);
    factor = std::min(factor, number_after(said, "real_time_factor"));
    drift = std::max(drift, number_after(said, "drift_max_ns"));
  }
  ::kill(server.id, SIGTERM);
  ::waitpid(server.id, nullptr, 0);
  std::fclose(server.out);
  for (const std::string name : {"one", "two"}) {
    std::filesystem::remove("/tmp/isochron_bench_" + std::to_string(::getpid()) + name + ".mcap");
  }
  keep(drift);
  report.at_least("cars_30_full_dynamics_2_clients_real_time_factor", factor, "x", 10);
}

}  // namespace isochron::bench
