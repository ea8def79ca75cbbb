#pragma once
// A recorded run, continued in other ways from a time t on. Everything up to t is done again by replay and compared
// with the record; then each branch goes on with its changes, into a journal of its own, which replays like any other.
//
//     0 ──────────── replay ────────────► t ┬─ branch a ──► until
//                                           ├─ branch b ──► until       shared: one replay, one fork() for each branch
//                                           └─ branch c ──► until
//
// One process with one thread can be forked: there the branches share the way. A run with executables, nodes of flows
// or other processes cannot; then each branch makes the way for itself. Either gives the same journals.
//
// Threads: owner thread. Requires: no other thread runs in this process.
// Fails:   InputError for a journal or a change that cannot be used. A replay that is not what was recorded ends before
//          any branch begins, and says so.

#include <string>
#include <vector>

#include "journal/mcap_reader.hpp"
#include "run/run.hpp"

namespace isochron::app {

struct Branch {
  std::string name;
  std::vector<std::string> changes;  // "KEY=VALUE", or an entry of a fault timeline without its time: "{push: prey, …}"
};

struct BranchPlan {
  std::string journal;
  std::string folder;  // where the scenario's files are now; "" = where they were
  SimTime at;
  std::optional<SimSpan> until;  // none = as long as the scenario says
  std::string output;            // folder of the branches' journals
  std::size_t jobs = 1;
  bool trust = false;
};

struct BranchResult {
  Branch branch;
  std::string journal;
  std::string report;                      // JSON, as of `isochron run --json`; "" = it left none
  std::string why;                         // failed: what to read first
  std::optional<SimTime> first_different;  // from the record
  std::string difference;                  // that record, for people
  [[nodiscard]] bool held() const;
  [[nodiscard]] std::string end() const;
};

struct BranchRun {
  bool shared = false;    // one replay for all
  std::string why_alone;  // not shared: why
  WallSpan way;           // how long the shared replay took
  WallSpan began_after;   // from when it was at t until the last of the first branches had begun
  std::string not_same;   // the replay is not what was recorded: nothing was branched
  std::vector<BranchResult> branches;
};

BranchRun run_branches(const BranchPlan& plan, const std::vector<Branch>& branches);

/// "NAME: KEY=VALUE; {push: prey, …}". Throws InputError.
Branch branch_from(const std::string& text);

}  // namespace isochron::app
