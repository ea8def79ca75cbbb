#include "programs/stall_watch.hpp"

#include "core/time_text.hpp"

namespace isochron::programs {

void StallWatch::look(const Timeline::Event& event) {
  using Kind = Timeline::Event::Kind;
  const bool waits = event.kind == Kind::arrive || event.kind == Kind::stalled || event.kind == Kind::listen;
  if (!waits || moved_ == WallTime()) {
    moved_ = all_.watch.last();
    told_ = false;
    return;
  }
  if (told_ || !all_.options.on_stall || all_.watch.last() - moved_ < all_.options.stall_after) return;
  told_ = true;
  tell(event.program);
}

void StallWatch::tell(std::uint32_t culprit) {
  const Timeline& timeline = *all_.timeline;
  const std::string& name = all_.name_of(culprit);
  std::vector<CoordinatorOptions::Standing> found;
  found.push_back({name, all_.is_board(culprit) ? "computes, or its link is silent" : timeline.describe(culprit), "",
                   timeline.program_time(culprit)});
  found.push_back({"world", "waits at " + to_string(timeline.world()), name, timeline.world()});
  for (std::uint32_t i = 0; i < timeline.programs(); ++i) {
    if (i == culprit || timeline.gone(i)) continue;
    const std::string in_call = stacks_.system() != nullptr ? stacks_.system()->describe(i) : "";
    found.push_back(
        {all_.name_of(i), in_call.empty() ? timeline.describe(i) : in_call, name, timeline.program_time(i)});
  }
  all_.options.on_stall(found);
}

}  // namespace isochron::programs
