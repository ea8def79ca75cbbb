#include "run/program_record.hpp"

#include <algorithm>

#include "journal/disk.hpp"
#include "journal/mcap_reader.hpp"
#include "protocol/program_protocol.hpp"

namespace isochron {
namespace {

constexpr std::uint8_t clock_value = 100;
constexpr std::uint8_t thread_order = 101;
constexpr auto last_kind = static_cast<std::uint8_t>(programs::Charge::Kind::woke);

std::string as_text(std::span<const std::byte> bytes) {
  std::string text;
  const auto at = [&](std::size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u; };
  for (std::size_t i = 0; i < bytes.size();) {
    const unsigned first = at(i);
    const std::size_t more = first < 0x80                    ? 0
                             : first >= 0xc2 && first < 0xe0 ? 1
                             : first >= 0xe0 && first < 0xf0 ? 2
                             : first >= 0xf0 && first < 0xf5 ? 3
                                                             : 4;
    bool good = more < 4 && first != 0;
    for (std::size_t n = 1; good && n <= more; ++n) good = (at(i + n) & 0xc0) == 0x80;
    if (good && first == 0xe0) good = at(i + 1) >= 0xa0;
    if (good && first == 0xed) good = at(i + 1) < 0xa0;
    if (good && first == 0xf0) good = at(i + 1) >= 0x90;
    if (good && first == 0xf4) good = at(i + 1) < 0x90;
    if (good) {
      for (std::size_t n = 0; n <= more; ++n) text += static_cast<char>(bytes[i + n]);
      i += more + 1;
    } else {
      constexpr const char* digits = "0123456789abcdef";
      text += std::string("\\x") + digits[first >> 4] + digits[first & 15];
      ++i;
    }
  }
  return text;
}

std::string compute_topic(const std::string& program) { return "/compute/" + program; }
std::string events_topic(const std::string& program) { return "/programs/" + program; }

}  // namespace

ProgramRecorder::ProgramRecorder(RunRecord& record, std::vector<std::string> programs, std::vector<Fraction> speeds,
                                 const std::vector<programs::Variable>& variables, std::vector<OutputRecord> outputs,
                                 Producer* producer)
    : record_(record),
      producer_(producer == nullptr ? record.producer() : *producer),
      programs_(std::move(programs)),
      speeds_(std::move(speeds)),
      variables_(variables),
      outputs_(std::move(outputs)),
      events_(programs_.size()),
      printed_(programs_.size()),
      turns_(programs_.size()) {
  outputs_.resize(programs_.size());
  for (std::size_t i = 0; i < speeds_.size(); ++i) {
    events_[i] = record.journal().channel<ProgramEvent>(events_topic(programs_[i]));
    computes_.push_back(record.journal().channel<ComputeRecord>(compute_topic(programs_[i]), {.in_digest = false}));
  }
}

void ProgramRecorder::joined(std::uint32_t program, const std::string& name, Fraction cpu_speed) {
  while (programs_.size() <= program) {
    programs_.push_back(name);
    speeds_.resize(programs_.size(), cpu_speed);  // who is no program, a radio, has none
    outputs_.emplace_back();
    printed_.emplace_back();
    turns_.emplace_back();
    events_.push_back(record_.journal().channel<ProgramEvent>("/programs/" + name));
    computes_.resize(programs_.size());
    computes_.back() = record_.journal().channel<ComputeRecord>(compute_topic(name), {.in_digest = false});
  }
}

void fill(ProgramEvent& event, const programs::Happening& h, const std::vector<std::string>& programs,
          const std::vector<programs::Variable>& variables) {
  using Kind = programs::Happening::Kind;
  event.at = h.at;
  event.what = programs::to_string(h.kind);
  event.about.clear();
  if (h.about != UINT32_MAX) {
    const bool message = h.kind == Kind::send || h.kind == Kind::receive;
    event.about = message ? programs[h.about] : variables[h.about].name;
  }
  event.stamp = h.stamp;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(h.bytes.data());
  event.value.assign(bytes, bytes + h.bytes.size());
}

void ProgramRecorder::happened(const programs::Happening& h) {
  last_ = std::max(last_, h.at);
  if (h.kind == programs::Happening::Kind::output) {
    if (outputs_[h.program] == OutputRecord::none) return;
    auto& channel = printed_[h.program];
    if (!channel) {
      channel = record_.journal().channel<OutputText>(std::string(output_prefix) + programs_[h.program],
                                                      {.in_digest = outputs_[h.program] == OutputRecord::digest});
    }
    producer_.write(*channel, h.at, OutputText{h.at, as_text(h.bytes)});
    return;
  }
  auto& channel = events_[h.program];
  if (!channel) channel = record_.journal().channel<ProgramEvent>(events_topic(programs_[h.program]));
  fill(event_, h, programs_, variables_);
  producer_.write(*channel, h.at, event_);
}

void ProgramRecorder::charge(std::uint32_t program, const programs::Charge& charge) {
  compute_.kind = static_cast<std::uint8_t>(charge.kind);
  compute_.others_run = charge.others_run;
  compute_.link = charge.link;
  compute_.ask = charge.ask;
  compute_.total_ns = charge.total.ns();
  compute_.resumed_ns = charge.resumed.ns();
  compute_.packed.clear();
  compute_.printed = charge.printed;
  write(program);
}

void ProgramRecorder::write(std::uint32_t program) {
  compute_.speed_numerator = speeds_[program].numerator;
  compute_.speed_denominator = speeds_[program].denominator;
  producer_.write(computes_[program], last_, compute_);
}

void ProgramRecorder::clock(std::uint32_t program, std::uint32_t link, std::span<const std::byte> values) {
  packed(program, clock_value, link, values);
}

void ProgramRecorder::order(std::uint32_t program, std::span<const std::byte> order) {
  packed(program, thread_order, 0, order);
}

void ProgramRecorder::packed(std::uint32_t program, std::uint8_t kind, std::uint32_t link,
                             std::span<const std::byte> what) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(what.data());
  compute_.kind = kind;
  compute_.others_run = false;
  compute_.link = link;
  compute_.ask = 0;
  compute_.total_ns = compute_.resumed_ns = 0;
  compute_.packed.assign(bytes, bytes + what.size());
  compute_.printed = 0;
  write(program);
}

