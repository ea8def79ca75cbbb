#include "rt/allocation_guard.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "rt/latest_value.hpp"
#include "rt/ring.hpp"

namespace isochron::rt {
namespace {

__attribute__((noinline)) void allocate_deep_inside(std::unique_ptr<int[]>& where) {
  where = std::make_unique<int[]>(100);
  asm volatile("" : : "r"(where.get()) : "memory");
}

TEST(AllocationGuard, IsLinkedHere) { EXPECT_TRUE(AllocationGuard::watches_heap()); }

TEST(AllocationGuard, FindsAnAllocationWithItsStack) {
  std::unique_ptr<int[]> memory;
  AllocationGuard guard("control");
  allocate_deep_inside(memory);
  const GuardReport report = guard.report();
  EXPECT_EQ(report.allocations, 1U);
  EXPECT_EQ(report.bytes, 400U);
  EXPECT_FALSE(report.clean());
  const auto found = std::find_if(report.found.begin(), report.found.end(), [](const auto& f) {
    return f.what == Violation::allocate;
  });  // the rest: page faults
  ASSERT_NE(found, report.found.end());
  const auto* function = reinterpret_cast<const char*>(&allocate_deep_inside);
  const bool named = std::any_of(found->stack.begin(), found->stack.begin() + found->frames,
                                 [&](void* frame) { return frame >= function && frame < function + 300; });
  EXPECT_TRUE(named) << report.text();
  EXPECT_NE(report.text().find("control: 1 allocations (400 bytes)"), std::string::npos) << report.text();
  EXPECT_NE(report.text().find("allocation of 400 bytes\n    "), std::string::npos) << report.text();
}

TEST(AllocationGuard, FindsAFree) {
  auto memory = std::make_unique<int>(1);
  AllocationGuard guard("control");
  memory.reset();
  EXPECT_EQ(guard.report().frees, 1U);
}

TEST(AllocationGuard, CountsAllAndKeepsTheFirstStacks) {
  AllocationGuard guard("control");
  for (int i = 0; i < 100; ++i) {
    void* p = std::malloc(8);
    asm volatile("" : : "r"(p) : "memory");
    std::free(p);
  }
  const GuardReport report = guard.report();
  EXPECT_EQ(report.allocations, 100U);
  EXPECT_EQ(report.frees, 100U);
  EXPECT_EQ(report.found.size(), GuardFindings::most_kept);
}

TEST(AllocationGuard, FindsEveryWayToAllocate) {
  AllocationGuard guard("control");
  void* p = nullptr;
  ASSERT_EQ(posix_memalign(&p, 64, 100), 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 64, 0U);
  std::free(p);
  p = std::calloc(3, 5);
  p = std::realloc(p, 2000);
  std::free(p);
  p = std::aligned_alloc(128, 256);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 128, 0U);
  std::free(p);
  EXPECT_EQ(guard.report().allocations, 4U);
}

TEST(AllocationGuard, FindsPageFaultsWithTheirStackAndAddress) {
  const std::size_t size = 16 * 4096;
  auto* fresh =
      static_cast<volatile char*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(fresh, MAP_FAILED);
  madvise(const_cast<char*>(fresh), size, MADV_NOHUGEPAGE);
  AllocationGuard guard("control");
  for (std::size_t i = 0; i < size; i += 4096) fresh[i] = 1;
  const GuardReport report = guard.report();
  EXPECT_GE(report.minor_faults, 16U);
  if (guard.has_fault_stacks()) {
    const auto hit = std::count_if(report.found.begin(), report.found.end(), [&](const auto& f) {
      return f.what == Violation::page_fault && f.frames > 1 && f.address >= const_cast<char*>(fresh) &&
             f.address < const_cast<char*>(fresh) + size;
    });
    EXPECT_GE(hit, 8) << report.text();
  }
  munmap(const_cast<char*>(fresh), size);
}

TEST(AllocationGuard, DoesNotCountOtherThreads) {
  AllocationGuard outer("outer");
  std::uint64_t inside = 0;
  const GuardReport before = outer.report();
  std::thread other([&] {
    AllocationGuard guard("other");
    for (int i = 0; i < 50; ++i) {
      void* p = std::malloc(16);
      asm volatile("" : : "r"(p) : "memory");
      std::free(p);
    }
    inside = guard.report().frees;
  });
  other.join();
  EXPECT_EQ(inside, 50U);
  EXPECT_LT(outer.report().frees - before.frees, 10U);  // making a thread allocates a little; its body is not ours
}

TEST(AllocationGuard, RingsAndLatestValuesUseNoHeap) {
  Ring<int> ring(64);
  LatestValue<int> latest;
  int sum = 0;
  AllocationGuard guard("control");
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_TRUE(ring.push(i));
    int out = 0;
    EXPECT_TRUE(ring.pop(out));
    latest.write(out);
    sum += *latest.read();
  }
  const GuardReport report = guard.report();
  EXPECT_EQ(report.allocations + report.frees, 0U) << report.text();
  EXPECT_EQ(sum, 10'000 / 2 * 9'999);
}

TEST(AllocationGuardDeath, AbortsWithTheNameWhenAskedTo) {
  EXPECT_DEATH(
      {
        AllocationGuard guard("estimator", OnViolation::abort);
        std::unique_ptr<int[]> memory;
        allocate_deep_inside(memory);
      },
      "(heap use|page fault) in real-time thread: estimator");
}

}  // namespace
}  // namespace isochron::rt
