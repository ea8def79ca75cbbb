// `isochron bench` in a build without benchmarks (ISOCHRON_BENCH=OFF), such as that of ./dev demo.

#include "apps/isochron/command.hpp"
#include "core/input_error.hpp"

namespace isochron::app {

void add_bench(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("bench", "measure; this build has no benchmarks");
  verb->allow_extras();
  verb->callback([&action] {
    action = []() -> int {
      throw InputError({"", 0, 0}, "this build of Isochron has no benchmarks", "./dev bench builds and runs them");
    };
  });
}

}  // namespace isochron::app
