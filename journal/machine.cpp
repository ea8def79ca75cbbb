#include "journal/machine.hpp"

#include <sys/utsname.h>
#include <xxhash.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <vector>

#include "journal/journal_metadata.hpp"

namespace isochron {
namespace {

std::string cpu_offers() {
#if defined(__x86_64__)
  std::string text = __builtin_cpu_supports("avx2") != 0 ? "avx2" : "sse2";
  if (__builtin_cpu_supports("fma") != 0) text += "+fma";
  return text;
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "other";
#endif
}

/// Enough arguments that two variants of a function return different bits for some of them.
std::vector<double> sampled_results() {
  std::vector<double> results;
  for (int i = 1; i <= 500; ++i) {
    const double x = 0.0137 * i + 1.0 / (i + 3);
    for (const double y : {std::sin(x), std::cos(x), std::tan(x), std::exp(x), std::log(x), std::pow(x, 1.37),
                           std::atan2(x, 2.1), std::sin(40 * x)}) {
      results.push_back(y);
    }
  }
  return results;
}

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  std::string line;
  while (std::getline(info, line)) {
    if (line.starts_with("model name")) return line.substr(std::min(line.find(": ") + 2, line.size()));
  }
  return "unknown";
}

}  // namespace

std::string cpu_math_variant() {
  const std::vector<double> results = sampled_results();
  const std::uint64_t hash = XXH3_64bits(results.data(), results.size() * sizeof(double));
  char text[16];
  std::snprintf(text, sizeof text, " %08x", static_cast<unsigned>(hash >> 32U));
  return cpu_offers() + text;
}

mcap::TextMap machine_facts() {
  utsname system{};
  uname(&system);
  return {{journal_metadata::cpu_math, cpu_math_variant()},
          {"cpu", cpu_name()},
          {"kernel", system.release},
          {"host", system.nodename}};
}

}  // namespace isochron
