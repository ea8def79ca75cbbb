#pragma once
// What a run of flows leaves in the journal: every message on a channel for its flow, each node's progress in the
// ledger, what programs did, and the wait-for graph of every stall.
//
// Threads: sent() as flow::SentObserver says; stalled() from any thread.

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include "flow/run.hpp"
#include "run/flow_plan.hpp"
#include "run/program_record.hpp"
#include "run/run_record.hpp"
#include "run/serial_drift.hpp"
#include "run/stall_record.hpp"

namespace isochron {

class FlowRecorder final : public flow::SentObserver {
 public:
  /// With `only`: the flows of that node, which is the journal's only participant.
  FlowRecorder(const FlowPlan& plan, const Scenario& scenario, RunRecord& record, RunWatch& watch,
               std::optional<std::uint32_t> only = std::nullopt);
  /// Before the run: all messages will be told from one thread, as they are sent.
  void expect_one_thread(std::uint32_t nodes) { drift_.emplace(nodes); }
  /// Before the run: it began so long ago elsewhere, and the pace counts from then.
  void expect_behind(WallSpan behind) { behind_ = behind; }
  /// Drift where it is known here; else the record's ledger has it.
  [[nodiscard]] std::optional<SerialDrift>& drift() { return drift_; }

  void sent(const flow::Sent& message) override;
  void stalled(const flow::WaitForGraph& graph);
  /// Whether a node is held back on purpose, by the pace or a pause; "" = whether any is.
  [[nodiscard]] bool holds(std::string_view node) const;
  [[nodiscard]] SimTime newest() const { return SimTime::from_ns(newest_.load(std::memory_order_relaxed)); }
  /// After the run.
  [[nodiscard]] std::vector<ProgramReport> programs() const;
  [[nodiscard]] std::vector<std::string> lateness() const;
  /// What programs were refused, the first of each, as sentences.
  [[nodiscard]] std::vector<std::string> faults() const;

 private:
  /// What one program did, as its flow told it.
  struct Tally {
    SimSpan every;
    ProgramReport report;
    SimTime released;
    SimTime due = SimTime::before_all();
    std::vector<std::string> faults{};
    void take(const ProgramEvent& event);
  };
  /// A flow's channel. Where flows may be told from different threads each has a producer of its own.
  struct RecordedFlow {
    ChannelId channel;
    Producer* producer;  // null = not journaled
    ParticipantId node;
    bool raw = false;        // its bytes are its memory
    bool held_back = false;  // there is a pace, or somebody may pause the run
    Pacer pacer;
    Tally* tally;
    std::string source;  // the node
    std::unique_ptr<std::atomic<bool>> held = std::make_unique<std::atomic<bool>>(false);
    std::function<void(const void* value)> watch;
  };
  void begin();
  void hold_back(RecordedFlow& recorded, SimTime time);

  RunRecord& record_;
  RunWatch& watch_;
  std::map<std::string, Tally> tallies_;
  std::vector<RecordedFlow> recorded_;
  std::atomic<bool> begun_{false};
  std::mutex begin_mutex_;
  WallSpan behind_;
  std::atomic<std::int64_t> newest_{0};
  std::optional<SerialDrift> drift_;
  std::mutex stall_mutex_;
  ChannelId stall_channel_;
  Producer* stall_producer_;
  std::uint32_t stalls_ = 0;
};

}  // namespace isochron
