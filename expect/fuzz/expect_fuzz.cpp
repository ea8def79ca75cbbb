// Any text as an expectation: read, checked against a few names, and judged over a few records. Nothing may crash or
// hang, and what is understood must be understood again from its own text.
#include <cstdint>
#include <cstdlib>

#include "core/cdr.hpp"
#include "core/schema.hpp"
#include "expect/judge.hpp"

namespace isochron {

struct FuzzState {
  SimTime stamp;
  std::array<double, 3> position{};
  bool fine = false;
  std::string what;
};
ISOCHRON_MESSAGE(FuzzState, "p/msg/State", stamp, position, fine, what)

}  // namespace isochron

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace isochron;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<Mistake> mistakes;
  auto read = expect::read_expectation("fuzzed", text, {"file", 1, 1}, true, mistakes);
  if (!read) {
    if (mistakes.empty()) std::abort();
    return 0;
  }
  if (!expect::parse(read->text())) std::abort();
  Names names;
  const ChannelDefinition a{"/a", {message_name<FuzzState>(), ros2msg_schema<FuzzState>()}, {}};
  names.add(0, a);
  const std::map<std::string, Quantity> figures{{"missed", Quantity::number}};
  expect::check_expectation(*read, {names, figures}, mistakes);
  std::vector<expect::Expectation> all;
  all.push_back(std::move(*read));
  expect::Judge judge(std::move(all));
  judge.defined(0, a);
  for (int i = 0; i < 8; ++i) {
    const FuzzState state{SimTime::from_ns(i * 100'000'000), {0.5 * i, 1, 2}, i % 3 == 0, i % 2 == 0 ? "send" : ""};
    judge.recorded(0, state.stamp, cdr_bytes(state));
  }
  const auto judgements = judge.finish({{"missed", {1, Quantity::number}}}, SimTime::from_ns(1'000'000'000));
  if (judgements.size() != 1 || judgements[0].why.empty()) std::abort();
  return 0;
}
