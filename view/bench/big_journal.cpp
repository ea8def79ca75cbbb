#include "view/bench/big_journal.hpp"

#include <cmath>

#include "core/random.hpp"
#include "journal/disk.hpp"
#include "journal/journal.hpp"
#include "msg/ros_messages.hpp"
#include "run/program_record.hpp"
#include "run/run_record.hpp"
#include "run/scene_messages.hpp"
#include "run/wall_clock.hpp"

namespace isochron::bench {
namespace {

constexpr int bodies = 30, ticks = 10'000;  // 10 ms each

std::string name_of(int body) { return "car" + std::to_string(body + 1); }

tf2_msgs::TFMessage transforms_at(double t) {
  tf2_msgs::TFMessage message;
  for (int i = 0; i < bodies; ++i) {
    const double angle = 0.2 * t + 0.2 * i, radius = 10.0 + i;
    geometry_msgs::TransformStamped frame;
    frame.header.frame_id = "world";
    frame.child_frame_id = name_of(i);
    frame.transform.translation = {radius * std::cos(angle), radius * std::sin(angle), 0.5};
    frame.transform.rotation = {0, 0, std::sin(angle / 2), std::cos(angle / 2)};
    message.transforms.push_back(std::move(frame));
  }
  return message;
}

scene::SceneUpdate scene_of_boxes() {
  scene::SceneUpdate update;
  for (int i = 0; i < bodies; ++i) {
    scene::SceneEntity entity;
    entity.frame_id = entity.id = name_of(i);
    entity.cubes.push_back({{}, {4, 1.8, 1.4}, {0.2, 0.5, 0.03 * i, 1}});
    update.entities.push_back(std::move(entity));
  }
  return update;
}

}  // namespace

void make_big_journal(const std::string& path, std::uint64_t bytes) {
  PosixDisk disk;
  WallClock clock;
  JournalOptions options;
  options.when_full = WhenFull::block;
  options.about_the_run = {{"scenario", "big"}, {"mode", "callback"}, {"seed", "1"}};
  auto journal = std::move(*Journal::create(disk, clock, path, options));
  Producer& producer = journal->producer("run", 64U << 20U);
  const ChannelId frames = journal->channel<tf2_msgs::TFMessage>("/tf", {.in_digest = false});
  const ChannelId scene = journal->channel<scene::SceneUpdate>("/scene", {.in_digest = false});
  const ChannelId drift = journal->channel<DriftRecord>("/isochron/drift", {.in_digest = false});
  const ChannelId events = journal->channel<ProgramEvent>("/programs/car1/driver");
  const ChannelId bulk = journal->channel("/bulk", {"isochron_msgs/msg/Bulk", "uint8[] data"});
  std::vector<std::byte> noise(bytes / ticks);
  RandomStream random(1, "bulk");
  producer.write(scene, SimTime::zero(), scene_of_boxes());
  for (int tick = 0; tick < ticks; ++tick) {
    const SimTime now = SimTime::from_ns(tick * 10'000'000LL);
    producer.write(frames, now, transforms_at(now.seconds()));
    producer.write(drift, now, DriftRecord{now, 0.001 * std::abs(std::sin(now.seconds()))});
    producer.write(events, now, ProgramEvent{now, "release", "", now, {}});
    for (std::size_t i = 0; i + 8 <= noise.size(); i += 8) {
      const std::uint64_t word = random.bits();
      std::memcpy(&noise[i], &word, sizeof word);
    }
    producer.write_bytes(bulk, now, noise);
  }
  journal->close();
}

}  // namespace isochron::bench
