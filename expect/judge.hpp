#pragma once
// The judge looks at the records of a run, as they are written or later from its journal, and says which expectations
// held. It takes no part in the run: as a tap it works on the journal's writer thread.
//
//     records ──► watchers (one for each expectation, one for each thing that a summary gathers)
//                    └─► trials: always · never · eventually · after · summary ──► judgements
//
// Promises: the same records in each channel give the same judgements, whatever the order of channels in the file.
// Requires: defined() before a channel's first record; finish() once, when there are no more.
// Threads:  owner thread; the journal's writer thread while the run goes on, and then whoever closes it.
// Cost:     a channel that no expectation looks at costs one look into a list.

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "expect/expectation.hpp"
#include "expect/judgement.hpp"
#include "journal/mcap_reader.hpp"
#include "journal/tap.hpp"

namespace isochron::expect {

/// The numbers of a report, by name: predator/planner.missed_deadlines.
struct Figure {
  double value = 0;
  Quantity quantity = Quantity::number;
};
using Figures = std::map<std::string, Figure>;

class Trial;

struct JudgeOptions {
  JournalTap* next = nullptr;               // is told everything too
  bool end_at_first_violation = false;      // what comes after it is not looked at
  std::function<void()> on_violation = {};  // at the first one
};

class Judge final : public JournalTap {
 public:
  explicit Judge(std::vector<Expectation> expectations, JudgeOptions options = {});
  ~Judge() override;

  void defined(std::size_t channel, const ChannelDefinition& definition) override;
  void recorded(std::size_t channel, SimTime time, std::span<const std::byte> record) override;

  /// The names of a journal that exists already, instead of defined().
  void know(Names names);
  /// When the first violation was; nothing so far.
  [[nodiscard]] std::optional<SimTime> violated_at() const { return violated_at_; }

  /// `end`: how far the run came.
  std::vector<Judgement> finish(const Figures& figures, SimTime end);

 private:
  void look_for_names();
  void learn(std::size_t channel, std::span<const std::byte> record);

  std::vector<Expectation> expectations_;
  JudgeOptions options_;
  Names names_;
  std::vector<std::unique_ptr<Trial>> trials_;
  std::vector<std::vector<Trial*>> looking_;  // at each channel
  std::vector<std::uint64_t> unlearnt_;       // records since names were looked for in them, by channel
  bool names_missing_ = true;
  std::optional<SimTime> violated_at_;
};

/// Judges a journal. `figures` are those of its report; among them `simulated`, how far the run came.
std::vector<Judgement> judge(McapReader& journal, std::vector<Expectation> expectations, const Figures& figures);

}  // namespace isochron::expect
