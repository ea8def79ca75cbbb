#pragma once
// RT_ENSURE guards what must hold if the caller keeps to the contract: a capacity that is a power of two, a period
// above zero. rt/ stands alone, so it has its own. It is armed in every build.
//
// Fails: prints place and reason to stderr, then aborts.

#include <cstdio>
#include <cstdlib>

#define RT_ENSURE(condition, why)                                                                 \
  do {                                                                                            \
    if (__builtin_expect(!(condition), 0)) {                                                      \
      std::fprintf(stderr, "%s:%d: %s does not hold: %s\n", __FILE__, __LINE__, #condition, why); \
      std::abort();                                                                               \
    }                                                                                             \
  } while (false)
