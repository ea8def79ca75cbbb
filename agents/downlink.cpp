#include "agents/downlink.hpp"

#include <google/protobuf/io/coded_stream.h>

#include <cstring>

namespace isochron::agents {
namespace {

using google::protobuf::io::CodedOutputStream;

std::size_t payload_room(const Profile& client) { return client.datagram_bytes - connection_bytes - link::seal_bytes; }
constexpr std::size_t part_room = 12;  // tick's neighbours: part and parts, written last
constexpr std::uint8_t entry_tag = (wire::Down::kAgentsFieldNumber << 3) | 2;

std::size_t entry_bytes(const std::string& entry) {
  return 1 + CodedOutputStream::VarintSize32(static_cast<std::uint32_t>(entry.size())) + entry.size();
}

}  // namespace

bool Downlink::due(const Profile& client, WallTime now) const {
  if (client.standing == Standing::pending || !client.sealer) return false;
  if (client.asked || client.standing != client.told_standing) return true;
  if (client.told == SimTime::before_all() || map_.minimum() >= client.told + map_.settings().heartbeat) return true;
  if (client.notices.due(now, settings_.repeat_notices)) return true;
  const WallSpan since = now - client.sent;
  if (since >= settings_.remind) return true;
  const bool changed = map_.version() != client.sent_through || map_.membership() != client.view.membership;
  return changed && since >= (client.kind == wire::SINGLE ? WallSpan::zero() : settings_.quiet);
}

void Downlink::gather(WallTime now) {
  for (const auto& client : map_.clients()) {
    if (due(*client, now)) burst(*client, now);
  }
}

void Downlink::collect(Profile& client) {
  wanted_.clear();
  View& view = client.view;
  const bool look = client.bursts++ % settings_.view_every == 0 || view.membership != map_.membership();
  if (look) map_.refresh_view(client);
  for (const std::uint32_t slot : view.members) {
    if (map_.agent(slot).version > client.sent_through) wanted_.push_back(slot);
  }
  for (const std::uint32_t slot : view.fresh) {
    if (view.has(slot) && map_.agent(slot).version <= client.sent_through) wanted_.push_back(slot);
  }
  view.fresh.clear();
  client.sent_through = map_.version();
}

void Downlink::fill_header(Profile& client) {
  header_.Clear();
  header_.set_tick(++client.tick);
  header_.set_kind(client.kind);
  header_.set_minimum_ns(map_.minimum().ns());
  header_.set_acknowledged(client.noticed.through());
  header_.set_outside(!client.in_world());
  header_.set_begin_at_ns(client.begin_at.ns());
  header_.set_clients(static_cast<std::uint32_t>(map_.in_world()));
  if (const Profile* slowest = map_.slowest(); slowest != nullptr && slowest != &client && client.asked) {
    header_.set_slowest(slowest->name);
  }
}

void Downlink::add_notices(Profile& client, WallTime now, std::size_t room) {
  for (auto& kept : client.notices.kept()) {
    if (kept.sent != WallTime::before_all() && now - kept.sent < settings_.repeat_notices) continue;
    const std::size_t size = kept.notice.ByteSizeLong() + 4;
    if (size > room) return;
    room -= size;
    kept.sent = now;
    *header_.add_notices() = kept.notice;
  }
}

std::size_t Downlink::entries_that_fit(std::size_t from, std::size_t room, bool single) const {
  std::size_t to = from;
  while (to < wanted_.size() && entry_bytes(map_.agent(wanted_[to]).entry) <= room) {
    room -= entry_bytes(map_.agent(wanted_[to]).entry);
    ++to;
    if (single) break;
  }
  return to;
}

void Downlink::burst(Profile& client, WallTime now) {
  collect(client);
  fill_header(client);
  const std::size_t room = payload_room(client);
  add_notices(client, now, room - header_.ByteSizeLong() - part_room);
  // First where the cuts are, since every part says how many there are.
  std::vector<std::size_t>& cuts = client.view.cuts;
  cuts.clear();
  const bool single = client.kind == wire::SINGLE;
  std::size_t at = entries_that_fit(0, room - header_.ByteSizeLong() - part_room, single);
  cuts.push_back(at);
  const std::size_t notices = header_.ByteSizeLong();
  while (at < wanted_.size()) {
    at = entries_that_fit(at, room - std::min(notices, std::size_t{120}) - part_room, single);
    cuts.push_back(at);
  }
  header_.set_parts(static_cast<std::uint32_t>(cuts.size()));
  std::size_t from = 0;
  for (std::size_t part = 0; part < cuts.size(); ++part) {
    header_.set_part(static_cast<std::uint32_t>(part));
    emit(client, from, cuts[part]);
    from = cuts[part];
    header_.clear_notices();
    header_.clear_slowest();
  }
  client.told = map_.minimum();
  client.told_standing = client.standing;
  client.sent = now;
  client.asked = false;
}

void Downlink::emit(Profile& client, std::size_t from, std::size_t to) {
  std::size_t size = header_.ByteSizeLong();
  for (std::size_t i = from; i < to; ++i) size += entry_bytes(map_.agent(wanted_[i]).entry);
  const std::size_t start = bytes_.size(), whole = connection_bytes + link::seal_bytes + size;
  ENSURE(whole <= client.datagram_bytes, "a burst is cut into datagrams");
  bytes_.resize(start + whole);
  std::byte* head = bytes_.data() + start;
  std::memcpy(head, &client.connection, connection_bytes);
  auto* out = reinterpret_cast<std::uint8_t*>(head + connection_bytes + link::seal_head_bytes);
  out = header_.SerializeWithCachedSizesToArray(out);
  for (std::size_t i = from; i < to; ++i) {
    const std::string& entry = map_.agent(wanted_[i]).entry;
    *out++ = entry_tag;
    out = CodedOutputStream::WriteVarint32ToArray(static_cast<std::uint32_t>(entry.size()), out);
    std::memcpy(out, entry.data(), entry.size());
    out += entry.size();
  }
  client.sealer->seal({head + connection_bytes, whole - connection_bytes});
  pieces_.push_back({client.endpoint, start, whole});
  ++datagrams_;
}

void Downlink::say_gone(Profile& client) {
  if (client.standing == Standing::pending || !client.sealer) return;
  header_.Clear();
  header_.set_tick(++client.tick);
  header_.set_gone(true);
  header_.set_outside(true);
  wanted_.clear();
  emit(client, 0, 0);
}

std::span<const Datagram> Downlink::batch() {
  batch_.clear();
  for (const Piece& piece : pieces_) batch_.push_back({piece.to, std::span(bytes_).subspan(piece.at, piece.size)});
  return batch_;
}

void Downlink::clear() {
  bytes_.clear();
  pieces_.clear();
}

}  // namespace isochron::agents
