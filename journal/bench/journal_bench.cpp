#include "journal/bench/journal_bench.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/random.hpp"
#include "journal/compression.hpp"
#include "journal/digest.hpp"
#include "journal/disk.hpp"
#include "journal/test/helpers.hpp"
#include "journal/variables.hpp"

namespace isochron::bench {
namespace {

using test::SteadyClock;

constexpr std::size_t variables = 8000;
constexpr std::size_t tick_bytes = variables * sizeof(double);
constexpr std::size_t ring_bytes = 128U << 20U;  // two seconds at 64 MB/s: half a second was not enough under load

struct TemporaryFile {
  std::string path =
      (std::filesystem::temp_directory_path() / ("isochron_bench_" + std::to_string(getpid()) + ".mcap")).string();
  ~TemporaryFile() { std::filesystem::remove(path); }
};

std::vector<std::string> variable_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < variables; ++i) names.push_back("joint_" + std::to_string(i));
  return names;
}

/// What a robot's variables are like: some stand still, some move smoothly, some are noise.
class Values {
 public:
  std::span<const double> at(std::int64_t tick) {
    const double t = 0.001 * static_cast<double>(tick);
    for (std::size_t i = 0; i < variables; i += 4) {
      values_[i] = 1.0 + static_cast<double>(i);
      values_[i + 1] = t * (1.0 + 0.001 * static_cast<double>(i));
      values_[i + 2] = values_[i + 1] * (1 - values_[i + 1] * 1e-4);
      values_[i + 3] = noise_.uniform();
    }
    return values_;
  }

 private:
  std::vector<double> values_ = std::vector<double>(variables);
  RandomStream noise_{1, "bench"};
};

struct TickCosts {
  std::vector<double> us;  // sorted
  JournalSummary summary;
  [[nodiscard]] double quantile(double q) const {
    return us[static_cast<std::size_t>(q * static_cast<double>(us.size() - 1))];
  }
};

/// Runs this thread as a controller's would be, where that is allowed: others then do not take its core away.
class RealTimeScope {
 public:
  RealTimeScope() {
    const sched_param above{.sched_priority = 10};
    pthread_setschedparam(pthread_self(), SCHED_FIFO, &above);
  }
  ~RealTimeScope() {
    const sched_param ordinary{};
    pthread_setschedparam(pthread_self(), SCHED_OTHER, &ordinary);
  }
};

/// 1 kHz on the wall clock, as a controller would.
TickCosts record_at_real_rate(std::int64_t ticks, const std::string& path) {
  PosixDisk disk;
  SteadyClock clock;
  auto journal = std::move(*Journal::create(disk, clock, path));
  Producer& producer = journal->producer("controller", ring_bytes);
  VariableLog log(*journal, producer, "/robot/variables", variable_names());
  Values values;
  TickCosts costs;
  costs.us.reserve(static_cast<std::size_t>(ticks));
  const RealTimeScope real_time;
  const WallTime start = clock.now();
  for (std::int64_t tick = 0; tick < ticks; ++tick) {
    clock.sleep_until(start + WallSpan(std::chrono::milliseconds(tick)));
    const auto now = values.at(tick);
    const WallTime before = clock.now();
    log.tick(SimTime::from_ns(tick * 1'000'000), now);
    costs.us.push_back(static_cast<double>((clock.now() - before).ns()) * 1e-3);
  }
  std::sort(costs.us.begin(), costs.us.end());
  costs.summary = journal->close();
  return costs;
}

void bench_real_rate(Report& report) {
  const TemporaryFile file;
  const TickCosts costs = record_at_real_rate(report.long_run() ? 60'000 : 5'000, file.path);
  report.at_most("variables_8000_1khz_tick_p99", costs.quantile(0.99), "us", 10);
  report.found("variables_8000_1khz_tick_p50", costs.quantile(0.5), "us");
  report.found("variables_8000_1khz_tick_max", costs.us.back(), "us");
  report.at_most("variables_8000_1khz_dropped", static_cast<double>(costs.summary.dropped), "records", 0);
  const double recorded = static_cast<double>(costs.summary.messages) * static_cast<double>(tick_bytes);
  report.found("variables_8000_1khz_packed", static_cast<double>(costs.summary.bytes) / recorded, "x", "its bytes");
}

