#include "world/shared_library.hpp"

#include <dlfcn.h>

#include <cstdint>

namespace isochron::world {

SharedLibrary::SharedLibrary(std::string path, std::string what) : path_(std::move(path)), what_(std::move(what)) {
  // A bare file name would be looked for in the system's folders.
  const std::string exact = path_.find('/') == std::string::npos ? "./" + path_ : path_;
  handle_ = ::dlopen(exact.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle_ == nullptr) refuse(std::string("cannot load the ") + what_ + ": " + ::dlerror());
}

void* SharedLibrary::symbol(const char* name) const {
  void* found = ::dlsym(handle_, name);
  if (found == nullptr) {
    std::string macro = "ISOCHRON_";
    for (const char c : what_) macro += static_cast<char>(c - 'a' + 'A');
    refuse("there is no " + what_ + " in this library (no " + name + ")",
           "end its source with " + macro + "(YourType)");
  }
  return found;
}

void SharedLibrary::refuse(const std::string& why, const std::string& hint) const {
  throw InputError(Place{path_, 0, 0}, why, hint);
}

void SharedLibrary::demand_interface(const char* function_name, std::uint32_t ours) const {
  const std::uint32_t theirs = function<std::uint32_t()>(function_name)();
  if (theirs != ours) {
    refuse("it was made for interface " + std::to_string(theirs) + " of an isochron " + what_ + ", this is " +
               std::to_string(ours),
           "compile it again with this version's headers");
  }
}

}  // namespace isochron::world
