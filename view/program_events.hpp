#pragma once
// What programs did, as the page's schedule reads it, from the two kinds of records that tell it:
//
//     /programs/NAME    [NAME, seconds, what, about]                        it was released, read, wrote, sent, …
//     /turns/NAME       [NAME, seconds, "turn", ready, until, preempted by]  it had its core
//
// Threads: any.

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace isochron::view {

inline constexpr std::string_view programs_prefix = "/programs/";

/// Whether a topic's messages are such records.
bool tells_of_programs(std::string_view topic);
/// Nothing: the message makes no sense. Requires: tells_of_programs(topic).
std::optional<nlohmann::ordered_json> program_event(std::string_view topic, std::span<const std::byte> message);

}  // namespace isochron::view
