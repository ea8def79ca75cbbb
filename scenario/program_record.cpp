#include "scenario/program_record.hpp"

#include <algorithm>

#include "journal/disk.hpp"
#include "journal/mcap_reader.hpp"

namespace isochron {
namespace {

constexpr std::uint8_t clock_value = 100;
constexpr auto last_kind = static_cast<std::uint8_t>(coordinator::Charge::Kind::unfinished);

std::string compute_topic(const std::string& program) { return "/compute/" + program; }

}  // namespace

ProgramRecorder::ProgramRecorder(RunRecord& record, std::vector<std::string> programs, std::vector<Fraction> speeds,
                                 const std::vector<coordinator::Variable>& variables)
    : record_(record),
      programs_(std::move(programs)),
      speeds_(std::move(speeds)),
      variables_(variables),
      turns_(programs_.size()) {
  for (const std::string& program : programs_) {
    events_.push_back(record.journal().channel<ProgramEvent>("/programs/" + program));
    computes_.push_back(record.journal().channel<ComputeRecord>(compute_topic(program), {.in_digest = false}));
  }
}

ProgramEvent event_of(const coordinator::Happening& h, const std::vector<std::string>& programs,
                      const std::vector<coordinator::Variable>& variables) {
  using Kind = coordinator::Happening::Kind;
  ProgramEvent event{h.at, coordinator::to_string(h.kind), "", h.stamp, {}};
  if (h.about != UINT32_MAX) {
    const bool message = h.kind == Kind::send || h.kind == Kind::receive;
    event.about = message ? programs[h.about] : variables[h.about].name;
  }
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(h.bytes.data());
  event.value.assign(bytes, bytes + h.bytes.size());
  return event;
}

void ProgramRecorder::happened(const coordinator::Happening& h) {
  last_ = std::max(last_, h.at);
  record_.producer().write(events_[h.program], h.at, event_of(h, programs_, variables_));
}

void ProgramRecorder::charge(std::uint32_t program, const coordinator::Charge& charge) {
  const Fraction speed = speeds_[program];
  record_.producer().write(computes_[program], last_,
                           ComputeRecord{static_cast<std::uint8_t>(charge.kind), charge.others_run, charge.link,
                                         charge.total.ns(), charge.resumed.ns(), speed.numerator, speed.denominator});
}

void ProgramRecorder::clock(std::uint32_t program, std::uint32_t link, SimTime value) {
  const Fraction speed = speeds_[program];
  record_.producer().write(computes_[program], last_,
                           ComputeRecord{clock_value, false, link, value.ns(), 0, speed.numerator, speed.denominator});
}

void ProgramRecorder::turn(const coordinator::Turn& turn) {
  auto& channel = turns_[turn.program];
  if (!channel) {
    channel = record_.journal().channel<TurnRecord>(std::string(turns_prefix) + programs_[turn.program],
                                                    {.in_digest = false});
  }
  const bool preempted = turn.preempted_by != coordinator::Turn::nobody;
  record_.producer().write(
      *channel, turn.from,
      TurnRecord{turn.asked, turn.from, turn.to, preempted ? programs_[turn.preempted_by] : std::string()});
}

std::shared_ptr<const coordinator::ComputeTape> load_tape(const std::string& journal, const std::string& program,
                                                          const Place& place) {
  PosixDisk disk;
  auto reader = McapReader::open(disk, journal);
  if (!reader.ok()) throw InputError(place, reader.error().what);
  if (reader->channel(compute_topic(program)) == nullptr) {
    throw InputError(place, "`" + journal + "` has no durations of program " + program,
                     "record them with a run of the same scenario in which its compute is measured");
  }
  auto tape = std::make_shared<coordinator::ComputeTape>();
  tape->program = program;
  auto cursor = reader->messages_as_written({.topics = {compute_topic(program)}});
  while (const auto message = cursor.next()) {
    const auto record = cdr_read<ComputeRecord>(message->data);
    if (!record.ok() || record->link >= 64 || (record->kind > last_kind && record->kind != clock_value)) {
      throw InputError(place, "`" + journal + "` has a record of durations that cannot be read");
    }
    tape->cpu_speed = {record->speed_numerator, record->speed_denominator};
    if (record->kind == clock_value) {
      if (tape->clocks.size() <= record->link) tape->clocks.resize(record->link + 1);
      tape->clocks[record->link].push_back(SimTime::from_ns(record->total_ns));
    } else {
      coordinator::Charge charge;
      charge.kind = static_cast<coordinator::Charge::Kind>(record->kind);
      charge.others_run = record->others_run;
      charge.link = record->link;
      charge.total = CpuTime::from_ns(record->total_ns);
      charge.resumed = SimTime::from_ns(record->resumed_ns);
      tape->charges.push_back(charge);
    }
  }
  return tape;
}

}  // namespace isochron
