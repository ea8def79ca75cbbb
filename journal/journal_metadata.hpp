#pragma once
// The names of what a journal says about itself: the entries of the metadata record `isochron`, and those of channels.

namespace isochron::journal_metadata {

/// Records of their own: the hash of each file by its path, the build of each library by its name.
inline constexpr const char* files = "files";
inline constexpr const char* libraries = "libraries";
inline constexpr const char* record = "isochron";

inline constexpr const char* digest = "digest";
inline constexpr const char* incomplete = "digest_incomplete";  // there only if it is, and says why
inline constexpr const char* dropped = "dropped_messages";
inline constexpr const char* cpu_math = "cpu_math";    // see journal/machine.hpp
inline constexpr const char* recovered = "recovered";  // there only in a file that recover() made

/// Of a channel: the participant whose record it is.
inline constexpr const char* participant = "isochron.participant";

}  // namespace isochron::journal_metadata
