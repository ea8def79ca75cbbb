#include "core/disk.hpp"

namespace isochron {

Result<Done, DiskError> append_all(File& file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    auto taken = file.append(bytes);
    if (!taken) return fail(taken.error());
    ENSURE(*taken > 0 && *taken <= bytes.size(), "a file took no bytes, or more than it was given");
    bytes = bytes.subspan(*taken);
  }
  return done();
}

}  // namespace isochron
