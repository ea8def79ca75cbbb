#include "programs/machine_code.hpp"

#include <algorithm>
#include <vector>

namespace isochron::programs {

namespace {

constexpr std::size_t piece = std::size_t{1} << 20;
constexpr std::size_t around = 24;  // bytes that are looked at before and after an instruction

class Code {
 public:
  explicit Code(std::span<const std::byte> bytes) : bytes_(bytes) {}
  [[nodiscard]] std::uint8_t at(std::size_t i) const {
    return i < bytes_.size() ? static_cast<std::uint8_t>(bytes_[i]) : std::uint8_t{0};
  }
  [[nodiscard]] bool has(std::size_t i, std::initializer_list<std::uint8_t> wanted) const {
    for (const std::uint8_t byte : wanted) {
      if (i >= bytes_.size() || at(i++) != byte) return false;
    }
    return true;
  }
  /// Both halves of the counter are put together soon: shl rdx, 32.
  [[nodiscard]] bool is_counter(std::size_t i) const {
    if (has(i, {0x0f, 0x01, 0xf9})) return true;
    if (!has(i, {0x0f, 0x31})) return false;
    for (std::size_t k = i + 2; k < i + around; ++k) {
      if (has(k, {0x48, 0xc1, 0xe2, 0x20})) return true;
    }
    return false;
  }
  /// The number of the call is put into eax shortly before, or its error looked at right after.
  [[nodiscard]] bool is_call(std::size_t i) const {
    if (!has(i, {0x0f, 0x05})) return false;
    if (has(i + 2, {0x48, 0x3d}) && at(i + 6) == 0xff && at(i + 7) == 0xff) return true;  // cmp rax, -4096 and the like
    if (has(i + 2, {0xc3}) || has(i + 2, {0x48, 0x83, 0xf8})) return true;
    for (std::size_t back = 5; back < around && back <= i; ++back) {
      const std::size_t k = i - back;
      if (at(k) == 0xb8 && at(k + 2) < 2 && at(k + 3) == 0 && at(k + 4) == 0) return true;  // mov eax, number
    }
    return false;
  }
  /// rdrand and rdseed of a register: 0f c7 /6 and /7, and the carry is looked at.
  [[nodiscard]] bool is_chance(std::size_t i) const {
    if (!has(i, {0x0f, 0xc7}) || at(i + 2) < 0xf0) return false;
    for (std::size_t k = i + 3; k < i + 12; ++k) {
      if (at(k) == 0x72 || at(k) == 0x73) return true;                                               // jc, jnc
      if (at(k) == 0x0f && (at(k + 1) & 0xfe) == 0x92) return true;                                  // setc
      if (at(k) == 0x0f && ((at(k + 1) & 0xfe) == 0x82 || (at(k + 1) & 0xfe) == 0x42)) return true;  // jc, cmovc
    }
    return false;
  }

 private:
  std::span<const std::byte> bytes_;
};

MachineCode look(std::span<const std::byte> bytes, std::size_t from, std::size_t to) {
  MachineCode found;
  const Code code(bytes);
  for (std::size_t i = from; i < to; ++i) {
    if (code.at(i) != 0x0f) continue;
    if (code.is_counter(i)) ++found.counter;
    if (code.is_call(i)) ++found.calls;
    if (code.is_chance(i)) ++found.chance;
  }
  return found;
}

}  // namespace

MachineCode look_at_code(std::span<const std::byte> code) { return look(code, 0, code.size()); }

MachineCode look_at_code(const std::function<bool(std::uint64_t, std::span<std::byte>)>& source, std::uint64_t offset,
                         std::uint64_t size) {
  MachineCode found;
  std::vector<std::byte> bytes;
  for (std::uint64_t at = 0; at < size; at += piece) {
    const std::uint64_t before = std::min<std::uint64_t>(at, around);
    const std::uint64_t rest = std::min<std::uint64_t>(size - at, piece);
    const std::uint64_t after = std::min<std::uint64_t>(size - at - rest, around);
    bytes.resize(before + rest + after);
    if (offset + at < offset || !source(offset + at - before, bytes)) return found;
    found += look(bytes, before, before + rest);
  }
  return found;
}

}  // namespace isochron::programs
