#pragma once
// What the measurements of this group share. Each returns a rate per second, so that more is better.

#include <chrono>
#include <functional>
#include <utility>

#include "bench/bench.hpp"

namespace isochron::bench {

inline constexpr int ping_bytes = 64;

void bench_tcp(Report& report);
void bench_udp(Report& report);
void bench_shm(Report& report);

/// Binds the calling thread to one core of those it may use: the n-th, counted round.
void pin_to_core(int n);

/// Runs `partner` in a forked process while `measure` runs here; then ends the partner and gives what was measured.
double with_partner(const std::function<void()>& partner, const std::function<double()>& measure);

/// How long one measurement takes. Many short ones find a quiet moment on a shared machine more surely than a long one.
inline constexpr std::chrono::milliseconds one_measurement{100};

/// How often `once` runs in a second.
double rate(const std::function<void()>& once);

/// The best of n measurements of each, taken in turn: neighbours on the machine only ever make them worse.
std::pair<double, double> best_of_both(int n, const std::function<double()>& a, const std::function<double()>& b);
inline int rounds(const Report& report) { return report.long_run() ? 31 : 9; }

}  // namespace isochron::bench
