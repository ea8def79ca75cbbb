#include "v2x/codec/uper_writer.hpp"

#include <algorithm>

#include "v2x/codec/describe_bsm.hpp"

namespace isochron::v2x {

std::string UperWriter::count_text(std::size_t n, unsigned low, unsigned high) {
  return "has " + std::to_string(n) + " items, must have " + std::to_string(low) + ".." + std::to_string(high);
}

bool UperWriter::extended_value(unsigned count, std::int64_t v) {
  if (v > 255) return fail(range_text(v, 0, 255));
  out_.write(1, 1);
  small_number(static_cast<std::uint64_t>(v - count));
  return true;
}

void UperWriter::small_number(std::uint64_t v) {
  if (v < 64) return out_.write(7, v);
  out_.write(1, 1);
  out_.write(8, 1);  // one octet follows: no number here is above 255
  out_.write(8, v);
}

bool UperWriter::length(std::size_t n) {
  if (n >= 16384) return fail(std::to_string(n) + " octets are too many, at most 16383 fit");
  if (n < 128) return out_.write(8, n), true;
  out_.write(16, 0x8000u | n);
  return true;
}

bool UperWriter::value(FlagBits s, const Flags& v) {
  const bool extended = v.size != s.size;
  if (extended && (!s.extensible || v.size > 64)) {
    return fail("has " + std::to_string(v.size) + " flags, must have " + std::to_string(s.size));
  }
  if (v.size < 64 && v.bits >> v.size != 0) return fail("has a flag beyond its size");
  if (s.extensible) out_.write(1, extended);
  if (extended && !length(v.size)) return false;
  if (v.size > 32) out_.write(v.size - 32u, v.bits >> 32);
  out_.write(std::min<unsigned>(v.size, 32), v.bits);
  return true;
}

bool UperWriter::value(Text s, const std::string& v) {
  if (v.size() < s.low || v.size() > s.high) {
    return fail("has " + std::to_string(v.size()) + " characters, must have " + std::to_string(s.low) + ".." +
                std::to_string(s.high));
  }
  if (std::any_of(v.begin(), v.end(), [](char c) { return static_cast<unsigned char>(c) > 127; })) {
    return fail("has a character that is not ASCII");
  }
  out_.write(bits_for(s.high - s.low), v.size() - s.low);
  for (const char c : v) out_.write(7, static_cast<unsigned char>(c));
  return true;
}

bool UperWriter::write_additions(const Additions& additions) {
  if (additions.size() <= 64) {
    out_.write(7, additions.size() - 1);
  } else {
    out_.write(1, 1);
    if (!length(additions.size())) return false;
  }
  for (const auto& addition : additions) out_.write(1, addition.has_value());
  for (std::size_t i = 0; i < additions.size(); ++i) {
    if (additions[i] && !value(Open{}, *additions[i])) return path_.in(i);
  }
  return true;
}

bool UperWriter::value(Part, const PartII& v) {
  if (const auto* opaque = std::get_if<OpaquePart>(&v)) {
    return (value(Integer{0, 63}, opaque->id) || path_.in("partII-Id")) &&
           (value(Open{}, opaque->value) || path_.in("partII-Value"));
  }
  out_.write(6, v.index());
  return std::visit(
      [&](const auto& part) {
        if constexpr (std::is_same_v<std::decay_t<decltype(part)>, OpaquePart>) {
          return true;  // written above
        } else {
          return open(part);
        }
      },
      v);
}

}  // namespace isochron::v2x