constexpr std::int64_t bulk_ticks = 2000;  // 128 MB
double megabytes_per_s(WallSpan span) {
  return static_cast<double>(bulk_ticks) * static_cast<double>(tick_bytes) * 1e-6 / span.seconds();
}

/// All of the journal, as fast as it goes: ring, digest, chunks, checksums, compression, writing.
double journal_throughput(const std::vector<double>& records) {
  const TemporaryFile file;
  PosixDisk disk;
  SteadyClock clock;
  JournalOptions options;
  options.when_full = WhenFull::block;
  auto journal = std::move(*Journal::create(disk, clock, file.path, options));
  VariableLog log(*journal, journal->producer("p", ring_bytes), "/robot/variables", variable_names());
  const WallTime start = clock.now();
  for (std::int64_t tick = 0; tick < bulk_ticks; ++tick) {
    const std::span all(records);
    log.tick(SimTime::from_ns(tick), all.subspan(static_cast<std::size_t>(tick) % 64 * variables, variables));
  }
  journal->close();
  return megabytes_per_s(clock.now() - start);
}

/// The same bytes, packed by zstd in pieces of a chunk's size and written, and nothing else.
double bare_throughput(const std::vector<double>& records) {
  const TemporaryFile file;
  PosixDisk disk;
  SteadyClock clock;
  auto out = std::move(*disk.create(file.path));
  Compressor compressor(1);
  const auto bytes = std::as_bytes(std::span(records));
  const WallTime start = clock.now();
  for (std::size_t done_bytes = 0; done_bytes < bulk_ticks * tick_bytes; done_bytes += bytes.size()) {
    const std::size_t size = std::min(bytes.size(), bulk_ticks * tick_bytes - done_bytes);
    if (!append_all(*out, compressor.compress(bytes.first(size)))) return 0;
  }
  return megabytes_per_s(clock.now() - start);
}

void bench_throughput(Report& report) {
  std::vector<double> records;  // 64 ticks, 4 MB: as much as a chunk
  Values values;
  for (std::int64_t tick = 0; tick < 64; ++tick) {
    const auto now = values.at(tick);
    records.insert(records.end(), now.begin(), now.end());
  }
  const auto [journal, bare] = side_by_side(
      3, [&] { return journal_throughput(records); }, [&] { return bare_throughput(records); });
  report.ratio_at_least("journal_write", journal, "MB/s", "zstd and write alone, same bytes", bare, 0.5);
}

void bench_ring(Report& report) {
  constexpr std::uint64_t pushes = 16'384;
  RecordRing ring(4U << 20U);
  std::array<std::byte, 64> payload{};
  RecordRing::Record record;
  const double ns = ns_per_call(pushes, [&] {
    for (std::uint64_t i = 0; i < pushes; ++i) {
      const auto room = ring.reserve(1, SimTime::from_ns(static_cast<std::int64_t>(i)), payload.size());
      std::memcpy(room.data(), payload.data(), payload.size());
      ring.commit();
    }
    while (ring.peek(record)) ring.pop(record);
    ring.release();
  });
  report.found("ring_64B_push_and_pop", ns, "ns");
}

void bench_digest(Report& report) {
  const std::vector<std::byte> record(tick_bytes + 4, std::byte{7});
  DigestBuilder digest;
  const std::size_t channel = digest.channel("/a", "b");
  constexpr std::uint64_t adds = 500;
  const double ns = ns_per_call(adds, [&] {
    for (std::uint64_t i = 0; i < adds; ++i) digest.add(channel, SimTime::from_ns(1), record);
  });
  report.found("digest", static_cast<double>(record.size()) / ns, "GB/s");
}

}  // namespace

void bench_journal(Report& report) {
  bench_ring(report);
  bench_digest(report);
  bench_throughput(report);
  bench_real_rate(report);
}

}  // namespace isochron::bench
