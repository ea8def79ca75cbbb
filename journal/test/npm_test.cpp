// Others read our journals, and we read theirs: checked with the npm packages that Foxglove itself uses (tools/npm).
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "journal/decode.hpp"
#include "journal/disk.hpp"
#include "journal/journal.hpp"
#include "journal/recover.hpp"
#include "journal/test/helpers.hpp"
#include "journal/variables.hpp"

namespace isochron {
namespace {

using nlohmann::json;
using test::Point;
using test::Pose;
using test::pose_at;

const std::string tools = ISOCHRON_NPM_FOLDER;

bool node_is_there() {
  return std::system("node --version >/dev/null 2>&1") == 0 && std::filesystem::exists(tools + "/node_modules/@mcap");
}

struct Output {
  int code = -1;
  std::string text;
};
Output node(const std::string& arguments) {
  Output output;
  FILE* pipe = popen(("node " + tools + "/" + arguments + " 2>&1").c_str(), "r");
  std::array<char, 4096> part{};
  for (std::size_t n = 0; (n = fread(part.data(), 1, part.size(), pipe)) > 0;) output.text.append(part.data(), n);
  output.code = WEXITSTATUS(pclose(pipe));
  return output;
}

class WithNode : public testing::Test {
 protected:
  void SetUp() override {
    if (!node_is_there()) GTEST_SKIP() << "needs node and its packages: ./dev setup";
  }
  void TearDown() override { std::filesystem::remove(path_); }

  json checked() {
    const Output output = node("mcap_check.mjs " + path_);
    EXPECT_EQ(output.code, 0) << output.text;
    return json::parse(output.text, nullptr, false);
  }
  std::unique_ptr<Journal> journal(JournalOptions options) {
    options.threaded = false;
    options.when_full = WhenFull::block;
    return std::move(*Journal::create(disk_, clock_, path_, options));
  }

  std::string path_ = (std::filesystem::temp_directory_path() / ("isochron_npm_" + std::to_string(getpid()))).string();
  PosixDisk disk_;
  test::HandClock clock_;
};

TEST_F(WithNode, OurJournalIsReadAndDecodedByMcapCore) {
  JournalOptions options;
  options.chunk_bytes = 3000;
  options.about_the_run = {{"seed", "7"}};
  auto ours = journal(options);
  const ChannelId pose = ours->channel<Pose>("/pose");
  const ChannelId late = ours->channel<Point>("/late");
  ours->channel<Point>("/silent");
  Producer& producer = ours->producer("p");
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("joint[" + std::to_string(i) + "].q");
  VariableLog variables(*ours, producer, "/robot/variables", names);
  std::vector<double> values(1000, 0.25);
  double sum = 0;
  for (int i = 0; i < 100; ++i) {
    const SimTime time = SimTime::from_ns(1000 * i);
    producer.write(late, time + SimSpan::from_ns(30'000), Point{1.0 * i, 2});
    sum += i + 2;
    producer.write(pose, time, pose_at(i));
    if (i % 10 == 0) variables.tick(time, values);
  }
  const std::array<std::byte, 3> note{};
  ours->attach("note", "text/plain", note);
  const JournalSummary summary = ours->close();

  const json found = checked();
  const json& indexed = found["indexed"];
  EXPECT_EQ(indexed["library"], "isochron");
  EXPECT_EQ(indexed["messages"], 210);
  EXPECT_EQ(indexed["channels"], 4);
  EXPECT_EQ(indexed["schemas"], 3);
  EXPECT_EQ(indexed["compressions"], json::array({"zstd"}));
  EXPECT_EQ(indexed["end_ns"], "129000");
  EXPECT_EQ(indexed["attachments"]["note"], 3);
  EXPECT_EQ(indexed["metadata"][1][1]["digest"], summary.digest.hex);
  EXPECT_GE(indexed["summary_offsets"], 6);
  EXPECT_EQ(found["stream"]["Chunk"], indexed["chunks"]);
  EXPECT_GT(indexed["chunks"], 10);

  EXPECT_EQ(indexed["topics"]["/late"]["sum"], sum);
  EXPECT_EQ(indexed["topics"]["/robot/variables"]["sum"], 10 * 250.0);
  EXPECT_EQ(indexed["topics"]["/robot/variables"]["last"]["joint_999_q"], 0.25);
  const json expected = {{"stamp", {{"sec", 0}, {"nanosec", 99'000'000}}},
                         {"position", {{"x", 49.5}, {"y", -123.75}}},
                         {"orientation", {1, 0, 12.375, 0}},
                         {"path", {{{"x", 0}, {"y", 198}}, {{"x", 1}, {"y", 198}}, {{"x", 2}, {"y", 198}}}},
                         {"frame", "frame_99"},
                         {"valid", true},
                         {"count", -99}};
  EXPECT_EQ(indexed["topics"]["/pose"]["last"], expected);
}

TEST_F(WithNode, AnEmptyJournalIsReadByMcapCore) {
  journal({})->close();
  const json found = checked();
  EXPECT_EQ(found["indexed"]["messages"], 0);
}

TEST_F(WithNode, ARecoveredJournalIsReadByMcapCore) {
  auto ours = journal({});
  const ChannelId point = ours->channel<Point>("/point");
  Producer& producer = ours->producer("p");
  for (int i = 0; i < 50; ++i) producer.write(point, SimTime::from_ns(i), Point{1, 2});
  ours->close();
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 100);
  ASSERT_TRUE(recover(disk_, path_, path_).ok());
  const json found = checked();
  EXPECT_EQ(found["indexed"]["topics"]["/point"]["sum"], 150);
}

class TheirJournal : public WithNode, public testing::WithParamInterface<const char*> {};

TEST_P(TheirJournal, IsReadByUs) {
  const Output output = node("mcap_write.mjs " + path_ + " " + GetParam());
  ASSERT_EQ(output.code, 0) << output.text;
  auto reader = McapReader::open(disk_, path_);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->ending(), Ending::whole);
  EXPECT_TRUE(reader->damage().empty());
  EXPECT_EQ(reader->header().library, "mcap_write.mjs");
  EXPECT_EQ(reader->channels().size(), 2U);
  EXPECT_EQ(reader->channel("/a")->metadata.at("from"), "javascript");
  EXPECT_EQ(reader->metadata("who").at("wrote"), "mcap");
  ASSERT_EQ(reader->attachments().size(), 1U);
  EXPECT_EQ(reader->attachment(reader->attachments()[0])->size(), 5U);
  EXPECT_EQ(reader->statistics().message_count, 200U);
  int n = 0;
  const auto decoder = Decoder::make(*reader->channel("/b"), reader->schema_of(*reader->channel("/b")));
  ASSERT_TRUE(decoder.ok());
  MessageCursor cursor = reader->messages({.topics = {"/b"}});
  for (; const auto message = cursor.next(); ++n) {
    const std::string number = std::to_string(n);
    EXPECT_EQ(message->time.ns(), n * 1'000'000);
    EXPECT_EQ(message->publish_time, n * 1'000'000U + 5);
    EXPECT_EQ(decoder->number(message->data, "x"), n / 4.0);
    EXPECT_EQ(decoder->number(message->data, "inner.n[0]"), n);
    EXPECT_EQ(decoder->number(message->data, "inner.n[1]"), -1);
    EXPECT_NE(decoder->print(message->data).find("name=\"n" + number + "\""), std::string::npos);
  }
  EXPECT_EQ(n, 100);
}
INSTANTIATE_TEST_SUITE_P(McapCore, TheirJournal, testing::Values("none", "zstd", "unchunked", "no-summary"));

}  // namespace
}  // namespace isochron
