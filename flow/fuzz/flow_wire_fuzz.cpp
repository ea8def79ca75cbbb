// Bytes of a peer, cut anywhere: the reader, the peer and the node behind it may refuse them, but nothing else.

#include "flow/island.hpp"

namespace {

using namespace isochron;
using namespace isochron::flow;
using namespace std::chrono_literals;

struct Drop : Transport {
  void send(std::span<const std::byte>) override {}
};

class Out : public UserNode {
  void fill(std::int64_t& value) { value = 1; }
  Input<std::int64_t> in_ = input<std::int64_t>("in");
  Output<std::int64_t> out_ = output<&Out::fill>("out", every(1ms), 2);
  Event<std::int64_t> event_ = event<std::int64_t>("event", 1ms, 2);
};
class In : public UserNode {
  void fill(std::int64_t& value) { value = 1; }
  Input<std::int64_t> in_ = input<std::int64_t>("in");
  Input<std::int64_t> event_ = input<std::int64_t>("event");
  Output<std::int64_t> out_ = output<&In::fill>("out", every(1ms), 2);
};

struct Keep : Transport {
  void send(std::span<const std::byte> sent) override { bytes.assign(sent.begin(), sent.end()); }
  std::vector<std::byte> bytes;
};

System make() {
  System system;
  system.add<Out>("out");
  system.add<In>("in");
  system.connect("out.out", "in.in");
  system.connect("out.event", "in.event");
  system.connect("in.out", "out.in");
  return system;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static System system = make();
  static const std::uint64_t scenario = hash_of(system.graph());
  if (size < 2) return 0;
  AssemblyPlan plan;
  plan.split = true;
  Assembly assembly(system, plan);
  Drop drop;
  Island island(assembly, 1);
  island.join(0, drop);
  island.start(SimTime::zero() + 1s);
  if ((data[0] & 1) != 0) {  // get past the hello, which nobody guesses
    Keep keep;
    Peer(assembly, 0, 1, keep).greet();
    if (!island.arrived(0, keep.bytes)) __builtin_trap();
  }
  if ((data[0] & 2) != 0) island.restart(0, 2);
  const std::size_t cut = data[1] % size;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(2);
  const std::size_t first = std::min(cut, bytes.size());
  (void)island.arrived(0, bytes.first(first)).ok();
  (void)island.go(8);
  (void)island.arrived(0, bytes.subspan(first)).ok();
  (void)island.go(8);
  return scenario == 0 ? 1 : 0;
}
