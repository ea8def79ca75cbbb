// What a program reads and writes uses no heap of the coordinator, once its memory has come to its size.

#include <optional>

#include "core/forwarding_plant.hpp"
#include "programs/test/run_support.hpp"
#include "rt/allocation_guard.hpp"

namespace isochron::programs {
namespace {

/// Watches the thread that reads, from one read to a later one.
class WatchedPlant final : public ForwardingPlant {
 public:
  using ForwardingPlant::ForwardingPlant;
  static constexpr int first = 100, last = 600;
  void read(std::uint32_t variable, SimTime at, std::span<std::byte> value) override {
    ForwardingPlant::read(variable, at, value);
    if (++reads_ == first) guard_.emplace("coordinator");
    if (reads_ != last) return;
    report = guard_->report();
    guard_.reset();
  }
  std::optional<rt::GuardReport> report;

 private:
  int reads_ = 0;
  std::optional<rt::AllocationGuard> guard_;
};

/// Wants to be told, and keeps nothing.
struct Forgetful final : Recorder {
  void happened(const Happening&) override {}
};

class Heap : public testing::TestWithParam<Compute> {};

TEST_P(Heap, IsNotUsedByReadsAndWrites) {
  ASSERT_TRUE(rt::AllocationGuard::watches_heap());
  DoubleIntegrator masses({"a"});
  WatchedPlant plant(masses);
  Forgetful recorder;
  Coordinator coordinator(plant, {robot("a", {program("p", {"controller"}, GetParam())})}, quick(), &recorder);
  const RunOutcome outcome = coordinator.run(at(8s));
  EXPECT_TRUE(outcome.completed) << outcome.why_ended;
  ASSERT_TRUE(plant.report);
  // Each read came with a wait and a write. A busy machine lets the coordinator look at /proc now and then.
  EXPECT_LT(plant.report->allocations, (WatchedPlant::last - WatchedPlant::first) / 4) << plant.report->text();
}

INSTANTIATE_TEST_SUITE_P(Compute, Heap, testing::Values(ZeroCompute{}, modelled(1ms), MeasuredCompute{}));

}  // namespace
}  // namespace isochron::programs
