#pragma once
// What a scenario can choose about targets, in two words.

namespace isochron::programs {

/// What the loss of a target's connection means: everybody waits for it to come back, they go on, or the run ends.
enum class OnLoss { pause, go_on, end };

/// Time on the link is part of a target's executed time, or is taken out of it.
enum class LinkCost { charged, removed };

/// What becomes of a target whose clock is wrong: the host's clock counts for it, or it is shown out.
enum class WrongClock { charged, fenced };

/// Answers are held back until simulated time is there, or they leave at once: a target that cannot be stopped.
enum class Runs { held, free };

}  // namespace isochron::programs
