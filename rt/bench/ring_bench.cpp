// Rings between two pinned threads, 8-byte elements, every value checked.
//
//     single      producer ──▶ ring ──▶ consumer
//     round trip  one ──▶ ring ──▶ two ──▶ ring ──▶ one, one element under way

#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstdio>
#include <cstdlib>

#include "rt/bench/bare_ring.hpp"
#include "rt/bench/rt_bench.hpp"
#include "rt/bench/two_threads.hpp"
#include "rt/multi_producer_ring.hpp"
#include "rt/ring.hpp"

namespace isochron::bench {
namespace {

// With more slots the consumer of a fast producer tends to follow right behind it, both on one cache line, whatever the
// ring: that figure is reported too, without a target.
constexpr std::size_t capacity = 256;
constexpr std::size_t large = 4096;
constexpr std::uint64_t elements = 2'000'000;
constexpr std::uint64_t round_trips = 20'000;
constexpr int rounds = 15;

void expect(std::uint64_t got, std::uint64_t wanted) {
  if (got == wanted) return;
  std::fprintf(stderr, "a ring gave %llu instead of %llu\n", static_cast<unsigned long long>(got),
               static_cast<unsigned long long>(wanted));
  std::abort();
}

template <class Ring, std::size_t Capacity = capacity>
double millions_per_s() {
  Ring ring(Capacity);
  const double s = seconds_together(
      [&] {
        for (std::uint64_t i = 0; i < elements;) i += ring.push(i) ? 1 : 0;
      },
      [&] {
        std::uint64_t value = 0;
        for (std::uint64_t i = 0; i < elements;) {
          if (ring.pop(value)) expect(value, i++);
        }
      });
  return static_cast<double>(elements) / s * 1e-6;
}

double millions_per_s_in_batches_of_8() {
  rt::Ring<std::uint64_t> ring(capacity);
  const double s = seconds_together(
      [&] {
        for (std::uint64_t i = 0; i < elements;) {
          const auto slots = ring.next(std::min<std::uint64_t>(8, elements - i));
          for (auto& slot : slots) slot = i++;
          if (!slots.empty()) ring.commit();
        }
      },
      [&] {
        for (std::uint64_t i = 0; i < elements;) {
          const auto taken = ring.take(8);
          for (const auto value : taken) expect(value, i++);
          if (!taken.empty()) ring.flush();
        }
      });
  return static_cast<double>(elements) / s * 1e-6;
}

template <class Ring>
double round_trip_ns() {
  Ring there(64), back(64);
  const double s = seconds_together(
      [&] {
        std::uint64_t value = 0;
        for (std::uint64_t i = 0; i < round_trips; ++i) {
          (void)there.push(i);
          while (!back.pop(value)) {
          }
          expect(value, i);
        }
      },
      [&] {
        std::uint64_t value = 0;
        for (std::uint64_t i = 0; i < round_trips; ++i) {
          while (!there.pop(value)) {
          }
          (void)back.push(value);
        }
      });
  return s / static_cast<double>(round_trips) * 1e9;
}

// The other core's producer and the consumer's own thread both push.
template <class Ring>
double two_producers_millions_per_s() {
  constexpr std::uint64_t each = 200'000;
  Ring ring(capacity);
  const double s = seconds_together(
      [&] {
        for (std::uint64_t i = 0; i < each;) i += ring.push(i) ? 1 : 0;
      },
      [&] {
        constexpr std::uint64_t own_bit = std::uint64_t{1} << 63;
        std::uint64_t value = 0, own = 0, own_seen = 0, other_seen = 0;
        while (own_seen < each || other_seen < each) {
          if (own < each && ring.push(own | own_bit)) ++own;
          for (int i = 0; i < 2 && ring.pop(value); ++i) {
            (value & own_bit) != 0 ? expect(value & ~own_bit, own_seen++) : expect(value, other_seen++);
          }
        }
      });
  return 2 * static_cast<double>(each) / s * 1e-6;
}

}  // namespace

void bench_rings(Report& report) {
  using Ours = rt::Ring<std::uint64_t>;
  using Bare = BareRing<std::uint64_t>;
  using Boost = boost::lockfree::spsc_queue<std::uint64_t>;
  const double none = __builtin_nan("");
  const auto rate = medians_in_turn(
      rounds, {millions_per_s<Ours>, millions_per_s<Boost>, millions_per_s<Bare>, millions_per_s_in_batches_of_8,
               millions_per_s<Ours, large>, millions_per_s<Boost, large>, millions_per_s<Bare, large>});
  report.ratio_at_least("ring_8_byte_M_per_s", rate[0], "M/s", "boost::lockfree::spsc_queue", rate[1], 1.5);
  report.ratio_at_least("ring_8_byte_M_per_s", rate[0], "M/s", "bare ring, cached indices", rate[2], 0.95);
  report.ratio_at_least("ring_8_byte_batch_8_M_per_s", rate[3], "M/s", "ours, single", rate[0], 1.3);
  report.ratio_at_least("ring_8_byte_4096_slots_M_per_s", rate[4], "M/s", "boost::lockfree::spsc_queue", rate[5], none);
  report.ratio_at_least("ring_8_byte_4096_slots_M_per_s", rate[4], "M/s", "bare ring, cached indices", rate[6], none);

  const auto trip = medians_in_turn(2 * rounds, {round_trip_ns<Ours>, round_trip_ns<Bare>});
  report.ratio_at_most("ring_round_trip_ns", trip[0], "ns", "bare ring, cached indices", trip[1], 1.1);

  using Many = rt::MultiProducerRing<std::uint64_t>;
  using BoostMany = boost::lockfree::queue<std::uint64_t>;
  const auto many =
      medians_in_turn(rounds, {two_producers_millions_per_s<Many>, two_producers_millions_per_s<BoostMany>});
  report.ratio_at_least("multi_producer_ring_2_producers_M_per_s", many[0], "M/s", "boost::lockfree::queue", many[1],
                        none);
}

}  // namespace isochron::bench
