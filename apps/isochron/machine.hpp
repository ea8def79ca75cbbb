#pragma once
// What this machine is and allows, measured now. Used by doctor (for people), bench and journals (for the record).

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace isochron::app {

struct Finding {
  std::string what;   // "real-time scheduling"
  std::string found;  // "allowed"
  bool good = true;
  std::string cost;  // what the lack costs; "" = nothing
  std::string mend;  // the command that mends it; "" = none
};

std::vector<Finding> examine_machine();

/// CPU, cores, kernel, the variant of libm's functions, version and commit of Isochron.
nlohmann::ordered_json describe_machine();

/// "isochron 0.1.0 (commit)", then which parts this build has and which were left out.
std::string describe_build();

}  // namespace isochron::app
