#include <csignal>
#include <cstdio>
#include <exception>

#include "apps/isochron/command.hpp"
#include "apps/isochron/log_sink.hpp"
#include "apps/isochron/machine.hpp"
#include "apps/isochron/python_path.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/input_error.hpp"

using namespace isochron;

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe shows up as a failed write, with a message
  std::signal(SIGXFSZ, SIG_IGN);  // and so does a file that may not grow
  app::offer_python_package();
  CLI::App cli{"Isochron keeps robot programs, simulated worlds and real hardware on one clock.", "isochron"};
  cli.require_subcommand(1);
  cli.set_version_flag("--version", app::describe_build(), "the version, and which parts this build has");
  cli.footer(
      "Exit codes: 0 fine, 1 the answer is no (runs differ, an expectation is violated), 2 bad input, 3 the run "
      "failed,\n"
      "130 stopped by Ctrl-C with everything written. Each verb has its own --help.");
  int verbose = 0;
  std::string log_file;
  cli.add_flag("-v,--verbose", verbose, "say what is being done; -vv: in detail");
  cli.add_option("--log", log_file, "keep all that is said on the way, in detail, as a JSON object on each line");
  app::Action action;
  app::add_run(cli, action);
  app::add_replay(cli, action);
  app::add_fork(cli, action);
  app::add_bisect(cli, action);
  app::add_view(cli, action);
  app::add_serve(cli, action);
  app::add_check(cli, action);
  app::add_launch(cli, action);
  app::add_nodes(cli, action);
  app::add_import(cli, action);
  app::add_export(cli, action);
  app::add_diff(cli, action);
  app::add_journal(cli, action);
  app::add_v2x(cli, action);
  app::add_join(cli, action);
  app::add_sweep(cli, action);
  app::add_report(cli, action);
  app::add_test(cli, action);
  app::add_doctor(cli, action);
  app::add_bench(cli, action);
  app::add_reference(cli, action);
  app::add_completion(cli, action);
  for (CLI::App* verb : cli.get_subcommands({})) verb->fallthrough();
  try {
    cli.parse(argc, argv);
    const app::CommandLog log(verbose > 1    ? LogLevel::detail
                              : verbose == 1 ? LogLevel::info
                                             : LogLevel::warning,
                              log_file);
    return action();
  } catch (const CLI::ParseError& error) {
    const int code = cli.exit(error);
    return code == 0 ? app::exit_fine : app::exit_bad_input;
  } catch (const InputError& error) {
    app::say(std::string(error.what()) + "\n");
    return app::exit_bad_input;
  } catch (const std::exception& error) {
    app::say(std::string("isochron: ") + error.what() + "\n");
    return app::exit_failed;
  }
}
