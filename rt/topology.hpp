#pragma once
// Which of the processors that the kernel numbers are really one core: two loops pinned to hyper-thread siblings slow
// each other down as if they shared a processor, because they do. Read from /sys, so that a loop can ask for "the
// second core".
//
//     settings.cpus = {Topology::read().physical_cores().at(1)};
//
// Threads: any. Cost: reads files, allocates: at set-up.
// Fails:   where /sys says nothing, every processor of this process counts as a core of its own.

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace isochron::rt {

/// The kernel's way to write sets: "0-3,8" is 0, 1, 2, 3, 8. Stops at what it cannot read.
inline std::vector<int> parse_cpu_list(const std::string& text) {
  constexpr long most = 1 << 16;
  std::vector<int> cpus;
  const char* at = text.c_str();
  while (*at >= '0' && *at <= '9') {
    char* end = nullptr;
    const long first = std::strtol(at, &end, 10);
    long last = first;
    if (*end == '-') last = std::strtol(end + 1, &end, 10);
    if (first > most || last > most) break;
    for (long cpu = first; cpu <= last; ++cpu) cpus.push_back(static_cast<int>(cpu));
    at = *end == ',' ? end + 1 : end;
  }
  return cpus;
}

struct Cpu {
  int id = 0;
  int package = 0;
  std::vector<int> siblings;  // all processors of the same core, this one too, ascending
  bool isolated = false;      // kept free of ordinary threads by the kernel's command line
};

class Topology {
 public:
  static Topology read(const std::string& root = "/sys/devices/system/cpu") {
    const std::vector<int> isolated = parse_cpu_list(line(root + "/isolated"));
    Topology topology;
    for (const int id : online(root)) {
      const std::string folder = root + "/cpu" + std::to_string(id) + "/topology/";
      Cpu cpu{id, std::atoi(line(folder + "physical_package_id").c_str()), core_of(folder), false};
      if (cpu.siblings.empty()) cpu.siblings = {id};
      cpu.isolated = std::find(isolated.begin(), isolated.end(), id) != isolated.end();
      topology.cpus_.push_back(std::move(cpu));
    }
    return topology;
  }

  /// Every processor that is online, ascending.
  [[nodiscard]] const std::vector<Cpu>& cpus() const { return cpus_; }

  /// One processor of each core, the lowest.
  [[nodiscard]] std::vector<int> physical_cores() const {
    std::vector<int> cores;
    for (const Cpu& cpu : cpus_) {
      if (first_of(cpu) == cpu.id) cores.push_back(cpu.id);
    }
    return cores;
  }

  /// All processors of the core that this one belongs to, itself too; only itself when it is not known.
  [[nodiscard]] std::vector<int> siblings_of(int id) const {
    for (const Cpu& cpu : cpus_) {
      if (cpu.id == id) return cpu.siblings;
    }
    return {id};
  }

  [[nodiscard]] std::vector<int> isolated() const {
    std::vector<int> ids;
    for (const Cpu& cpu : cpus_) {
      if (cpu.isolated) ids.push_back(cpu.id);
    }
    return ids;
  }

 private:
  static std::string line(const std::string& path) {
    std::string text;
    std::ifstream file(path);
    std::getline(file, text);
    return text;
  }
  static std::vector<int> core_of(const std::string& folder) {
    const std::string now = line(folder + "core_cpus_list");
    return parse_cpu_list(now.empty() ? line(folder + "thread_siblings_list") : now);  // its name before Linux 5.4
  }
  static std::vector<int> online(const std::string& root) {
    std::vector<int> ids = parse_cpu_list(line(root + "/online"));
    if (!ids.empty()) return ids;
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    for (int id = 0; id < CPU_SETSIZE; ++id) {
      if (CPU_ISSET(id, &set)) ids.push_back(id);
    }
    return ids;
  }
  // A sibling may be offline: the lowest that is not.
  [[nodiscard]] int first_of(const Cpu& cpu) const {
    for (const Cpu& other : cpus_) {
      if (std::find(cpu.siblings.begin(), cpu.siblings.end(), other.id) != cpu.siblings.end()) return other.id;
    }
    return cpu.id;
  }

  std::vector<Cpu> cpus_;
};

}  // namespace isochron::rt
