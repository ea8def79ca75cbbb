// How long a message takes to read and write, beside asn1c's generated code for the same structures and octets.

#include "v2x/bench/codec_bench.hpp"

#include "v2x/codec/codec.hpp"

namespace isochron::bench {
namespace {

using namespace v2x;

// Public messages (source: test/data/v2x_vectors.json): a plain BSM and a MAP of 28 lanes and 103 nodes.
constexpr const char* bsm_hex = "001425004043030280FFDBFBA868B3584EC40824646400320032000C888FC834E37FFF0AAA960FA0";

/// The least of many short rounds: noise only adds.
double least_ns(unsigned calls, const std::function<void()>& round) { return ns_per_call(calls, round, 200); }

template <class F>
double time_of(F&& f) {
  constexpr unsigned calls = 100;
  return least_ns(calls, [&] {
    for (unsigned i = 0; i < calls; ++i) f();
  });
}

}  // namespace

void bench_codec(Report& report) {
  const Bytes bsm = *from_hex(bsm_hex);
  const Bytes map = *from_hex(map_example_hex());
  const Frame bsm_frame = *decode(bsm);
  const Frame map_frame = *decode(map);
  report.at_most("codec_bsm_decode", time_of([&] { keep(decode(bsm).ok()); }), "ns", 300);
  report.at_most("codec_bsm_encode", time_of([&] { keep(encode(bsm_frame)->size()); }), "ns", 300);
  const double map_decode = time_of([&] { keep(decode(map).ok()); });
  report.at_most("codec_map_decode", map_decode, "ns", 5000);
  report.found("codec_map_encode", time_of([&] { keep(encode(map_frame)->size()); }), "ns");
  if (const auto theirs = asn1c_times(bsm, map)) {
    report.ratio_at_most("codec_bsm_decode_beside_asn1c", time_of([&] { keep(decode(bsm).ok()); }), "ns", "asn1c",
                         theirs->bsm_decode_ns, 1);
    report.ratio_at_most("codec_bsm_encode_beside_asn1c", time_of([&] { keep(encode(bsm_frame)->size()); }), "ns",
                         "asn1c", theirs->bsm_encode_ns, 1);
    report.ratio_at_most("codec_map_decode_beside_asn1c", time_of([&] { keep(decode(map).ok()); }), "ns", "asn1c",
                         theirs->map_decode_ns, 1);
  } else {
    report.found("codec_beside_asn1c", 0, "", "asn1c is not installed: not compared");
  }
}

}  // namespace isochron::bench
