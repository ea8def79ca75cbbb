#include "view/bench/view_bench.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "journal/disk.hpp"
#include "run/run.hpp"
#include "run/wall_clock.hpp"
#include "view/bench/big_journal.hpp"
#include "view/bench/browser.hpp"
#include "view/bench/stuck_page.hpp"
#include "view/live_source.hpp"
#include "view/recorded_source.hpp"
#include "view/view_server.hpp"

namespace isochron::bench {
namespace {

using namespace std::chrono_literals;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct TemporaryFile {
  std::string path;
  explicit TemporaryFile(const char* name)
      : path(
            (std::filesystem::temp_directory_path() / ("isochron_bench_" + std::to_string(getpid()) + name)).string()) {
  }
  ~TemporaryFile() { std::filesystem::remove(path); }
};

/// As `isochron run --view`: the thirty cars of examples/cars as fast as they go, with a page server. Where that is
/// allowed the run comes before everything else: the browser's own work is not what is measured.
class WatchedRun {
 public:
  explicit WatchedRun(const std::string& file)
      : journal_("_cars.mcap"),
        scenario_(load_scenario(file, {{"duration", "36000s"}})),
        live_(scenario_, watch_),
        handler_(live_),
        server_(std::move(*view::WebServer::start(handler_, 0))),
        thread_([this] { run(); }) {}
  ~WatchedRun() {
    watch_.stop();
    thread_.join();
  }
  [[nodiscard]] std::string address() const { return server_->address(); }
  /// Simulated seconds for each wall second; 0 = as fast as it goes.
  void pace(double factor) { watch_.control().set_speed(factor); }
  /// Simulated seconds for each wall second, from now on for `seconds`.
  [[nodiscard]] double speed(double seconds) const {
    const double wall = seconds_now();
    const SimTime sim = watch_.time();
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    return (watch_.time() - sim).seconds() / (seconds_now() - wall);
  }

 private:
  void run() {
    const sched_param above{.sched_priority = 2};
    pthread_setschedparam(pthread_self(), SCHED_RR, &above);
    WallClock clock;
    PosixDisk disk;
    run_scenario(scenario_, {.journal = journal_.path, .tap = &live_.tap()}, clock, disk, watch_);
  }

  TemporaryFile journal_;
  Scenario scenario_;
  RunWatch watch_;
  view::LiveSource live_;
  view::ViewServer handler_;
  std::unique_ptr<view::WebServer> server_;
  std::thread thread_;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// Speeds with and without, in turn, so that noise and the traffic of the moment meet both alike.
template <class Begin, class End>
std::pair<double, double> speeds(const WatchedRun& run, int rounds, Begin begin, End end) {
  std::vector<double> with, without;
  for (int i = 0; i < rounds; ++i) {
    without.push_back(run.speed(1.5));
    begin();
    with.push_back(run.speed(1.5));
    end();
  }
  return {median(with), median(without)};
}

void bench_stuck(Report& report, const WatchedRun& run) {
  std::vector<StuckPage> stuck;
  const auto [with, without] = speeds(
      run, 7,
      [&] {
        for (int i = 0; i < 8; ++i) stuck.emplace_back(run.address());
      },
      [&] { stuck.clear(); });
  report.ratio_at_least("cars_30_live_speed_with_8_stuck_pages", with, "x", "nobody looks", without, 0.97);
}

void bench_live(Report& report, Browser& browser) {
  const std::string cars = ISOCHRON_CARS;
  if (!std::filesystem::exists(cars)) return report.found("cars_30_live", 0, "x", "the example is not installed");
  WatchedRun run(cars);
  std::this_thread::sleep_for(1s);  // everything has started
  bench_stuck(report, run);
  if (!browser.there()) return report.found("cars_30_live_frames", 0, "1/s", "there is no browser");
  std::vector<double> frames;
  const auto [with, without] = speeds(
      run, report.long_run() ? 7 : 4,
      [&] {
        browser.ask("open " + run.address());
        frames.push_back(browser.ask("frames 2"));
      },
      [&] { browser.ask("away"); });
  report.ratio_at_least("cars_30_live_speed_with_a_page", with, "x", "nobody looks", without, 0.97);
  report.found("cars_30_live_frames_at_full_speed", median(frames), "1/s",
               "the run has one core, the browser the rest");
  run.pace(1);
  browser.ask("open " + run.address());
  browser.ask("frames 1");  // it has settled how sharp the picture may be
  report.at_least("cars_30_live_frames", browser.ask("frames 4"), "1/s", 30);
  browser.ask("away");
}

void bench_large(Report& report, Browser& browser) {
  const TemporaryFile journal("_big.mcap");
  make_big_journal(journal.path, 1'000'000'000);
  report.found("large_journal", static_cast<double>(std::filesystem::file_size(journal.path)) * 1e-6, "MB");
  PosixDisk disk;
  const double start = seconds_now();
  const auto source = std::move(*view::RecordedSource::open(disk, journal.path));
  (void)source->about();
  (void)source->latest("/scene", SimTime::zero());
  (void)source->frames({SimTime::zero(), SimTime::from_ns(50'000'000)}, SimSpan(16ms));
  report.at_most("large_journal_answers_for_the_first_picture", seconds_now() - start, "s", 2);
  if (!browser.there()) return;
  view::ViewServer handler(*source);
  const auto server = std::move(*view::WebServer::start(handler, 0));
  report.at_most("large_journal_first_picture", browser.ask("first " + server->address()) * 1e-3, "s", 2);
  browser.ask("away");
}

}  // namespace

void bench_view(Report& report) {
  Browser browser;
  bench_large(report, browser);
  bench_live(report, browser);
}

}  // namespace isochron::bench
