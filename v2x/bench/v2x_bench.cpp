#include "v2x/bench/v2x_bench.hpp"

#include "v2x/bench/codec_bench.hpp"

namespace isochron::bench {

void bench_v2x(Report& report) {
  bench_codec(report);
  bench_radio(report);
}

}  // namespace isochron::bench
