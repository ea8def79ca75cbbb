#include "flow/sent_log.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace isochron::flow {
namespace {

constexpr std::size_t flush_at = 256U << 10U;
constexpr std::size_t read_at_a_time = 256U << 10U;

struct Head {
  std::uint32_t size = 0;
  std::uint32_t flow = 0;
  std::int64_t time = 0;
  std::int64_t next = 0;
};

[[noreturn]] void give_up(const DiskError& error) {
  throw std::runtime_error("what it sent cannot be kept for nodes that are started again: " + error.what);
}

}  // namespace

void SentLog::sent(const Sent& message) {
  const std::size_t size = message.type->encoded_size(message.value);
  const Head head{static_cast<std::uint32_t>(size), message.flow, message.time.ns(), message.next.ns()};
  const std::size_t at = tail_.size();
  tail_.resize(at + sizeof head + size);
  std::memcpy(tail_.data() + at, &head, sizeof head);
  message.type->encode(message.value, std::span(tail_).subspan(at + sizeof head));
  if (tail_.size() >= flush_at) flush();
  if (next_ != nullptr) next_->sent(message);
}

void SentLog::flush() {
  if (const auto kept = append_all(*file_, tail_); !kept) give_up(kept.error());
  written_ += tail_.size();
  tail_.clear();
}

/// The next bytes of the file; what lies in the block before them is forgotten.
std::span<const std::byte> SentLog::Reader::at_least(std::size_t size) {
  if (block_.size() - begin_ < size) {
    block_.erase(block_.begin(), block_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
    if (offset_ + (size - block_.size()) > log_->written_) log_->flush();
  }
  while (block_.size() < size) {
    const std::size_t had = block_.size();
    block_.resize(std::max(had + read_at_a_time, size));
    const auto read = log_->file_->read_at(offset_, std::span(block_).subspan(had));
    if (!read) give_up(read.error());
    if (*read == 0) throw std::runtime_error("what it sent and kept is not in its file any more");
    block_.resize(had + *read);
    offset_ += *read;
  }
  return std::span(block_).subspan(begin_);
}

SentLog::Entry SentLog::Reader::take() {
  for (;;) {
    Head head;
    std::memcpy(&head, at_least(sizeof head).data(), sizeof head);
    const auto payload = at_least(sizeof head + head.size).subspan(sizeof head, head.size);
    begin_ += sizeof head + head.size;
    if (head.flow != flow_) continue;
    ++number_;
    return {SimTime::from_ns(head.time), SimTime::from_ns(head.next), payload};
  }
}

}  // namespace isochron::flow