void ProgramRecorder::turn(const programs::Turn& turn) {
  auto& channel = turns_[turn.program];
  if (!channel) {
    channel = record_.journal().channel<TurnRecord>(std::string(turns_prefix) + programs_[turn.program],
                                                    {.in_digest = false});
  }
  turn_.asked = turn.asked;
  turn_.from = turn.from;
  turn_.to = turn.to;
  turn_.preempted_by.clear();
  if (turn.preempted_by != programs::Turn::nobody) turn_.preempted_by = programs_[turn.preempted_by];
  producer_.write(*channel, turn.from, turn_);
}

std::shared_ptr<const programs::ComputeTape> load_tape(const std::string& journal, const std::string& program,
                                                       const Place& place) {
  PosixDisk disk;
  auto reader = McapReader::open(disk, journal);
  if (!reader.ok()) throw InputError(place, reader.error().what);
  if (reader->channel(compute_topic(program)) == nullptr) {
    throw InputError(place, "`" + journal + "` has no durations of program " + program,
                     "record them with a run of the same scenario in which its compute is measured");
  }
  auto tape = std::make_shared<programs::ComputeTape>();
  tape->program = program;
  auto cursor = reader->messages_as_written({.topics = {compute_topic(program)}});
  while (const auto message = cursor.next()) {
    const auto record = cdr_read<ComputeRecord>(message->data);
    if (!record.ok() || record->link >= protocol::links_max ||
        (record->kind > last_kind && record->kind != clock_value && record->kind != thread_order)) {
      throw InputError(place, "`" + journal + "` has a record of durations that cannot be read");
    }
    tape->cpu_speed = {record->speed_numerator, record->speed_denominator};
    const auto* bytes = reinterpret_cast<const std::byte*>(record->packed.data());
    if (record->kind == thread_order) {
      tape->order.insert(tape->order.end(), bytes, bytes + record->packed.size());
    } else if (record->kind == clock_value) {
      if (tape->clocks.size() <= record->link) tape->clocks.resize(record->link + 1);
      tape->clocks[record->link].emplace_back(bytes, bytes + record->packed.size());
    } else {
      programs::Charge charge;
      charge.kind = static_cast<programs::Charge::Kind>(record->kind);
      charge.others_run = record->others_run;
      charge.link = record->link;
      charge.ask = record->ask;
      charge.total = CpuTime::from_ns(record->total_ns);
      charge.resumed = SimTime::from_ns(record->resumed_ns);
      charge.printed = record->printed;
      tape->charges.push_back(charge);
    }
  }
  return tape;
}

}  // namespace isochron
