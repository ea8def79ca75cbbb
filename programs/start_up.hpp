#pragma once
// What a program that knows nothing of us executes until it first waits is free: loading libraries, imports, the shell
// that starts it. The world waits meanwhile, and its clock stands.
//
//      attach        first wait, look or request
//      |.............|##########                   dots: executed, not charged
//      |########################                   it ended, or used more than its allowance, without any of these
//
// So work is free only where something shows that it was start-up. A program that computes to its end without looking
// at the clock is charged for all of it, before anybody sees its end. A look at the clock ends the start-up too, since
// who watches the clock computes towards a time; but not of an interpreter, which looks while it imports.
//
// A block (a file that is read, a child of a shell that is waited for) is free as well, if it is short, or if there is
// a child to wait for. Otherwise the program waits for somebody else, who cannot come while the world stands still.
//
// Threads: the coordinator's.

#include "programs/member.hpp"
#include "programs/timeline.hpp"

namespace isochron::programs {

/// It attached. A program that execs another attaches again, and goes on starting up if it did.
void attached(Member& m, const protocol::Exchange& exchange);
/// Somebody who starts up executed more.
void forgive_start_up(Member& m, CpuSpan executed, Timeline& timeline);
void end_start_up(Member& m);
/// It ends, and nothing is forgiven.
void charge_start_up(Member& m, Timeline& timeline);
/// Whether it is blocked in its start-up, which is free.
bool blocks_while_starting(Member& m, WallTime now, Timeline& timeline);

}  // namespace isochron::programs
