// Whatever strangers and holders of the key may say to a communication server. The first byte chooses who speaks: a
// stranger (bytes as they are, or as one frame), one who proves itself and then gives any name, or a client that was
// let in and then says anything, sealed or not. Another client is inside all the time, and must stay.

#include <cstdint>
#include <cstdlib>

#include "v2x/test/comm_visitor.hpp"

using namespace isochron;
using namespace isochron::v2x;

namespace {

/// The medium reads nothing that is foreign, and the tables of a real one would cost more than all the rest.
AirSettings two_cars() {
  AirSettings settings;
  settings.medium = "ideal";
  settings.stations = {{"a", {0, 0, 1}, false}, {"b", {0, 0, 1}, false}, {"light", {5, 5, 5}, true}};
  settings.bodies = {{"a", {{{0, 0, 0}, {1, 0, 0, 0}, {2, 1, 1}}}}};
  return settings;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 1U << 16U) return 0;
  static const link::Key key = link::Key::parse("00112233445566778899aabbccddeeff", "fuzz");
  const auto said = std::as_bytes(std::span(data + 1, size - 1));
  DeskReactor desk;
  SharedAir air(two_cars(), {{"a", "one"}, {"b", "two"}, {"light", "one"}}, std::chrono::milliseconds(40),
                [](const AirLog&) {});
  CommServer server(desk, key, Address::loopback(1), air, {"one", "two"});
  CommVisitor bystander(desk, key), visitor(desk, key);
  if (!bystander.join(std::string("two"))) std::abort();
  switch (data[0] % 5) {
    case 0:
      visitor.say(said.first(said.size() / 2));
      visitor.say(said.subspan(said.size() / 2));
      break;
    case 1:
      visitor.say_frame(said);
      break;
    case 2:
      (void)visitor.join(said);
      break;
    case 3:
      if (!visitor.join(std::string("one"))) std::abort();
      visitor.say_frame(said);
      break;
    default:
      if (!visitor.join(std::string("one"))) std::abort();
      visitor.say_sealed(said);
      visitor.say_sealed(said);
      break;
  }
  AirUp up;
  up.stamp = air.time();
  up.until = up.stamp + SimSpan(std::chrono::milliseconds(10));
  std::vector<std::byte> bytes(cdr_size(up));
  cdr_write(up, bytes);
  bystander.say_sealed(bytes);
  visitor.leave();
  if (!bystander.inside()) std::abort();
  return 0;
}
