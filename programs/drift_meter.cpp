#include "programs/drift_meter.hpp"

#include <algorithm>

namespace isochron::programs {

namespace {
std::size_t participants_of(const Ensemble& all) {
  return 1 + all.robot_cpus + (all.boards != nullptr ? all.boards->slots() : 0);
}
}  // namespace

DriftMeter::DriftMeter(Ensemble& all)
    : all_(all),
      ledger_(participants_of(all), std::clamp<std::size_t>((4U << 20U) / participants_of(all), 1024, 65536),
              all.plant.time()) {
  if (all.boards == nullptr) return;
  for (std::uint32_t slot = 0; slot < all.boards->slots(); ++slot) {
    board_left(slot, all.boards->now());  // nobody is there yet
  }
}

void DriftMeter::record(std::uint32_t cpu) {
  ledger_.record(ParticipantId(cpu + 1), all_.now(), all_.timeline->progress(cpu));
}

void DriftMeter::record_all() {
  const WallTime when = all_.now();
  ledger_.record(ParticipantId(0), when, all_.timeline->world());
  for (std::uint32_t c = 0; c < all_.robot_cpus; ++c) {
    ledger_.record(ParticipantId(c + 1), when, all_.timeline->progress(c));
  }
  if (all_.boards != nullptr) all_.boards->record_times(when);
  if (all_.outcome.steps % 64 == 0) ledger_.fold([this](SimSpan delta) { histogram_.record(delta.ns()); });
}

SimSpan DriftMeter::so_far() const {
  SimSpan most = ledger_.max();
  const SimSpan world = all_.timeline->world().since_zero();
  for (const auto& m : all_.members) {
    if (!m->cost.zero()) continue;
    most = std::max(most, ComputeRate().apply(m->process->cpu_time() - m->cpu_base) - world);
  }
  for (const auto& called : all_.callees) {
    if (called->free()) most = std::max(most, ComputeRate().apply(called->executed()) - world);
  }
  return most;
}

void DriftMeter::settle() {
  ledger_.settle([this](SimSpan delta) { histogram_.record(delta.ns()); });
  RunOutcome& outcome = all_.outcome;
  outcome.drift_max = ledger_.max();
  outcome.drift_p50 = SimSpan::from_ns(histogram_.percentile(50));
  outcome.drift_p99 = SimSpan::from_ns(histogram_.percentile(99));
  outcome.drift_p999 = SimSpan::from_ns(histogram_.percentile(99.9));
  outcome.drift_exact = ledger_.exact();
  outcome.drift_series = ledger_.series().points();
}

void DriftMeter::board_at(std::uint32_t slot, WallTime now, SimTime executed) {
  ledger_.record(ParticipantId(1 + all_.robot_cpus + slot), now, executed);
}

void DriftMeter::board_left(std::uint32_t slot, WallTime now) {
  ledger_.leave(ParticipantId(1 + all_.robot_cpus + slot), now);
}

}  // namespace isochron::programs
