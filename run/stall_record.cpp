#include "run/stall_record.hpp"

#include "core/log.hpp"

namespace isochron {

void StallRecord::tell(std::vector<WaitRecord> lines) {
  ++stalls_;
  if (!channel_) channel_ = record_.journal().channel<WaitRecord>("/isochron/stall", {.in_digest = false});
  std::string text;
  for (WaitRecord& line : lines) {
    line.stall = stalls_;
    text += (text.empty() ? "" : "\n") + line.node + " " + line.what +
            (line.whom.empty() ? "" : ", because of " + line.whom);
    record_.producer().write(*channel_, std::max(line.at, SimTime::zero()), line);
  }
  warn("run", "nothing moves; who waits for whom:\n" + text);
  watch_.control().stalled(text);
  notes_.push_back("nothing moved:\n" + text);
}

}  // namespace isochron
