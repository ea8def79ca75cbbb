// What programs read and write uses no heap of the coordinator's thread, from the desk to the world and the journal.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "journal/disk.hpp"
#include "programs/desk.hpp"
#include "programs/happening_queue.hpp"
#include "rt/allocation_guard.hpp"
#include "run/program_record.hpp"
#include "run/stage.hpp"
#include "run/wall_clock.hpp"
#include "run/world_plant.hpp"

namespace isochron {
namespace {

using programs::Desk;
using programs::Happening;
using protocol::Ask;

const char* const world = R"(name: access
seed: 3
world: {model: car.xml}
vehicles:
  car: {start: {position: [0, 0], speed: 6}}
robots:
  car:
    sensors:
      pose_with_a_name_that_is_rather_long: {type: pose, every: 20ms, latency: 30ms, jitter: 5ms}
      imu_with_a_name_that_is_rather_long: {type: imu, every: 4ms}
      gps_with_a_name_that_is_rather_long: {type: gps, site: car/gps, every: 50ms}
      range_with_a_name_that_is_rather_long: {type: range, every: 30ms}
      lidar_with_a_name_that_is_rather_long: {type: lidar, every: 60ms, lidar: {channels: 2, columns: 30, sectors: 6}}
      camera_with_a_name_that_is_rather_long: {type: camera, camera: car/front, every: 50ms, latency: 20ms, picture: {width: 64, height: 48, depth: true}}
      touch_with_a_name_that_is_rather_long: {type: contact, every: 10ms}
      speed_with_a_name_that_is_rather_long: {type: model, model_sensor: car/speed, every: 10ms}
    programs:
      driver: {run: [sh], every: 10ms}
)";

/// A program's desk with the world and the journal behind it, as a run has them.
class Office : public Desk::House {
 public:
  explicit Office(const Scenario& scenario, const std::string& folder)
      : stage_(scenario),
        record_(scenario, {folder + "/access.mcap"}, clock_, disk_, {"world"}),
        plant_(stage_, scenario),
        desk_(plant_, *this),
        recorder_(record_, {"car/driver"}, {Fraction{}}, plant_.variables()) {
    stage_.begin(record_, watch_);
    plant_.refresh();
    desk_.add({"car/driver", "car", {}, "", 0});
  }
  [[nodiscard]] SimTime now() const { return plant_.time(); }
  /// Sensors whose time has come look at the world. Embree's own blocks for a moved scene are no read's doing.
  void look() { stage_.look(now()); }
  /// All that can be read is read, all that can be written is written, and it is recorded.
  void touch_all() {
    const auto& variables = plant_.variables();
    for (std::uint32_t i = 0; i < variables.size(); ++i) {
      if (variables[i].readable) ask({.ask = Ask::read, .index = i});
      if (variables[i].writable) ask({.ask = Ask::write, .index = i, .payload = zeros(variables[i].size)});
    }
    const SimTime next = now() + stage_.step();
    desk_.apply(next);
    told_.take(next, [this](const Happening& happening) { recorder_.happened(happening); });
  }
  bool step() { return plant_.advance_to(now() + stage_.step()).ok(); }
  std::uint64_t refused = 0, answered = 0;

 private:
  void tell(std::uint32_t party, Happening::Kind kind, SimTime at, std::uint32_t about,
            std::span<const std::byte> bytes, SimTime stamp) override {
    told_.add(0, {kind, at, party, about, stamp, {}}, bytes);
  }
  void message(std::uint32_t, std::uint32_t, SimTime) override {}

  void ask(const programs::Request& request) {
    reply_.reset(room_);
    EXPECT_FALSE(desk_.act(0, 0, now(), request, reply_));
    ++(reply_.verdict == protocol::Verdict::ok || reply_.verdict == protocol::Verdict::nothing ? answered : refused);
  }
  std::span<const std::byte> zeros(std::size_t size) { return std::span(zeros_).first(size); }

  WallClock clock_;
  PosixDisk disk_;
  RunWatch watch_;
  Stage stage_;
  RunRecord record_;
  WorldPlant plant_;
  Desk desk_;
  ProgramRecorder recorder_;
  programs::HappeningQueue told_;
  programs::Reply reply_;
  std::vector<std::byte> room_ = std::vector<std::byte>(protocol::payload_max), zeros_ = std::vector<std::byte>(4096);
};

TEST(ProgramAccess, UsesNoHeapAfterTheFirstTimes) {
  ASSERT_TRUE(rt::AllocationGuard::watches_heap());
  char pattern[] = "/tmp/isochron_access_XXXXXX";
  const std::string folder = mkdtemp(pattern);
  const Scenario scenario = read_scenario(world, "s.yaml", ISOCHRON_SOURCE_DIR "/models");
  {
    Office office(scenario, folder);
    for (int i = 0; i < 200; ++i) {
      office.touch_all();
      ASSERT_TRUE(office.step());
    }
    for (int i = 0; i < 200; ++i) {
      office.look();
      rt::AllocationGuard guard("access");
      office.touch_all();
      ASSERT_EQ(guard.report().allocations, 0U) << guard.report().text();
      ASSERT_TRUE(office.step());
    }
    EXPECT_EQ(office.refused, 0U);
    EXPECT_GT(office.answered, 400 * 10U);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace isochron
