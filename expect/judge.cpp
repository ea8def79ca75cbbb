#include "expect/judge.hpp"

#include <algorithm>
#include <cmath>

#include "expect/trial.hpp"
#include "journal/named_series.hpp"

namespace isochron::expect {
namespace {

/// Names that stand in records are looked for in each at first, then now and then.
constexpr std::uint64_t looked_at_first = 256, looked_later_each = 64;

}  // namespace

Judge::Judge(std::vector<Expectation> expectations, JudgeOptions options)
    : expectations_(std::move(expectations)), options_(std::move(options)) {
  for (const Expectation& expectation : expectations_) {
    trials_.push_back(make_trial(expectation, [this](SimTime at) {
      if (violated_at_) return;
      violated_at_ = at;
      if (options_.on_violation) options_.on_violation();
    }));
  }
}

Judge::~Judge() = default;

void Judge::defined(std::size_t channel, const ChannelDefinition& definition) {
  if (options_.next != nullptr) options_.next->defined(channel, definition);
  names_.add(channel, definition);
  look_for_names();
}

void Judge::know(Names names) {
  names_ = std::move(names);
  look_for_names();
}

void Judge::look_for_names() {
  names_missing_ = false;
  for (const auto& trial : trials_) {
    for (const auto& watcher : trial->watchers()) {
      watcher->look_for_names(names_);
      names_missing_ = names_missing_ || !watcher->has_all_names();
      for (const auto& [channel, newest] : watcher->channels()) {
        if (looking_.size() <= channel) looking_.resize(channel + 1);
        auto& all = looking_[channel];
        if (std::ranges::find(all, trial.get()) == all.end()) all.push_back(trial.get());
      }
    }
  }
}

void Judge::learn(std::size_t channel, std::span<const std::byte> record) {
  if (!names_.names_are_in_records(channel)) return;
  if (unlearnt_.size() <= channel) unlearnt_.resize(channel + 1);
  const std::uint64_t seen = unlearnt_[channel]++;
  if (seen > looked_at_first && seen % looked_later_each != 0) return;
  if (names_.learn(channel, record)) look_for_names();
}

void Judge::recorded(std::size_t channel, SimTime time, std::span<const std::byte> record) {
  if (options_.next != nullptr) options_.next->recorded(channel, time, record);
  if (options_.end_at_first_violation && violated_at_) return;
  if (names_missing_) learn(channel, record);
  if (channel >= looking_.size()) return;
  for (Trial* trial : looking_[channel]) trial->recorded(channel, time, record);
}

std::vector<Judgement> Judge::finish(const Figures& figures, SimTime end) {
  std::vector<Judgement> judgements;
  const bool ended = options_.end_at_first_violation && violated_at_;
  for (const auto& trial : trials_) judgements.push_back(trial->finish(names_, figures, ended ? *violated_at_ : end));
  return judgements;
}

std::vector<Judgement> judge(McapReader& journal, std::vector<Expectation> expectations, const Figures& figures) {
  Judge judge(std::move(expectations));
  judge.know(names_of(journal));
  SimTime end = SimTime::zero();
  MessageCursor cursor = journal.messages_as_written();
  while (const auto message = cursor.next()) {
    end = std::max(end, message->time);
    judge.recorded(message->channel->id, message->time, message->data);
  }
  // The last record may be of what came after the run's end, as its drift.
  if (const auto reached = figures.find("simulated"); reached != figures.end()) {
    end = SimTime::from_ns(std::llround(reached->second.value * 1e9));
  }
  return judge.finish(figures, end);
}

}  // namespace isochron::expect
