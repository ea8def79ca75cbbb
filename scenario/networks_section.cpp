#include "scenario/networks_section.hpp"

#include <cmath>
#include <cstdlib>

namespace isochron {

Result<BitRate, std::string> BitRate::parse(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string unit(end);
  double factor = 0;
  if (unit == "bit/s") factor = 1;
  if (unit == "kbit/s") factor = 1e3;
  if (unit == "Mbit/s") factor = 1e6;
  if (unit == "Gbit/s") factor = 1e9;
  if (end == text.c_str() || factor == 0 || !(number > 0) || !std::isfinite(number)) {
    return fail(std::string("is not ") + expected);
  }
  return BitRate{number * factor};
}

}  // namespace isochron
