#include <algorithm>
#include <limits>

#include "journal/mcap_reader.hpp"

namespace isochron {
namespace {

constexpr std::uint64_t endless = std::numeric_limits<std::uint64_t>::max();

std::uint64_t log_time_of(SimTime time) { return time.ns() < 0 ? 0 : static_cast<std::uint64_t>(time.ns()); }

SimTime sim_time_of(std::uint64_t log_time) {
  constexpr auto last = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return SimTime::from_ns(static_cast<std::int64_t>(std::min(log_time, last)));
}

}  // namespace

MessageCursor::MessageCursor(McapReader& reader, const Query& query, Order order)
    : reader_(&reader),
      order_(order),
      from_(log_time_of(query.from)),
      to_(query.to == SimTime::never() ? endless : log_time_of(query.to)),
      wanted_(reader.channel_id_end(), nullptr) {
  for (const mcap::Channel& channel : reader.channels()) {
    const bool asked = query.topics.empty() || std::ranges::find(query.topics, channel.topic) != query.topics.end();
    if (asked) wanted_[channel.id] = &channel;
  }
  for (std::size_t i = 0; i < reader.blocks().size(); ++i) {
    const MessageBlock& block = reader.blocks()[i];
    const bool in_time = block.end_time >= from_ && (block.start_time < to_ || to_ == endless);
    const bool has_wanted = std::ranges::any_of(block.channels, [&](std::uint16_t id) { return wanted(id); });
    if (in_time && has_wanted) push({i, order == Order::time ? block.start_time : 0, false, 0, {}, {}});
  }
}

bool MessageCursor::wanted(std::uint16_t channel) const {
  return channel < wanted_.size() && wanted_[channel] != nullptr;
}

/// The heap's front is the earliest; at equal times the first in the file.
bool MessageCursor::later(const Open& a, const Open& b) { return a.key != b.key ? a.key > b.key : a.block > b.block; }

void MessageCursor::push(Open open) {
  heap_.push_back(std::move(open));
  std::push_heap(heap_.begin(), heap_.end(), later);
}

MessageCursor::Open MessageCursor::pop() {
  std::pop_heap(heap_.begin(), heap_.end(), later);
  Open open = std::move(heap_.back());
  heap_.pop_back();
  return open;
}

void MessageCursor::load(Open& open) {
  open.loaded = true;
  auto bytes = reader_->unpack(reader_->blocks()[open.block]);
  if (!bytes) return;
  open.bytes = std::move(*bytes);
  mcap::View rest = open.bytes;
  mcap::Record record;
  while (mcap::next_record(rest, record)) {
    mcap::Message message;
    if (record.op != mcap::Op::message || !mcap::parse(record.content, message)) continue;
    const bool in_time = message.log_time >= from_ && (message.log_time < to_ || to_ == endless);
    if (!in_time || !wanted(message.channel_id)) continue;
    const auto at = static_cast<std::size_t>(record.content.data() - open.bytes.data());
    open.entries.push_back({order_ == Order::time ? message.log_time : 0, at, record.content.size()});
  }
  std::stable_sort(open.entries.begin(), open.entries.end(),
                   [](const Entry& a, const Entry& b) { return a.key < b.key; });
  // The block may have claimed another start than its messages have.
  if (!open.entries.empty()) open.key = open.entries.front().key;
}

std::uint64_t MessageCursor::cost_of(const Open& open) {
  return open.bytes.size() + open.entries.size() * sizeof(Entry);
}

/// A small file can hold chunks that unpack to gigabytes and all claim the same time.
bool MessageCursor::has_room_for(Open& open) {
  if (held_ == 0 || held_ + cost_of(open) <= reader_->limits_.cursor_bytes) return true;
  reader_->note_damage(reader_->blocks()[open.block].offset,
                       "this chunk is left out: chunks of the same time do not fit into memory together");
  return false;
}

/// Moves the front on by one message; keeps the heap a heap. Its bytes stay where they are, so views of them do.
void MessageCursor::advance_front() {
  Open& front = heap_.front();
  if (++front.next == front.entries.size()) {
    held_ -= cost_of(front);
    current_ = pop().bytes;
    return;
  }
  front.key = front.entries[front.next].key;
  const bool still_first =
      (heap_.size() < 2 || !later(front, heap_[1])) && (heap_.size() < 3 || !later(front, heap_[2]));
  if (!still_first) push(pop());
}

std::optional<MessageView> MessageCursor::next() {
  while (!heap_.empty()) {
    if (!heap_.front().loaded) {
      Open open = pop();
      load(open);
      if (open.entries.empty() || !has_room_for(open)) continue;
      held_ += cost_of(open);
      push(std::move(open));
      continue;
    }
    const Open& front = heap_.front();
    const Entry& entry = front.entries[front.next];
    mcap::Message message;
    mcap::parse(mcap::View(front.bytes).subspan(entry.at, entry.length), message);
    advance_front();
    return MessageView{wanted_[message.channel_id], message.sequence, sim_time_of(message.log_time),
                       message.publish_time, message.data};
  }
  return std::nullopt;
}

}  // namespace isochron
