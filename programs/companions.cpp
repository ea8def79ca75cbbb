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

Result<Done, std::string> Companions::take_turn() {
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
