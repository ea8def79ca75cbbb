#pragma once
// A shared library opened for good, and the functions in it; used for engines and controllers of a user's own.

#include <string>

#include "core/input_error.hpp"

namespace isochron::world {

class SharedLibrary {
 public:
  /// `what` is the noun for messages: "engine", "controller". Throws InputError.
  SharedLibrary(std::string path, std::string what);

  /// Throws InputError when the library has no such function.
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[noreturn]] void refuse(const std::string& why, const std::string& hint = {}) const;
  /// Refuses a library made for another interface.
  void demand_interface(const char* function_name, std::uint32_t ours) const;

 private:
  [[nodiscard]] void* symbol(const char* name) const;
  std::string path_;
  std::string what_;
  void* handle_;
};

}  // namespace isochron::world
