#include "apps/isochron/link_flags.hpp"

#include "core/input_error.hpp"

namespace isochron::app {
namespace {

template <class T>
T demand(Result<T, std::string> result, const char* flag) {
  if (!result) throw InputError({flag, 0, 0}, result.error());
  return std::move(result).value();
}

}  // namespace

void add_key_flags(CLI::App& verb, KeyFlags& flags) {
  verb.add_option("--key", flags.file, "file with the shared key, readable by its owner only; else $ISOCHRON_KEY")
      ->type_name("FILE");
}

link::Key key_of(const KeyFlags& flags) {
  if (!flags.file.empty()) return link::Key::from_file(flags.file);
  if (auto key = link::Key::from_environment("ISOCHRON_KEY")) return *key;
  throw InputError({"--key", 0, 0}, "only holders of a key may join, and none was given",
                   "make one with `openssl rand -hex 32 > key; chmod 600 key`, then --key key, or set ISOCHRON_KEY");
}

void add_fault_flags(CLI::App& verb, FaultFlags& flags) {
  verb.add_option("--loss", flags.loss, "lose this share of what links carry, each way: 5%")->type_name("SHARE");
  verb.add_option("--delay", flags.delay, "delay it, each way: 20ms±5")->type_name("TIME");
  verb.add_option("--duplicate", flags.duplicate, "double this share of datagrams: 1%")->type_name("SHARE");
  verb.add_flag("--reorder", flags.reorder, "let one datagram in ten be overtaken");
  verb.add_option("--fault-seed", flags.seed, "of the faults; the scenario's if left out")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
}

std::vector<Override> overrides(const FaultFlags& flags) {
  std::vector<Override> all;
  const auto given = [&](const std::string& value, const char* path) {
    if (!value.empty()) all.push_back({path, value});
  };
  given(flags.loss, "faults.loss");
  given(flags.delay, "faults.delay");
  given(flags.duplicate, "faults.duplicate");
  given(flags.reorder ? "true" : "", "faults.reorder");
  given(flags.seed, "faults.seed");
  return all;
}

link::Faults faults_of(const FaultFlags& flags) {
  link::Faults faults;
  if (!flags.loss.empty()) faults.loss = demand(link::parse_share(flags.loss), "--loss");
  if (!flags.duplicate.empty()) faults.duplicate = demand(link::parse_share(flags.duplicate), "--duplicate");
  if (!flags.delay.empty()) {
    std::tie(faults.delay, faults.jitter) = demand(link::parse_delay(flags.delay), "--delay");
  }
  faults.reorder = flags.reorder;
  if (!flags.seed.empty()) faults.seed = std::stoull(flags.seed);
  return faults;
}

}  // namespace isochron::app
