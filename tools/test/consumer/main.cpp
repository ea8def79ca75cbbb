#include <isochron/core/drift.hpp>
#include <isochron/core/time_text.hpp>

#include <cstdio>

int main() {
  using namespace isochron;
  DriftLedger ledger(2);
  ledger.record(ParticipantId(0), WallTime::from_ns(1), SimTime::from_ns(3'000'000));
  ledger.settle();
  std::puts(to_string(ledger.max()).c_str());
  return ledger.max() == SimSpan::from_ns(3'000'000) ? 0 : 1;
}
