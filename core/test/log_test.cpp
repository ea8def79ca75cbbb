#include "core/log.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace isochron {
namespace {

class Kept final : public LogSink {
 public:
  void take(const LogLine& line) noexcept override {
    const std::lock_guard lock(mutex_);
    lines.push_back(std::string(to_string(line.level)) + " " + std::string(line.part) + " " + std::string(line.text));
  }
  std::vector<std::string> lines;

 private:
  std::mutex mutex_;
};

class Log : public testing::Test {
 protected:
  ~Log() override { log_to(nullptr, LogLevel::warning); }
  Kept kept;
};

TEST_F(Log, GoesToTheSinkUpToTheLevelThatIsWanted) {
  log_to(&kept, LogLevel::info);
  warn("flows", "a part does not move");
  inform("run", "begins");
  log_line(LogLevel::detail, "run", "step");
  EXPECT_EQ(kept.lines, (std::vector<std::string>{"warning flows a part does not move", "info run begins"}));
  EXPECT_FALSE(logs(LogLevel::detail));
}

TEST_F(Log, WithoutASinkOnlyWarningsAndErrorsAreShown) {
  log_to(&kept, LogLevel::detail);
  log_to(nullptr, LogLevel::detail);
  testing::internal::CaptureStderr();
  inform("run", "begins");
  warn("ros2", "no publisher");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "ros2: no publisher\n");
  EXPECT_TRUE(kept.lines.empty());
}

TEST_F(Log, ThreadsMayAllSaySomething) {
  log_to(&kept, LogLevel::info);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int k = 0; k < 100; ++k) inform("run", "works");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(kept.lines.size(), 400u);
}

}  // namespace
}  // namespace isochron
