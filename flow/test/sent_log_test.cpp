// What a node keeps for those that are started again.

#include "flow/sent_log.hpp"

#include <gtest/gtest.h>

#include "flow/test/test_nodes.hpp"
#include "testing/disk.hpp"

namespace isochron::flow::test {
namespace {

struct Count : SentObserver {
  void sent(const Sent&) override { ++messages; }
  int messages = 0;
};

void send(SentLog& log, std::uint32_t flow, std::int64_t number) {
  const SimTime time = SimTime::from_ns(10 * number);
  log.sent({flow, time, SimTime::from_ns(10 * number + 10), &payload_type<std::int64_t>(), &number});
}

void expect_number(SentLog::Reader& reader, std::int64_t number) {
  EXPECT_EQ(reader.number(), static_cast<std::uint64_t>(number));
  const SentLog::Entry entry = reader.take();
  EXPECT_EQ(entry.time.ns(), 10 * number);
  EXPECT_EQ(entry.next.ns(), 10 * number + 10);
  std::int64_t value = 0;
  ASSERT_EQ(entry.payload.size(), sizeof value);
  std::memcpy(&value, entry.payload.data(), sizeof value);
  EXPECT_EQ(value, number);
}

TEST(SentLog, GivesTheMessagesOfEachFlowInOrderWhileMoreAreSent) {
  SimulatedDisk disk(1);
  disk.set_faults({.short_write = 0.3, .short_read = 0.3});
  Count next;
  SentLog log(disk.create("sent").value(), &next);
  std::vector<SentLog::Reader> readers{{log, 0}, {log, 1}, {log, 2}};
  constexpr std::int64_t messages = 30'000;  // more than one block
  for (std::int64_t i = 0; i < messages; ++i) {
    for (std::uint32_t flow = 0; flow < 3; ++flow) send(log, flow, i);
    expect_number(readers[0], i);  // on its heels
    if (i % 1000 == 999) {
      for (int k = 0; k < 1000; ++k) expect_number(readers[1], i - 999 + k);
    }
  }
  for (std::int64_t i = 0; i < messages; ++i) expect_number(readers[2], i);
  EXPECT_EQ(next.messages, 3 * messages) << "all are passed on";
}

TEST(SentLog, AFullDiskIsSaidWithTheFile) {
  SimulatedDisk disk(1);
  disk.set_faults({.capacity = 100'000});
  SentLog log(disk.create("here/red.sent").value(), nullptr);
  try {
    for (std::int64_t i = 0; i < 100'000; ++i) send(log, 0, i);
    FAIL() << "it went on";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("cannot be kept for nodes that are started again"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("here/red.sent"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace isochron::flow::test
