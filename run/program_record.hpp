#pragma once
// What programs did and what it cost, in the journal and back. Happenings count in the digest, one channel for each
// program; durations and clock values do not: they are the tape that the compute contract `recorded` plays.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "journal/journal.hpp"
#include "programs/plant.hpp"
#include "programs/recorder.hpp"
#include "run/run_record.hpp"
#include "scenario/scenario.hpp"

namespace isochron {

/// One thing that happened to a program.
struct ProgramEvent {
  SimTime at;
  std::string what;   // read, write, send, receive, release, log, …
  std::string about;  // the variable, or the other program
  SimTime stamp;
  std::vector<std::uint8_t> value;
};
ISOCHRON_MESSAGE(ProgramEvent, "isochron_msgs/msg/ProgramEvent", at, what, about, stamp, value)

/// One piece of a tape: a charge (its kind as in programs/tape.hpp), or values read from the clock (kind 100),
/// packed as in protocol/clock_values.hpp.
struct ComputeRecord {
  std::uint8_t kind = 0;
  bool others_run = false;
  std::uint32_t link = 0;
  std::uint8_t ask = 0;
  std::int64_t total_ns = 0;
  std::int64_t resumed_ns = 0;
  std::int64_t speed_numerator = 1;
  std::int64_t speed_denominator = 1;
  std::vector<std::uint8_t> packed;
  std::uint64_t printed = 0;  // of a charge: bytes, up to then
};
ISOCHRON_MESSAGE(ComputeRecord, "isochron_msgs/msg/Compute", kind, others_run, link, ask, total_ns, resumed_ns,
                 speed_numerator, speed_denominator, packed, printed)

/// One turn on a core (programs/turn.hpp).
struct TurnRecord {
  SimTime asked, from, to;
  std::string preempted_by;  // "": it waits
};
ISOCHRON_MESSAGE(TurnRecord, "isochron_msgs/msg/Turn", asked, from, to, preempted_by)
inline constexpr std::string_view turns_prefix = "/turns/";

/// A happening as it is recorded; `programs` and `variables` give its names.
void fill(ProgramEvent& event, const programs::Happening& happening, const std::vector<std::string>& programs,
          const std::vector<programs::Variable>& variables);

/// What a program printed until then. Bytes that are not UTF-8 are written as \xNN.
struct OutputText {
  SimTime at;
  std::string text;
};
ISOCHRON_MESSAGE(OutputText, "isochron_msgs/msg/Output", at, text)
inline constexpr std::string_view output_prefix = "/output/";

class ProgramRecorder final : public programs::Recorder {
 public:
  /// Of `programs` those with a speed are programs; the others are whom they talk to, and have no channel before they
  /// do something.
  ProgramRecorder(RunRecord& record, std::vector<std::string> programs, std::vector<Fraction> speeds,
                  const std::vector<programs::Variable>& variables, std::vector<OutputRecord> outputs = {},
                  Producer* producer = nullptr);

  void happened(const programs::Happening& happening) override;
  void joined(std::uint32_t program, const std::string& name, Fraction cpu_speed) override;
  void charge(std::uint32_t program, const programs::Charge& charge) override;
  void clock(std::uint32_t program, std::uint32_t link, std::span<const std::byte> values) override;
  void order(std::uint32_t program, std::span<const std::byte> order) override;
  void turn(const programs::Turn& turn) override;

 private:
  void packed(std::uint32_t program, std::uint8_t kind, std::uint32_t link, std::span<const std::byte> what);
  void write(std::uint32_t program);
  RunRecord& record_;
  Producer& producer_;  // the record's, unless another thread writes
  std::vector<std::string> programs_;
  std::vector<Fraction> speeds_;
  const std::vector<programs::Variable>& variables_;
  std::vector<OutputRecord> outputs_;
  std::vector<std::optional<ChannelId>> events_;
  std::vector<std::optional<ChannelId>> printed_;  // of those that printed
  std::vector<ChannelId> computes_;
  std::vector<std::optional<ChannelId>> turns_;  // of those that had one: boards have none
  SimTime last_;
  ProgramEvent event_;  // room for what is written, so that none is made for each
  ComputeRecord compute_;
  TurnRecord turn_;
};

/// The tape of one program ("predator/planner") of a recorded run. Throws InputError placed at `place`.
std::shared_ptr<const programs::ComputeTape> load_tape(const std::string& journal, const std::string& program,
                                                       const Place& place);

}  // namespace isochron
