#pragma once
// One expectation on trial: what its form makes of what its watchers see.
//
// Threads: the judge's.

#include <deque>
#include <memory>

#include "expect/gatherer.hpp"
#include "expect/judge.hpp"
#include "expect/watcher.hpp"

namespace isochron::expect {

class Trial {
 public:
  /// `violated` is called at each violation with its time.
  Trial(const Expectation& expectation, std::function<void(SimTime)> violated);
  virtual ~Trial() = default;
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  [[nodiscard]] const std::vector<std::unique_ptr<Watcher>>& watchers() const { return watchers_; }
  [[nodiscard]] std::vector<std::unique_ptr<Watcher>>& watchers() { return watchers_; }
  void recorded(std::size_t channel, SimTime time, std::span<const std::byte> record);
  Judgement finish(const Names& names, const Figures& figures, SimTime end);

 protected:
  /// After the last sample; `why` says what it came to, unless nothing was seen.
  virtual void conclude(const Figures& figures, SimTime end) = 0;

  Watcher& watch(const Watch& what, Watcher::Told told);
  [[nodiscard]] const Sentence& sentence() const { return expectation_.meaning.sentence; }
  [[nodiscard]] const Meaning& meaning() const { return expectation_.meaning; }
  [[nodiscard]] bool counts(SimTime at) const { return sentence().from <= at && at < sentence().until; }
  /// The values that are shown, in the state that the watcher tells now.
  [[nodiscard]] std::vector<ShownValue> shown(const Watcher& watcher) const;
  void violation(SimTime at, std::vector<ShownValue> values);
  Judgement& judgement() { return judgement_; }

 private:
  const Expectation& expectation_;
  std::function<void(SimTime)> violated_;
  std::vector<std::unique_ptr<Watcher>> watchers_;
  Judgement judgement_;
};

std::unique_ptr<Trial> make_trial(const Expectation& expectation, std::function<void(SimTime)> violated);

}  // namespace isochron::expect
