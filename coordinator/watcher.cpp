#include "coordinator/watcher.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "coordinator/futex.hpp"
#include "core/ensure.hpp"

namespace isochron::coordinator {

void BoundedText::add(const char* bytes, std::size_t size) {
  total_ += size;
  const std::size_t first = std::min(size, room_ - head_.size());
  head_.append(bytes, first);
  tail_.append(bytes + first, size - first);
  if (tail_.size() > 2 * room_) tail_.erase(0, tail_.size() - room_);
}

std::string BoundedText::text() const {
  const std::uint64_t left_out = total_ - head_.size() - std::min(tail_.size(), room_);
  if (left_out == 0) return head_ + tail_;
  const std::string end = tail_.size() > room_ ? tail_.substr(tail_.size() - room_) : tail_;
  return head_ + "\n… " + std::to_string(left_out) + " bytes left out …\n" + end;
}

Watcher::Watcher(std::vector<Watched> programs, protocol::Bell& bell, std::size_t output_kept, bool show,
                 bool take_output)
    : bell_(bell), show_(show), take_output_(take_output) {
  for (auto& watched : programs) programs_.push_back(std::make_unique<Program>(std::move(watched), output_kept));
  stop_ = eventfd(0, EFD_CLOEXEC);
  ENSURE(stop_ >= 0, "no descriptors left");
  thread_ = std::thread([this] { watch(); });
}

Watcher::~Watcher() {
  finish();
  close(stop_);
}

void Watcher::finish() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t told = write(stop_, &one, sizeof one);
  thread_.join();
  for (auto& program : programs_) drain(*program);
}

std::string Watcher::output(std::size_t program) const {
  const std::lock_guard lock(programs_[program]->mutex);
  return programs_[program]->text.text();
}

std::uint64_t Watcher::output_size(std::size_t program) const {
  const std::lock_guard lock(programs_[program]->mutex);
  return programs_[program]->text.total();
}

std::string Watcher::take(std::size_t program, std::size_t most) {
  drain(*programs_[program]);
  const std::lock_guard lock(programs_[program]->mutex);
  std::string& fresh = programs_[program]->fresh;
  std::string taken = fresh.substr(0, most);
  fresh.erase(0, taken.size());
  return taken;
}

void Watcher::drain(Program& program) {
  char part[16384];
  for (int rounds = 0; program.open && rounds < 64; ++rounds) {  // one that prints forever leaves time for the others
    const std::lock_guard lock(program.mutex);
    const ssize_t size = read(program.watched.output, part, sizeof part);
    if (size <= 0) {
      if (size == 0) program.open = false;
      return;
    }
    program.text.add(part, static_cast<std::size_t>(size));
    if (take_output_) program.fresh.append(part, static_cast<std::size_t>(size));
    if (show_) show(program, {part, static_cast<std::size_t>(size)});
  }
}

/// Whole lines, each with the program's name before it.
void Watcher::show(Program& program, std::string_view text) {
  program.line += text;
  std::size_t from = 0;
  for (std::size_t end; (end = program.line.find('\n', from)) != std::string::npos; from = end + 1) {
    std::fprintf(stderr, "%s: %.*s\n", program.watched.name.c_str(), static_cast<int>(end - from), &program.line[from]);
  }
  program.line.erase(0, from);
  if (program.line.size() > 4096) program.line += '\n', show(program, "");
}

void Watcher::watch() {
  std::vector<pollfd> waiting;
  for (;;) {
    waiting.assign(1, {stop_, POLLIN, 0});
    for (const auto& p : programs_) {
      waiting.push_back({p->open ? p->watched.output : -1, POLLIN, 0});
      waiting.push_back({p->ended.load(std::memory_order_relaxed) ? -1 : p->watched.pid_descriptor, POLLIN, 0});
    }
    if (poll(waiting.data(), waiting.size(), -1) < 0) continue;
    if (waiting[0].revents != 0) return;
    for (std::size_t i = 0; i < programs_.size(); ++i) {
      if (waiting[1 + 2 * i].revents != 0) drain(*programs_[i]);
      if (waiting[2 + 2 * i].revents == 0) continue;
      programs_[i]->ended.store(true, std::memory_order_release);
      bell_.rings.fetch_add(1, std::memory_order_seq_cst);
      futex_wake(bell_.rings);
    }
  }
}

}  // namespace isochron::coordinator
