// A ring and a latest value between two processes: fork, and memory that both map.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <new>

#include "rt/latest_value.hpp"
#include "rt/ring.hpp"

namespace isochron::rt {
namespace {

struct Sample {
  std::uint64_t number = 0;
  std::uint64_t copies[7] = {};
  void fill(std::uint64_t n) {
    number = n;
    for (auto& c : copies) c = n * 7;
  }
  [[nodiscard]] bool whole() const {
    for (const auto c : copies) {
      if (c != number * 7) return false;
    }
    return true;
  }
};

template <class T>
class Shared {
 public:
  Shared() : memory_(mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    value_ = new (memory_) T();
  }
  ~Shared() { munmap(memory_, sizeof(T)); }
  T* operator->() { return value_; }

 private:
  void* memory_;
  T* value_;
};

pid_t in_child(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  return child;
}

void expect_success(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(SharedMemory, ARingCarriesEverySampleToAnotherProcess) {
  constexpr std::uint64_t samples = 200'000;
  Shared<InlineRing<Sample, 64>> ring;
  const pid_t producer = in_child([&] {
    for (std::uint64_t i = 1; i <= samples;) {
      Sample* slot = ring->next();
      if (slot == nullptr) {
        usleep(0);
        continue;
      }
      slot->fill(i++);
      if (i % 5 == 0 || i > samples) ring->commit();
    }
    ring->commit();
  });
  std::uint64_t expected = 1;
  while (expected <= samples) {
    Sample* s = ring->take();
    if (s == nullptr) {
      ring->flush();
      usleep(0);
      continue;
    }
    ASSERT_EQ(s->number, expected++);
    ASSERT_TRUE(s->whole());
  }
  expect_success(producer);
}

TEST(SharedMemory, ALatestValueIsWholeInAnotherProcess) {
  constexpr std::uint64_t writes = 200'000;
  Shared<LatestValue<Sample>> latest;
  const pid_t writer = in_child([&] {
    for (std::uint64_t i = 1; i <= writes; ++i) {
      latest->slot().fill(i);
      latest->publish();
    }
  });
  std::uint64_t last = 0;
  while (last < writes) {
    const Sample* s = latest->read_new();
    if (s == nullptr) {
      usleep(0);
      continue;
    }
    ASSERT_GT(s->number, last);
    ASSERT_TRUE(s->whole());
    last = s->number;
  }
  expect_success(writer);
}

TEST(SharedMemory, AWriterThatIsKilledLeavesTheLastWholeValue) {
  for (int round = 0; round < 20; ++round) {
    Shared<LatestValue<Sample>> latest;
    const pid_t writer = in_child([&] {
      for (std::uint64_t i = 1;; ++i) {
        latest->slot().fill(i);
        latest->publish();
      }
    });
    usleep(2000);
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
    const Sample* s = latest->read();
    if (s == nullptr) continue;  // it was killed before it wrote at all
    EXPECT_TRUE(s->whole());
  }
}

}  // namespace
}  // namespace isochron::rt
