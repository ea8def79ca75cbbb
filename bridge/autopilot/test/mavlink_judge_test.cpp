// Our MAVLink beside npm's node-mavlink: each reads what the other writes.

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "bridge/autopilot/mavlink.hpp"
#include "bridge/autopilot/test/mavlink_support.hpp"

namespace isochron::autopilot::mavlink {
namespace {

const std::string npm = ISOCHRON_NPM;

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    text += "0123456789abcdef"[static_cast<int>(byte) >> 4];
    text += "0123456789abcdef"[static_cast<int>(byte) & 15];
  }
  return text;
}
Bytes from_hex(const std::string& text) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}
std::string list(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) {
    char part[40];
    std::snprintf(part, sizeof part, "%.17g", value);
    text += (text.empty() ? "" : ",") + std::string(part);
  }
  return "[" + text + "]";
}

/// All tasks in one run of node; one line answers each.
std::vector<std::string> ask(const std::vector<std::string>& tasks) {
  const std::string file =
      (std::filesystem::temp_directory_path() / ("mavlink_judge." + std::to_string(getpid()))).string();
  std::ofstream out(file);
  for (const std::string& task : tasks) out << task << '\n';
  out.close();
  std::vector<std::string> answers;
  FILE* pipe = popen(("timeout 60 node " + npm + "/mavlink_check.mjs < " + file).c_str(), "r");
  std::string line;
  for (int c = 0; pipe != nullptr && (c = std::fgetc(pipe)) != EOF;) {
    if (c != '\n') {
      line += static_cast<char>(c);
    } else {
      answers.push_back(std::exchange(line, {}));
    }
  }
  if (pipe != nullptr) pclose(pipe);
  std::filesystem::remove(file);
  return answers;
}

bool judge_is_there() {
  return std::filesystem::exists(npm + "/node_modules/node-mavlink") && std::system("node --version >/dev/null") == 0;
}

std::string inside(const std::string& answer, const std::string& from, char end) {
  const std::size_t at = answer.find(from);
  return at == std::string::npos
             ? answer
             : answer.substr(at + from.size(), answer.find(end, at + from.size()) - at - from.size());
}

std::vector<double> values_in(const std::string& answer) {
  std::vector<double> values;
  std::string text = inside(answer, "\"values\":[", ']');
  for (std::size_t at = 0; at < text.size();) {
    std::size_t used = 0;
    values.push_back(std::stod(text.substr(at), &used));
    at += used + 1;
  }
  return values;
}

TEST(MavlinkJudge, ReadsEveryMessageOfOurs) {
  if (!judge_is_there()) GTEST_SKIP() << "npm's node-mavlink is not installed: ./dev setup";
  std::vector<std::string> tasks;
  std::vector<std::vector<double>> wanted;
  for_each_message(
      [&](auto kind) {
        using M = decltype(kind);
        Bytes bytes;
        Sender(1, 1).send(filled<M>(), bytes);
        tasks.push_back("read " + hex(bytes));
        wanted.push_back(numbers_of(filled<M>()));
      },
      All{});
  const auto answers = ask(tasks);
  ASSERT_EQ(answers.size(), tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    auto found = values_in(answers[i]);
    if (found.size() > wanted[i].size()) found.resize(wanted[i].size());  // extensions that came after ours
    EXPECT_EQ(found, wanted[i]) << answers[i];
  }
}

TEST(MavlinkJudge, WritesEveryMessageForUsInBothVersions) {
  if (!judge_is_there()) GTEST_SKIP() << "npm's node-mavlink is not installed: ./dev setup";
  for (const int version : {1, 2}) {
    std::vector<std::string> tasks;
    for_each_message(
        [&](auto kind) {
          using M = decltype(kind);
          auto values = numbers_of(filled<M>());
          values.resize(values.size() + 4);  // for extensions that came after ours
          tasks.push_back("write " + std::to_string(version) + " " + std::to_string(M::id) + " " + list(values));
        },
        All{});
    const auto answers = ask(tasks);
    ASSERT_EQ(answers.size(), tasks.size());
    std::size_t at = 0;
    for_each_message(
        [&](auto kind) {
          using M = decltype(kind);
          Parser parser;
          parser.push(from_hex(inside(answers[at++], "\"hex\":\"", '"')));
          const auto frame = parser.next();
          ASSERT_TRUE(frame) << M::id << " " << answers[at - 1];
          EXPECT_EQ(frame->version, version);
          EXPECT_EQ(frame->system, 7);
          auto found = numbers_of(*as<M>(*frame));
          auto wanted = numbers_of(filled<M>());
          if (version == 1) {  // which has no extensions
            while (!found.empty() && found.back() == 0) found.pop_back();
            ASSERT_FALSE(found.empty());
            ASSERT_LE(found.size(), wanted.size());
            wanted.resize(found.size());
          }
          EXPECT_EQ(found, wanted) << M::id;
        },
        All{});
  }
}

TEST(MavlinkJudge, AgreesAboutSignatures) {
  if (!judge_is_there()) GTEST_SKIP() << "npm's node-mavlink is not installed: ./dev setup";
  SigningKey key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(3 * i + 1);
  Bytes bytes;
  Sender(1, 1, key).send(filled<CommandLong>(), bytes);
  SigningKey other = key;
  other[5] ^= std::byte{1};
  const auto answers = ask({"verify " + hex(key) + " " + hex(bytes), "verify " + hex(other) + " " + hex(bytes),
                            "sign " + hex(key) + " 0 [1,2,3,4,5,3]"});
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0], "{\"right\":true}");
  EXPECT_EQ(answers[1], "{\"right\":false}");
  const Bytes theirs = from_hex(inside(answers[2], "\"hex\":\"", '"'));
  Parser ours(key), stranger(other);
  ours.push(theirs);
  stranger.push(theirs);
  EXPECT_TRUE(ours.next());
  EXPECT_FALSE(stranger.next());
}

}  // namespace
}  // namespace isochron::autopilot::mavlink
