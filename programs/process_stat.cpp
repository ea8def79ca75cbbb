#include "programs/process_stat.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>

#include "link/fd.hpp"

namespace isochron::programs {

std::optional<ProcessStat> parse_stat(std::string_view text, long ticks_per_second) {
  const std::size_t name_end = text.rfind(')');  // the name before may hold anything
  if (name_end == std::string_view::npos || name_end + 2 >= text.size()) return std::nullopt;
  text.remove_prefix(name_end + 2);
  ProcessStat stat;
  stat.state = text[0];
  // Counted from the state: 6 are flags (4 = exiting), 11 and 12 are its own time in user and system mode, 13 and 14
  // its children's.
  for (int field = 0; field <= 14; ++field) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (field == 6) {
      std::uint64_t flags = 0;
      std::from_chars(word.data(), word.data() + word.size(), flags);
      stat.exiting = (flags & 4) != 0;
    }
    if (field >= 11) {
      std::int64_t ticks = 0;
      if (std::from_chars(word.data(), word.data() + word.size(), ticks).ec != std::errc()) return std::nullopt;
      (field <= 12 ? stat.used : stat.by_children) += CpuSpan::from_ns(ticks * (1'000'000'000 / ticks_per_second));
    }
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return stat;
}

std::optional<ProcessStat> stat_of(const std::string& process) {
  static const long ticks_per_second = sysconf(_SC_CLK_TCK);
  const link::Fd file(open(("/proc/" + process + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) return std::nullopt;
  char text[1024];
  const ssize_t size = read(file.get(), text, sizeof text);
  if (size <= 0) return std::nullopt;
  return parse_stat({text, static_cast<std::size_t>(size)}, ticks_per_second);
}

}  // namespace isochron::programs
