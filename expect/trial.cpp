#include "expect/trial.hpp"

#include <algorithm>

#include "core/time_text.hpp"

namespace isochron::expect {
namespace {

std::string samples_text(std::uint64_t samples) {
  return std::to_string(samples) + (samples == 1 ? " sample" : " samples");
}

/// `always` and `never`: each time that it ceases to hold is one violation.
class Steady final : public Trial {
 public:
  Steady(const Expectation& expectation, std::function<void(SimTime)> violated)
      : Trial(expectation, std::move(violated)),
        watcher_(watch(meaning().watch, [this](SimTime at) { look(at); })),
        wanted_(sentence().form == Sentence::Form::always) {}

 private:
  void look(SimTime at) {
    if (!counts(at)) return;
    const auto value = watcher_.value(0);
    if (!value) return;
    ++judgement().samples;
    if ((*value != 0) == wanted_) {
      broken_ = false;
      return;
    }
    if (!broken_) violation(at, shown(watcher_));
    broken_ = true;
    if (judgement().violations <= Judgement::most_told) judgement().told.back().until = at;
  }
  void conclude(const Figures&, SimTime) override {
    if (judgement().violations == 0) judgement().why = "held at " + samples_text(judgement().samples);
  }

  Watcher& watcher_;
  bool wanted_;
  bool broken_ = false;
};

/// `eventually`: one sample will do.
class Eventual final : public Trial {
 public:
  Eventual(const Expectation& expectation, std::function<void(SimTime)> violated)
      : Trial(expectation, std::move(violated)), watcher_(watch(meaning().watch, [this](SimTime at) { look(at); })) {
    if (sentence().within) limit_ = sentence().from + *sentence().within;
  }

 private:
  void look(SimTime at) {
    if (came_ || late_ || !counts(at)) return;
    if (at > limit_) return too_late(limit_);
    const auto value = watcher_.value(0);
    if (!value) return;
    ++judgement().samples;
    if (*value != 0) came_ = at;
    last_ = came_ ? std::vector<ShownValue>{} : shown(watcher_);
  }
  void too_late(SimTime at) {
    late_ = true;
    violation(at, last_);
  }
  void conclude(const Figures&, SimTime end) override {
    if (came_) judgement().why = "came true at " + to_string(*came_);
    if (!came_ && !late_ && judgement().samples > 0) too_late(std::min(end, limit_));
    if (judgement().violations > 0) judgement().why = "did not come true until " + to_string(judgement().told[0].at);
  }

  Watcher& watcher_;
  SimTime limit_ = SimTime::never();
  std::optional<SimTime> came_;
  bool late_ = false;
  std::vector<ShownValue> last_;
};

/// `after A, B within T`: each time that A becomes true, B has so long.
class Following final : public Trial {
 public:
  Following(const Expectation& expectation, std::function<void(SimTime)> violated)
      : Trial(expectation, std::move(violated)), watcher_(watch(meaning().watch, [this](SimTime at) { look(at); })) {}

 private:
  static constexpr std::size_t most_open = 100'000;
  struct Open {
    SimTime since;
    std::vector<ShownValue> values;
  };
  void look(SimTime at) {
    if (!counts(at)) return;
    give_up_before(at);
    const auto first = watcher_.value(0), then = watcher_.value(1);
    if (first) {
      ++judgement().samples;
      const bool now = *first != 0;
      if (now && !before_) {
        ++times_;
        if (open_.size() < most_open) open_.push_back({at, shown(watcher_)});
      }
      before_ = now;
    }
    if (then && *then != 0) open_.clear();
  }
  /// Those that B came too late for.
  void give_up_before(SimTime at) {
    while (!open_.empty() && open_.front().since + *sentence().within < at) {
      violation(open_.front().since, std::move(open_.front().values));
      open_.pop_front();
    }
  }
  void conclude(const Figures&, SimTime end) override {
    give_up_before(end);
    if (judgement().violations > 0) return;
    judgement().why = times_ == 0 ? sentence().text_of(sentence().condition) + " was never true"
                                  : "held " + std::to_string(times_) + (times_ == 1 ? " time" : " times");
    if (!open_.empty()) judgement().why += "; the run ended before the last could be judged";
  }

  Watcher& watcher_;
  std::deque<Open> open_;
  bool before_ = false;
  std::uint64_t times_ = 0;
};

/// Bounds on what is gathered: judged at the end.
class Summary final : public Trial {
 public:
  Summary(const Expectation& expectation, std::function<void(SimTime)> violated)
      : Trial(expectation, std::move(violated)) {
    for (const Gathered& gathered : meaning().gathered) {
      Gatherer& gatherer = gatherers_.emplace_back(gathered);
      Watcher** slot = &seen_by_.emplace_back(nullptr);
      *slot = &watch(gathered.watch, [this, &gatherer, slot](SimTime at) {
        if (!counts(at)) return;
        if (const auto value = (*slot)->value(0)) gatherer.add(*value);
      });
    }
  }

