#include "run/verdict.hpp"

#include <algorithm>
#include <chrono>

#include "core/time_text.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;

// What programs execute beyond their turns: 3 us as a rule, 200 us once in thousands of times on a virtual machine.
constexpr SimSpan usual_overrun = 250us;
// Beyond what is explained; more than that is no matter of a timer.
constexpr SimSpan most_unexplained = 1ms;

struct Judged {
  Coherence coherence;
  std::string why;
};

std::string span(SimSpan value) { return format_ns_short(value.ns()); }

Judged judge_hil(const HilReport& hil) {
  if (!hil.synced) return {Coherence::not_coherent, "answers were not held until the world was there (sync is off)"};
  for (const HilTargetReport& target : hil.targets) {
    if (target.clock_faults > 0) return {Coherence::not_coherent, "the clock of " + target.name + " was at fault"};
  }
  for (const HilTargetReport& target : hil.targets) {
    if (target.held) continue;
    return {Coherence::wall_clock, target.name + " runs free, at most " +
                                       span(SimSpan::from_ns(static_cast<std::int64_t>(target.apart_most_s * 1e9))) +
                                       " apart from simulated time"};
  }
  return {Coherence::coherent, "no answer came before the world was there"};
}

Judged judge_free(const RunReport& report) {
  if (report.promised && report.drift_max <= *report.promised + usual_overrun) {
    return {Coherence::free, "and nobody computed for longer than the world lasted"};
  }
  return {Coherence::free, "for " + span(report.drift_max) + " more than the world lasted"};
}

Judged judge_drift(const RunReport& report) {
  const SimSpan promised = *report.promised, most = report.drift_max;
  const SimSpan nearly_all = std::min(report.drift_p999, most);
  const std::string within = "99.9 % of drift within " + span(nearly_all) + " (" + to_string(promised) + " promised)";
  if (nearly_all > promised + usual_overrun) return {Coherence::not_coherent, within + ", at most " + span(most)};
  if (most <= promised + usual_overrun) return {Coherence::coherent, within};
  const bool explained = !report.late_preemption.empty() && most <= promised + report.late_beyond + most_unexplained;
  const std::string worst = within + ", at most " + span(most) + ": " +
                            (explained ? report.late_preemption : std::string("no late preemption explains it"));
  return {explained || most <= promised + most_unexplained ? Coherence::coherent : Coherence::not_coherent, worst};
}

Judged judge(const RunReport& report) {
  if (report.hil) return judge_hil(*report.hil);
  if (report.mode == Mode::callback) return judge_free(report);
  if (report.mode == Mode::realtime) return {Coherence::wall_clock, "whoever is late is counted"};
  if (report.promised) return judge_drift(report);
  if (report.in_order) return {Coherence::in_order, "every message was taken in at its time"};
  return {Coherence::not_judged, "no order and no drift is promised here"};
}

std::string deadlines(const RunReport& report) {
  if (report.programs.empty()) return "";
  std::uint64_t missed = 0;
  for (const ProgramReport& program : report.programs) missed += program.missed_deadlines;
  if (missed == 0) return " · no deadline missed";
  return " · " + std::to_string(missed) + (missed == 1 ? " deadline missed" : " deadlines missed");
}

std::string expectations(const RunReport& report) {
  const std::size_t all = report.expectations.size();
  if (all == 0) return "";
  const auto count = [&](expect::Verdict verdict) {
    return static_cast<std::size_t>(std::ranges::count(report.expectations, verdict, &expect::Judgement::verdict));
  };
  const std::size_t held = count(expect::Verdict::held), violated = count(expect::Verdict::violated);
  if (held == all) return all == 1 ? " · the expectation held" : " · all " + std::to_string(all) + " expectations held";
  if (violated == 0)
    return " · " + std::to_string(all - held) + " of " + std::to_string(all) + " expectations not seen";
  return " · " + std::to_string(violated) + " of " + std::to_string(all) + " expectations violated";
}

std::string repeatability(const RunReport& report) {
  if (report.not_repeatable.empty()) return " · repeats";
  const std::size_t others = report.not_repeatable.size() - 1;
  return " · does not repeat: " + report.not_repeatable.front() +
         (others == 0 ? "" : ", and " + std::to_string(others) + " more");
}

}  // namespace

const char* to_string(Coherence coherence) {
  switch (coherence) {
    case Coherence::coherent:
      return "coherent";
    case Coherence::not_coherent:
      return "not coherent";
    case Coherence::free:
      return "computing was free";
    case Coherence::wall_clock:
      return "on the wall clock";
    case Coherence::in_order:
      return "in order";
    case Coherence::not_judged:
      break;
  }
  return "coherence not judged";
}

Verdict verdict_of(const RunReport& report) {
  const Judged judged = judge(report);
  const std::string separator = judged.coherence == Coherence::free ? " " : ": ";
  return {judged.coherence, judged.why,
          to_string(judged.coherence) + separator + judged.why + deadlines(report) + expectations(report) +
              repeatability(report)};
}

}  // namespace isochron
