#include "programs/system/poll_set.hpp"

#include <sys/epoll.h>

#include <algorithm>

namespace isochron::programs {

PollSet::~PollSet() {
  for (const Interest& interest : interests_) std::erase(interest.file->watched_by, this);
}

PollSet::Interest* PollSet::find(int descriptor, const File& file) {
  const auto it = std::find_if(interests_.begin(), interests_.end(),
                               [&](const Interest& i) { return i.descriptor == descriptor && i.file == &file; });
  return it == interests_.end() ? nullptr : &*it;
}

CallResult PollSet::add(int descriptor, const std::shared_ptr<File>& file, std::uint32_t events, std::uint64_t data,
                        SimTime now) {
  if (find(descriptor, *file) != nullptr) return -EEXIST;
  if (file.get() == this) return -EINVAL;
  interests_.push_back({descriptor, file.get(), events, data, {now}, false});
  const SimTime later = file->changes(now);
  if (later != SimTime::never()) interests_.back().edges.push_back(later);
  if (std::find(file->watched_by.begin(), file->watched_by.end(), this) == file->watched_by.end()) {
    file->watched_by.push_back(this);
  }
  changed(now);
  return 0;
}

CallResult PollSet::change(int descriptor, const File& file, std::uint32_t events, std::uint64_t data, SimTime now) {
  Interest* interest = find(descriptor, file);
  if (interest == nullptr) return -ENOENT;
  interest->events = events;
  interest->data = data;
  interest->off = false;
  interest->edges.push_back(now);
  changed(now);
  return 0;
}

CallResult PollSet::remove(int descriptor, const File& file) {
  const Interest* interest = find(descriptor, file);
  if (interest == nullptr) return -ENOENT;
  File* watched = interest->file;
  interests_.erase(interests_.begin() + (interest - interests_.data()));
  if (std::none_of(interests_.begin(), interests_.end(), [&](const Interest& i) { return i.file == watched; })) {
    std::erase(watched->watched_by, this);
  }
  return 0;
}

void PollSet::forget(const File& file) {
  std::erase_if(interests_, [&](const Interest& i) { return i.file == &file; });
}

void PollSet::note(const File& file, SimTime at) {
  for (Interest& interest : interests_) {
    if (interest.file != &file || (interest.events & EPOLLET) == 0) continue;
    if (interest.edges.empty() || interest.edges.back() != at) interest.edges.push_back(at);
  }
}

std::uint32_t PollSet::found(const Interest& interest, SimTime now) {
  if (interest.off) return 0;
  if ((interest.events & EPOLLET) != 0 &&
      std::none_of(interest.edges.begin(), interest.edges.end(), [now](SimTime at) { return at <= now; })) {
    return 0;
  }
  const auto is = static_cast<std::uint32_t>(static_cast<unsigned short>(interest.file->ready(now)));
  return is & (interest.events | EPOLLERR | EPOLLHUP);
}

short PollSet::ready(SimTime now) {
  return std::any_of(interests_.begin(), interests_.end(), [now](const Interest& i) { return found(i, now) != 0; })
             ? POLLIN
             : 0;
}

SimTime PollSet::changes(SimTime now) {
  SimTime next = SimTime::never();
  for (const Interest& interest : interests_) {
    if (!interest.off) next = std::min(next, interest.file->changes(now));
    for (const SimTime at : interest.edges) {
      if (at > now) next = std::min(next, at);
    }
  }
  return next;
}

std::vector<protocol::PollEvent> PollSet::take(std::size_t most, SimTime now) {
  std::vector<protocol::PollEvent> events;
  const std::size_t count = interests_.size();
  for (std::size_t n = 0; n < count && events.size() < most; ++n) {
    Interest& interest = interests_[(first_ + n) % count];
    const std::uint32_t is = found(interest, now);
    std::erase_if(interest.edges, [now](SimTime at) { return at <= now; });
    if (is == 0) continue;
    events.push_back({is, 0, interest.data});
    if ((interest.events & EPOLLONESHOT) != 0) interest.off = true;
    if (events.size() == most) first_ = (first_ + n + 1) % count;
  }
  if (events.size() < most) first_ = 0;
  return events;
}

std::string PollSet::describe_watched() const {
  std::string text;
  for (const Interest& interest : interests_) {
    text += (text.empty() ? "" : ", ") + std::to_string(interest.descriptor) + " (" + interest.file->describe() + ")";
    if (text.size() > 200) return text + ", …";
  }
  return text;
}

}  // namespace isochron::programs
