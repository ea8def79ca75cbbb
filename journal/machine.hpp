#pragma once
// What about this machine can change the bits of a run. The C library picks its sin, cos, exp, pow and others by what
// the CPU can do, and the variants differ in last bits: the same run on another CPU may part from this one. A journal
// says which variant it was made with, and diff says so when two differ.
//
// Cost: some microseconds; call it once at set-up.

#include <string>

#include "journal/mcap_format.hpp"

namespace isochron {

/// "avx2+fma 5f3a09c1": what the CPU offers, and a hash over the bits that the C library's functions really return here
/// (an environment that switches variants off, GLIBC_TUNABLES, shows in it).
std::string cpu_math_variant();

/// cpu_math, cpu, kernel, host: for JournalOptions::about_the_run.
mcap::TextMap machine_facts();

}  // namespace isochron
