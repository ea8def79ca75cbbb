#pragma once
// What a scenario can choose about targets, in two words.

namespace isochron::programs {

/// What the loss of a target's connection means: everybody waits for it to come back, they go on, or the run ends.
enum class OnLoss { pause, go_on, end };

/// Time on the link is part of a target's executed time, or is taken out of it.
enum class LinkCost { charged, removed };

}  // namespace isochron::programs