 private:
  static constexpr std::size_t figures_at = 1000;  // see Meaning
  void conclude(const Figures& figures, SimTime end) override {
    std::vector<double> values(figures_at + meaning().figures.size());
    judgement().samples = meaning().figures.empty() ? UINT64_MAX : 1;
    for (std::size_t i = 0; i < gatherers_.size(); ++i) {
      judgement().samples = std::min(judgement().samples, gatherers_[i].samples());
      values[i] = gatherers_[i].value().value_or(0);
    }
    for (std::size_t i = 0; i < meaning().figures.size(); ++i) {
      const auto figure = figures.find(meaning().figures[i].name);
      if (figure == figures.end()) judgement().samples = 0;
      values[figures_at + i] = figure == figures.end() ? 0 : figure->second.value;
    }
    if (judgement().samples == 0) return;
    for (const Shown& one : meaning().shown) {
      const double value = meaning().shown_outcomes[one.program].evaluate(values, 0);
      judgement().values.push_back({sentence().text_of(one.part), value});
    }
    if (meaning().judgement.evaluate(values, 0) == 0) violation(end, judgement().values);
  }

  std::deque<Gatherer> gatherers_;
  std::deque<Watcher*> seen_by_;
};

}  // namespace

Trial::Trial(const Expectation& expectation, std::function<void(SimTime)> violated)
    : expectation_(expectation), violated_(std::move(violated)) {
  judgement_.name = expectation.name;
  judgement_.text = expectation.text();
  judgement_.place = expectation.place;
}

Watcher& Trial::watch(const Watch& what, Watcher::Told told) {
  return *watchers_.emplace_back(std::make_unique<Watcher>(what, std::move(told)));
}

void Trial::recorded(std::size_t channel, SimTime time, std::span<const std::byte> record) {
  for (const auto& watcher : watchers_) {
    if (watcher->uses(channel)) watcher->recorded(channel, time, record);
  }
}

std::vector<ShownValue> Trial::shown(const Watcher& watcher) const {
  std::vector<ShownValue> all;
  for (const Shown& one : meaning().shown) {
    if (const auto value = watcher.value(one.program)) all.push_back({sentence().text_of(one.part), *value});
  }
  return all;
}

void Trial::violation(SimTime at, std::vector<ShownValue> values) {
  ++judgement_.violations;
  if (judgement_.told.size() < Judgement::most_told) judgement_.told.push_back({at, at, std::move(values)});
  violated_(at);
}

Judgement Trial::finish(const Names& names, const Figures& figures, SimTime end) {
  for (const auto& watcher : watchers_) watcher->finish();
  conclude(figures, end);
  std::map<std::string, Quantity> quantities;
  for (const auto& [name, figure] : figures) quantities.emplace(name, figure.quantity);
  const Vocabulary known{names, quantities, true};
  const auto name_quantities = [&](std::vector<ShownValue>& values) {
    for (ShownValue& value : values) {
      for (const Shown& one : meaning().shown) {
        if (sentence().text_of(one.part) == value.what) value.quantity = quantity_of(one.part, known);
      }
    }
  };
  for (Violation& one : judgement_.told) name_quantities(one.values);
  name_quantities(judgement_.values);
  const std::vector<TextMistake> mistakes = check_names(meaning(), known);
  if (!mistakes.empty() || (judgement_.samples == 0 && judgement_.violations == 0)) {
    judgement_.verdict = Verdict::unseen;
    judgement_.why = mistakes.empty() ? "no sample of it came while it was looked at"
                                      : to_string(Mistake{{}, mistakes[0].what, mistakes[0].hint});
  } else if (judgement_.violations > 0) {
    judgement_.verdict = Verdict::violated;
    judgement_.why =
        (judgement_.why.empty() ? "violated " : judgement_.why + ", ") + to_string(judgement_.told.front());
    if (judgement_.violations > 1) judgement_.why += "; " + std::to_string(judgement_.violations) + " times in all";
  } else {
    judgement_.verdict = Verdict::held;
    for (const ShownValue& value : judgement_.values) {
      judgement_.why += (judgement_.why.empty() ? "" : ", ") + to_string(value);
    }
  }
  return std::move(judgement_);
}

std::unique_ptr<Trial> make_trial(const Expectation& expectation, std::function<void(SimTime)> violated) {
  switch (expectation.meaning.sentence.form) {
    case Sentence::Form::always:
    case Sentence::Form::never:
      return std::make_unique<Steady>(expectation, std::move(violated));
    case Sentence::Form::eventually:
      return std::make_unique<Eventual>(expectation, std::move(violated));
    case Sentence::Form::after:
      return std::make_unique<Following>(expectation, std::move(violated));
    case Sentence::Form::summary:
      break;
  }
  return std::make_unique<Summary>(expectation, std::move(violated));
}

}  // namespace isochron::expect
