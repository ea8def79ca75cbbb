#pragma once
// The name of a file by what is in it: SHA-256 in hexadecimal digits, as `sha256sum` prints it.
//
// Threads: any.

#include <cstddef>
#include <span>
#include <string>

namespace isochron::link {

std::string content_hash(std::span<const std::byte> content);

}  // namespace isochron::link
