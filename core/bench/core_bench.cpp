#include "core/bench/core_bench.hpp"

#include <chrono>
#include <cstring>

#include "core/cdr.hpp"
#include "core/drift.hpp"
#include "core/random.hpp"

namespace isochron::bench {
namespace {

struct State {
  std::array<double, 3> position{};
  std::array<double, 4> orientation{};
  std::array<double, 6> velocity{};
  std::array<double, 12> rest{};
};
ISOCHRON_MESSAGE(State, "bench_msgs/msg/State", position, orientation, velocity, rest)

WallTime wall_now() { return WallTime::from_ns(std::chrono::steady_clock::now().time_since_epoch().count()); }

void drift(Report& report) {
  constexpr std::uint32_t participants = 8;
  constexpr std::uint64_t records = 8 * 4096;
  DriftLedger ledger(participants, records / participants);
  std::int64_t t = 0;
  const auto push = [&] {
    for (std::uint64_t i = 0; i < records; ++i, ++t) {
      ledger.record(ParticipantId(static_cast<std::uint32_t>(i % participants)), wall_now(), SimTime::from_ns(t));
    }
  };
  double push_ns = 1e9, clock_ns = 1e9, fold_ns = 1e9;
  for (int round = 0; round < 9; ++round) {
    push_ns = std::min(push_ns, ns_per_call(records, push, 1));
    clock_ns = std::min(clock_ns, ns_per_call(
                                      records,
                                      [] {
                                        for (std::uint64_t i = 0; i < records; ++i) keep(wall_now());
                                      },
                                      1));
    fold_ns = std::min(fold_ns, ns_per_call(
                                    records, [&] { ledger.settle(); }, 1));
  }
  report.at_most("drift_record_ns", push_ns, "ns", 50);
  report.found("drift_record_of_which_clock_ns", clock_ns, "ns");
  report.found("drift_fold_8_participants_ns_per_record", fold_ns, "ns");
}

void messages(Report& report) {
  constexpr std::uint64_t n = 200'000;
  State state;
  std::array<std::byte, 256> buffer{};
  std::array<std::byte, 256> copy{};
  const double write = ns_per_call(n, [&] {
    for (std::uint64_t i = 0; i < n; ++i) {
      state.position[0] = static_cast<double>(i);
      keep(cdr_write(state, buffer));
    }
  });
  const double read = ns_per_call(n, [&] {
    for (std::uint64_t i = 0; i < n; ++i) keep(cdr_read<State>(std::span(buffer).first(204)).ok());
  });
  const double bare = ns_per_call(n, [&] {
    for (std::uint64_t i = 0; i < n; ++i) {
      state.position[0] = static_cast<double>(i);
      std::memcpy(copy.data(), &state, sizeof state);
      keep(copy);
    }
  });
  report.ratio_at_most("cdr_write_200_bytes_ns", write, "ns", "memcpy of the struct", bare, __builtin_nan(""));
  report.ratio_at_most("cdr_read_200_bytes_ns", read, "ns", "memcpy of the struct", bare, __builtin_nan(""));
}

void randomness(Report& report) {
  constexpr std::uint64_t n = 200'000;
  RandomStream stream(1, "bench");
  report.found("random_uniform_ns",
               ns_per_call(n,
                           [&] {
                             for (std::uint64_t i = 0; i < n; ++i) keep(stream.uniform());
                           }),
               "ns");
  report.found("random_normal_ns",
               ns_per_call(n,
                           [&] {
                             for (std::uint64_t i = 0; i < n; ++i) keep(stream.normal());
                           }),
               "ns");
}

}  // namespace

void bench_core(Report& report) {
  drift(report);
  messages(report);
  randomness(report);
}

}  // namespace isochron::bench
