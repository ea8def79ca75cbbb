#include "programs/recorder.hpp"

namespace isochron::programs {

const char* to_string(Happening::Kind kind) {
  switch (kind) {
    case Happening::Kind::start:
      return "start";
    case Happening::Kind::release:
      return "release";
    case Happening::Kind::read:
      return "read";
    case Happening::Kind::write:
      return "write";
    case Happening::Kind::send:
      return "send";
    case Happening::Kind::receive:
      return "receive";
    case Happening::Kind::log:
      return "log";
    case Happening::Kind::fault:
      return "fault";
    case Happening::Kind::end:
      return "end";
    case Happening::Kind::output:
      return "output";
  }
  return "?";
}

std::string to_string(const Happening& h) {
  std::string text = std::to_string(h.at.ns()) + " ns  program " + std::to_string(h.program) + "  " + to_string(h.kind);
  if (h.about != UINT32_MAX) text += " " + std::to_string(h.about);
  if (h.kind == Happening::Kind::release || h.kind == Happening::Kind::receive) {
    text += " of " + std::to_string(h.stamp.ns()) + " ns";
  }
  if (h.kind == Happening::Kind::log || h.kind == Happening::Kind::fault || h.kind == Happening::Kind::end ||
      h.kind == Happening::Kind::output) {
    return text + ": " + std::string(reinterpret_cast<const char*>(h.bytes.data()), h.bytes.size());
  }
  return text + ", " + std::to_string(h.bytes.size()) + " bytes";
}

void MemoryRecorder::clock(std::uint32_t program, std::uint32_t link, std::span<const std::byte> values) {
  auto& clocks = tape(program).clocks;
  if (clocks.size() <= link) clocks.resize(link + 1);
  clocks[link].emplace_back(values.begin(), values.end());
}

ComputeTape& MemoryRecorder::tape(std::uint32_t program) {
  if (tapes.size() <= program) tapes.resize(program + 1);
  return tapes[program];
}

std::uint64_t digest(const std::vector<Happening>& happenings) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&](std::uint64_t value) {
    for (int i = 0; i < 64; i += 8) hash = (hash ^ ((value >> i) & 0xff)) * 0x100000001b3;
  };
  for (const Happening& h : happenings) {
    mix(static_cast<std::uint64_t>(h.kind));
    mix(static_cast<std::uint64_t>(h.at.ns()));
    mix(h.program);
    mix(h.about);
    mix(static_cast<std::uint64_t>(h.stamp.ns()));
    for (const std::byte b : h.bytes) hash = (hash ^ static_cast<std::uint64_t>(b)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace isochron::programs
