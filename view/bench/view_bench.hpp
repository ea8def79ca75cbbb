#pragma once
#include "bench/bench.hpp"

namespace isochron::bench {

/// What looking at a run costs it, how smooth the picture is, and how soon a large journal is seen. Pictures need
/// Debian's chromium and `./dev setup`; without them only the server's part is measured.
void bench_view(Report& report);

}  // namespace isochron::bench
