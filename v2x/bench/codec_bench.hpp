#pragma once
// The parts of the V2X benchmark.

#include <optional>

#include "bench/bench.hpp"
#include "v2x/codec/bits.hpp"

namespace isochron::bench {

void bench_codec(Report& report);
void bench_radio(Report& report);

/// A public MAP of 28 lanes and 103 nodes in hexadecimal.
const char* map_example_hex();

struct Asn1cTimes {
  double bsm_decode_ns = 0;
  double bsm_encode_ns = 0;
  double map_decode_ns = 0;
};
/// What asn1c's generated code takes for the same octets, from a program of its own; none where asn1c was not installed
/// when this was built.
std::optional<Asn1cTimes> asn1c_times(const v2x::Bytes& bsm, const v2x::Bytes& map);

}  // namespace isochron::bench
