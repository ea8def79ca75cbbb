#include "programs/companions.hpp"

#include <exception>
#include <utility>

namespace isochron::programs {

/// The host's plant during their turns; between them, a step is the end of one.
class Companions::TurnPlant final : public ForwardingPlant {
 public:
  explicit TurnPlant(Companions& companions) : ForwardingPlant(companions.plant_), companions_(companions) {}

  Result<Done, std::string> advance_to(SimTime) override {
    companions_.wait_for_turn();
    return done();
  }

 private:
  Companions& companions_;
};

Companions::Companions(Plant& plant, std::vector<RobotSpec> robots, CoordinatorOptions options, Recorder& recorder,
                       SimTime until)
    : plant_(plant), robots_(std::move(robots)), options_(std::move(options)), recorder_(recorder), until_(until) {
  options_.pace.reset();  // the host keeps it
  options_.host_steps = true;
  thread_ = std::thread([this] { work(); });
}

Companions::~Companions() { finish(); }

/// The two take turns, so that they lose nothing on one core, and win what waking another one costs: where the
/// companions have come home (placement.hpp) their host lives too.
void Companions::settle() {
  constexpr std::uint32_t now_and_then = 64;
  if (turns_++ % now_and_then != 0) return;
  if (turns_ == 1) {
    sched_getaffinity(0, sizeof hosts_own_, &hosts_own_);
    where_ = hosts_own_;
  }
  cpu_set_t theirs;
  if (pthread_getaffinity_np(thread_.native_handle(), sizeof theirs, &theirs) != 0 || CPU_EQUAL(&theirs, &where_))
    return;
  if (sched_setaffinity(0, sizeof theirs, &theirs) == 0) where_ = theirs;
}

Result<Done, std::string> Companions::take_turn() {
  settle();
  std::unique_lock lock(mutex_);
  theirs_ = true;
  turn_changed_.notify_all();
  turn_changed_.wait(lock, [this] { return !theirs_ || over_; });
  if (!failure_.empty()) return fail(failure_);
  return done();
}

const RunOutcome& Companions::finish() {
  if (!thread_.joinable()) return outcome_;
  const bool at_the_end = plant_.time() >= until_;
  if (at_the_end) (void)take_turn().ok();  // they find that it is over
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  stop_.request_stop();
  turn_changed_.notify_all();
  thread_.join();
  if (!CPU_EQUAL(&where_, &hosts_own_)) sched_setaffinity(0, sizeof hosts_own_, &hosts_own_);
  return outcome_;
}

// The end of their turn.
void Companions::wait_for_turn() {
  std::unique_lock lock(mutex_);
  theirs_ = false;
  turn_changed_.notify_all();
  turn_changed_.wait(lock, [this] { return theirs_ || ending_; });
}

void Companions::work() {
  {
    std::unique_lock lock(mutex_);
    turn_changed_.wait(lock, [this] { return theirs_ || ending_; });
    if (ending_ && !theirs_) return;
  }
  RunOutcome outcome;
  std::string failure;
  try {
    TurnPlant plant(*this);
    Coordinator coordinator(plant, robots_, options_, &recorder_);
    outcome = coordinator.run(until_, stop_.get_token());
    const bool told_to = stop_.stop_requested() || (options_.stopping && options_.stopping());
    if (!outcome.completed && !told_to) failure = outcome.why_ended;
  } catch (const std::exception& error) {
    failure = error.what();
  }
  const std::lock_guard lock(mutex_);
  over_ = true;
  failure_ = std::move(failure);
  outcome_ = std::move(outcome);
  turn_changed_.notify_all();
}

}  // namespace isochron::programs
