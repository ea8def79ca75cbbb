#pragma once
// The verbs of the `isochron` command. Each has a file of its own, declares its flags with add_…() and returns its exit
// code; main.cpp knows nothing but their names.
//
// Exit codes: 0 fine · 1 the answer is no (runs differ, an expectation is violated) · 2 bad input or usage, nothing
//             started · 3 the run failed (a participant died, the disk is full) · 130 stopped by Ctrl-C, everything
//             written.

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace isochron::app {

inline constexpr int exit_fine = 0;
inline constexpr int exit_no = 1;
inline constexpr int exit_bad_input = 2;
inline constexpr int exit_failed = 3;
inline constexpr int exit_interrupted = 130;

/// What main() calls after parsing; set by the verb that was named.
using Action = std::function<int()>;

void add_run(CLI::App& app, Action& action);
void add_replay(CLI::App& app, Action& action);
void add_fork(CLI::App& app, Action& action);
void add_bisect(CLI::App& app, Action& action);
void add_view(CLI::App& app, Action& action);
void add_serve(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_launch(CLI::App& app, Action& action);
void add_nodes(CLI::App& app, Action& action);
void add_import(CLI::App& app, Action& action);
void add_export(CLI::App& app, Action& action);
void add_diff(CLI::App& app, Action& action);
void add_journal(CLI::App& app, Action& action);
void add_v2x(CLI::App& app, Action& action);
/// `journal export` and `journal distance`; called by add_journal.
void add_journal_export(CLI::App& journal, Action& action);
/// `serve agents`; called by add_serve.
void add_serve_agents(CLI::App& serve, Action& action);
void add_serve_comm(CLI::App& serve, Action& action);
void add_serve_fmu(CLI::App& serve, Action& action);
void add_join(CLI::App& app, Action& action);
void add_sweep(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_test(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_reference(CLI::App& app, Action& action);
void add_completion(CLI::App& app, Action& action);

}  // namespace isochron::app
