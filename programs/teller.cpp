#include "programs/teller.hpp"

namespace isochron::programs {

namespace {
constexpr std::uint64_t most_output_recorded = 16u << 20;
}

void Teller::output(std::uint32_t program, const std::string& text, SimTime at) {
  Member& m = *all_.members[program];
  m.output_told += text.size();
  const auto tell_text = [&](const std::string& what) {
    tell(program, Happening::Kind::output, at, UINT32_MAX, std::as_bytes(std::span(what)), {});
  };
  if (m.output_told <= most_output_recorded) return tell_text(text);
  std::uint64_t sum = 14695981039346656037u;  // FNV-1a
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211u;
  tell_text("[" + std::to_string(text.size()) + " bytes, " + std::to_string(sum) + "]");
}

void Teller::flush(SimTime before) {
  if (all_.recorder == nullptr) return;
  queue_.take(before, [this](const Happening& happening) { all_.recorder->happened(happening); });
}

void Teller::turns() {
  const auto recorded_as = [this](std::uint32_t program) {
    return program != Turn::nobody && all_.is_board(program) ? all_.boards->party_of(program) : program;
  };
  for (Turn& turn : all_.timeline->turns()) {
    turn.program = recorded_as(turn.program);
    turn.preempted_by = recorded_as(turn.preempted_by);
    if (all_.recorder != nullptr) all_.recorder->turn(turn);
  }
  all_.timeline->turns().clear();
}

}  // namespace isochron::programs
