#include "programs/watcher.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "core/ensure.hpp"
#include "programs/futex.hpp"

namespace isochron::programs {

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
    : output_kept_(output_kept), bell_(bell), show_(show), take_output_(take_output) {
  for (auto& watched : programs) programs_.push_back(std::make_unique<Program>(std::move(watched), output_kept));
  stop_ = eventfd(0, EFD_CLOEXEC);
  more_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  ENSURE(stop_ >= 0 && more_ >= 0, "no descriptors left");
  thread_ = std::thread([this] { watch(); });
}

Watcher::~Watcher() {
  finish();
  close(stop_);
  close(more_);
}

std::size_t Watcher::add(Watched program) {
  auto one = std::make_unique<Program>(std::move(program), output_kept_);
  one->open = one->watched.output >= 0;
  {
    const std::lock_guard lock(adding_);
    programs_.push_back(std::move(one));
  }
  const std::uint64_t ring = 1;
  [[maybe_unused]] const ssize_t told = write(more_, &ring, sizeof ring);
  return programs_.size() - 1;
}

void Watcher::add_output(std::size_t program, std::string_view text) {
  Program& p = *programs_[program];
  const std::lock_guard lock(p.mutex);
  p.text.add(text.data(), text.size());
  if (show_) show(p, text);
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
  std::vector<Program*> watched;
  for (;;) {
    waiting.assign(2, {stop_, POLLIN, 0});
    waiting[1].fd = more_;
    watched.clear();
    {
      const std::lock_guard lock(adding_);
      for (const auto& p : programs_) watched.push_back(p.get());
    }
    for (const Program* p : watched) {
      waiting.push_back({p->open ? p->watched.output : -1, POLLIN, 0});
      waiting.push_back({p->ended.load(std::memory_order_relaxed) ? -1 : p->watched.pid_descriptor, POLLIN, 0});
    }
    if (poll(waiting.data(), waiting.size(), -1) < 0) continue;
    if (waiting[0].revents != 0) return;
    std::uint64_t rung = 0;
    if (waiting[1].revents != 0 && read(more_, &rung, sizeof rung) < 0) continue;
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (waiting[2 + 2 * i].revents != 0) drain(*watched[i]);
      if (waiting[3 + 2 * i].revents == 0) continue;
      watched[i]->ended.store(true, std::memory_order_release);
      bell_.rings.fetch_add(1, std::memory_order_seq_cst);
      futex_wake(bell_.rings);
    }
  }
}

}  // namespace isochron::programs
