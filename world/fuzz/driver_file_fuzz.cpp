// Whatever a driver's file holds, it is either driven or refused; a command is always a number.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>

#include "world/vehicle/driver.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace isochron::world;
  std::istringstream text(std::string(reinterpret_cast<const char*>(data), size));
  try {
    FileDriver driver(text, "fuzz");
    DriverView view;
    for (int i = 0; i < 10; ++i) {
      view.time = isochron::SimTime::from_ns(i * 333'333'333LL);
      const DriverCommand c = driver.drive(view);
      if (!std::isfinite(c.steer + c.throttle + c.brake)) std::abort();
    }
  } catch (const isochron::InputError&) {
  }
  return 0;
}
