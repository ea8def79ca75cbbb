#include "journal/variables.hpp"

#include <gtest/gtest.h>

#include "journal/decode.hpp"
#include "journal/machine.hpp"
#include "journal/stream_copy.hpp"
#include "journal/test/helpers.hpp"

namespace isochron {
namespace {

TEST(VariableLog, RecordsEachVariableAsAFieldOfItsOwn) {
  test::MemoryDisk disk;
  test::HandClock clock;
  JournalOptions options;
  options.threaded = false;
  auto journal = std::move(*Journal::create(disk, clock, "j", options));
  Producer& producer = journal->producer("p");
  VariableLog log(*journal, producer, "/robot/state", {"arm.q[0]", "arm.q[1]", "battery", "3d"});
  for (int i = 0; i < 20; ++i) {
    const auto values = log.begin(SimTime::from_ns(i));
    ASSERT_EQ(values.size(), 4U);
    values[0] = i;
    values[1] = -i;
    values[2] = 0.5;
    values[3] = 3;
    log.end();
  }
  EXPECT_TRUE(log.tick(SimTime::from_ns(20), std::array{1.0, 2.0, 3.0, 4.0}));
  journal->close();
  auto reader = McapReader::open(disk, "j");
  const auto series = read_series(*reader, "/robot/state", "arm_q_1");
  ASSERT_TRUE(series.ok()) << series.error();
  ASSERT_EQ(series->values.size(), 21U);
  EXPECT_EQ(series->values[7], -7);
  EXPECT_EQ(series->times[7].ns(), 7);
  EXPECT_EQ(series->values[20], 2);
  const auto part = read_series(*reader, "/robot/state", "v_3d", SimTime::from_ns(5), SimTime::from_ns(8));
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part->values, std::vector<double>(3, 3.0));
  EXPECT_FALSE(read_series(*reader, "/robot/state", "arm.q[1]").ok());
  EXPECT_FALSE(read_series(*reader, "/nothing", "x").ok());
}

TEST(VariableLog, GivesEveryVariableANameThatRosAllows) {
  const std::vector<std::string> fields = field_names({"a.b", "a_b", "a b", "", "9", "__x__", "ok"});
  EXPECT_EQ(fields, (std::vector<std::string>{"a_b", "a_b_2", "a_b_3", "v", "v_9", "x", "ok"}));
}

TEST(StreamCopy, CopiesEveryByteWhateverTheSizeAndPlace) {
  std::vector<std::byte> from(40'000);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 31 + i / 256);
  for (const std::size_t size : {0UL, 5UL, 16'383UL, 16'384UL, 16'391UL, 30'001UL}) {
    for (const std::size_t place : {0UL, 8UL, 16UL, 24UL}) {
      alignas(64) static std::array<std::byte, 40'100> to;
      to.fill(std::byte{0});
      stream_copy(to.data() + place, from.data() + 3, size);
      EXPECT_EQ(std::memcmp(to.data() + place, from.data() + 3, size), 0) << size << " at " << place;
      EXPECT_EQ(to[place + size], std::byte{0});
    }
  }
}

TEST(Machine, HasOneMathVariant) {
  EXPECT_EQ(cpu_math_variant(), cpu_math_variant());
  EXPECT_EQ(machine_facts().at("cpu_math"), cpu_math_variant());
}

}  // namespace
}  // namespace isochron
