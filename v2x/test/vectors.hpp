#pragma once
// The public messages with known values that the tests compare with (data/v2x_vectors.json).

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "v2x/codec/codec.hpp"

namespace isochron::v2x {

inline const nlohmann::json& vectors() {
  static const nlohmann::json all = nlohmann::json::parse(std::ifstream(ISOCHRON_V2X_DATA "/v2x_vectors.json"));
  return all;
}
inline Bytes octets_of(const nlohmann::json& vector) { return *from_hex(vector.at("hex").get<std::string>()); }

}  // namespace isochron::v2x
