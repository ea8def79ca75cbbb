#pragma once
// A user's own engine in a shared library. The library's source ends with one line,
//
//     ISOCHRON_ENGINE(BouncingBalls)
//
// where BouncingBalls is an Engine made from a model file: `explicit BouncingBalls(const std::string& model_file)`.
// It may throw InputError. examples/own_engine is a whole one.
//
// Promises: a library made for another Engine interface is refused by number before any of its code runs.
// Fails:    InputError that names the library: not found, no engine in it, another interface, or what its maker threw.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <string>

#include "world/engine.hpp"

namespace isochron::world {

/// Changes whenever Engine or a type in it does.
inline constexpr std::uint32_t engine_interface = 2;

/// The library stays in memory until the process ends: its engines' code lives in it.
std::unique_ptr<Engine> load_engine_library(const std::string& library, const std::string& model_file);

/// Copies text into a buffer of the caller, cut to fit; for what may not throw across the C interface.
inline void tell(const char* text, char* into, std::size_t size) {
  if (size == 0) return;
  std::strncpy(into, text, size - 1);
  into[size - 1] = 0;
}

}  // namespace isochron::world

#define ISOCHRON_ENGINE(Type)                                                                                      \
  extern "C" std::uint32_t isochron_engine_interface() { return ::isochron::world::engine_interface; }             \
  extern "C" ::isochron::world::Engine* isochron_engine(const char* model_file, char* why, std::size_t why_size) { \
    try {                                                                                                          \
      return new Type(std::string(model_file));                                                                    \
    } catch (const std::exception& error) {                                                                        \
      ::isochron::world::tell(error.what(), why, why_size);                                                        \
    } catch (...) {                                                                                                \
      ::isochron::world::tell("it threw something that is no std::exception", why, why_size);                      \
    }                                                                                                              \
    return nullptr;                                                                                                \
  }
