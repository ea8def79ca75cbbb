// The example of docs/journal.md, whole: records two runs, reads one back, and names where they part.
//
//     build/release/test/journal_example FOLDER
#include <cstdio>

#include "journal/diff.hpp"
#include "journal/disk.hpp"
#include "journal/journal.hpp"
#include "journal/machine.hpp"
#include "journal/recover.hpp"
#include "journal/test/helpers.hpp"
#include "journal/variables.hpp"

namespace {

using namespace isochron;

struct Pose {
  double x = 0, y = 0;
};
ISOCHRON_MESSAGE(Pose, "my_msgs/msg/Pose", x, y)

bool record_run(Disk& disk, Clock& clock, const std::string& path, double wind) {
  JournalOptions options;
  options.when_full = WhenFull::block;
  options.about_the_run = machine_facts();
  auto created = Journal::create(disk, clock, path, options);
  if (!created) {
    std::puts(created.error().what.c_str());
    return false;
  }
  Journal& journal = **created;
  const ChannelId pose = journal.channel<Pose>("/ship/pose");
  Producer& record = journal.producer("ship");
  VariableLog log(journal, record, "/ship/variables", {"arm.q[0]", "battery"});
  for (int i = 0; i < 1000; ++i) {
    const SimTime now = SimTime::from_ns(i * 1'000'000LL);
    record.write(pose, now, Pose{0.001 * i, i < 500 ? 0 : wind});
    log.tick(now, std::array{0.5 * i, 12.0});
  }
  const JournalSummary summary = journal.close();
  std::printf("%s: %llu messages, %llu dropped, digest %s\n", path.c_str(),
              static_cast<unsigned long long>(summary.messages), static_cast<unsigned long long>(summary.dropped),
              summary.digest.hex.c_str());
  return !summary.error;
}

bool print_end(McapReader& reader) {
  const auto series = read_series(reader, "/ship/pose", "x");
  if (!series) return false;
  std::printf("x ends at %g\n", series->values.back());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  PosixDisk disk;
  test::SteadyClock clock;
  const std::string calm = folder + "/calm.mcap";
  const std::string windy = folder + "/windy.mcap";
  if (!record_run(disk, clock, calm, 0) || !record_run(disk, clock, windy, 0.25)) return 1;
  if (!recover(disk, calm, calm)) return 1;  // whole already: left alone
  auto a = McapReader::open(disk, calm);
  auto b = McapReader::open(disk, windy);
  if (!a || !b || !print_end(*a)) return 1;
  const Comparison comparison = compare(*a, *b);
  if (!comparison.first) return 1;
  std::puts(to_string(*comparison.first).c_str());
  return 0;
}
