#include "flow/channel.hpp"

#include <algorithm>

namespace isochron::flow {
namespace {

std::size_t payload_room(const ChannelPlan& plan) {
  if (plan.encoded_room != 0) return (plan.encoded_room + 15) / 16 * 16;
  const PayloadType& type = *plan.output->type;
  const std::size_t align = std::max<std::size_t>(type.align, 8);
  return (type.size + align - 1) / align * align;
}

std::size_t payload_align(const ChannelPlan& plan) {
  if (plan.encoded_room != 0) return 16;
  // Whole cache lines for what fills them: a reader of one message shares no line with the writer of the next.
  const std::size_t room = payload_room(plan);
  return std::max(plan.output->type->align, room >= cache_line ? cache_line : std::size_t{8});
}

/// The payloads of all slots lie in one piece, unless they change places with events that wait.
void make_payloads(Arena& arena, Channel& channel, std::size_t align) {
  const std::size_t stride = (channel.payload_room + align - 1) / align * align;
  auto* all = channel.exchanges ? nullptr : static_cast<std::byte*>(arena.take(stride * channel.slot_count(), align));
  for (std::uint32_t i = 0; i < channel.slot_count(); ++i) {
    channel.slots[i].payload = channel.exchanges ? new_payload(*channel.type) : all + i * stride;
    if (!channel.exchanges && !channel.encoded) channel.type->construct(channel.slots[i].payload);
  }
}

}  // namespace

Channel* make_channel(Arena& arena, const ChannelPlan& plan) {
  Channel* channel = arena.make<Channel>();
  channel->capacity = std::max(plan.output->capacity, 1U);
  channel->reader_count = plan.readers;
  channel->source = plan.source;
  channel->flow = plan.flow;
  channel->kind = plan.output->kind;
  channel->type = plan.output->type;
  channel->encoded = plan.encoded_room != 0;
  channel->payload_room = payload_room(plan);
  channel->bound.store(plan.start.ns(), std::memory_order_relaxed);
  channel->readers = arena.make_array<Reader>(plan.readers);
  channel->slots = arena.make_array<Slot>(channel->slot_count());
  channel->exchanges = channel->kind == FlowKind::event && !channel->encoded && !arena.shared();
  make_payloads(arena, *channel, payload_align(plan));
  return channel;
}

void clear_channel(Channel& channel) {
  for (std::uint32_t i = 0; i < channel.slot_count(); ++i) {
    if (channel.exchanges) {
      delete_payload(*channel.type, channel.slots[i].payload);
    } else if (!channel.encoded) {
      channel.type->destroy(channel.slots[i].payload);
    }
  }
}

std::size_t memory_of(const ChannelPlan& plan) {
  const std::size_t slots = std::max(plan.output->capacity, 1U) + std::size_t{1};
  return sizeof(Channel) + plan.readers * sizeof(Reader) + slots * (sizeof(Slot) + payload_room(plan));
}

}  // namespace isochron::flow
