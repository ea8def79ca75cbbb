#include "view/foxglove.hpp"

#include <map>
#include <mutex>
#include <set>

#include "core/foreign_text.hpp"
#include "view/frame_writer.hpp"
#include "view/json_fields.hpp"

namespace isochron::view {
namespace {

using Json = nlohmann::json;

constexpr std::uint8_t message_opcode = 1, time_opcode = 2;  // of binary messages to the client
constexpr std::uint64_t time_key = 1;
constexpr std::size_t subscriptions_max = 10'000;

class FoxgloveSession final : public Session, public LiveListener {
 public:
  FoxgloveSession(LiveSource& live, std::shared_ptr<Peer> peer) : live_(live), peer_(std::move(peer)) {
    peer_->send_text(json_text(Json{{"op", "serverInfo"},
                                    {"name", "isochron"},
                                    {"capabilities", {"time"}},
                                    {"supportedEncodings", Json::array()},
                                    {"metadata", Json::object()},
                                    {"sessionId", std::to_string(reinterpret_cast<std::uintptr_t>(this))}}));
    live_.join(*this);
  }
  ~FoxgloveSession() override {
    live_.leave(*this);
    for (const auto& [subscription, channel] : subscriptions_) live_.unfollow(channel);
  }

  void received(std::string_view bytes, bool binary) override {
    if (binary) return;
    const Json message = Json::parse(bytes, nullptr, false);
    if (!message.is_object()) return warn("that was no JSON object");
    const std::string op = text_in(message, "op");
    if (op == "subscribe" && message.contains("subscriptions")) return subscribe(message["subscriptions"]);
    if (op == "unsubscribe" && message.contains("subscriptionIds")) return unsubscribe(message["subscriptionIds"]);
    warn("`" + foreign_name(op, 40) + "` is not offered here");
  }

  void channels(std::size_t first, const std::vector<ChannelDefinition>& added) override {
    Json list = Json::array();
    for (std::size_t i = 0; i < added.size(); ++i) {
      const ChannelDefinition& channel = added[i];
      if (channel.options.message_encoding != "cdr") continue;
      list.push_back({{"id", first + i + 1},  // 0 is no id to some clients
                      {"topic", channel.topic},
                      {"encoding", channel.options.message_encoding},
                      {"schemaName", channel.schema.name},
                      {"schema", channel.schema.text},
                      {"schemaEncoding", channel.schema.encoding}});
    }
    if (!list.empty()) peer_->send_text(json_text(Json{{"op", "advertise"}, {"channels", list}}));
  }

  void record(const LiveRecord& record) override {
    const std::lock_guard guard(lock_);
    for (const auto& [subscription, channel] : subscriptions_) {
      if (channel == record.channel) send(subscription, record);
    }
  }
  void now(SimTime time) override {
    std::string bytes;
    append_bytes(bytes, time_opcode);
    append_bytes(bytes, static_cast<std::uint64_t>(time.ns()));
    peer_->send_binary(std::move(bytes), time_key);
  }

 private:
  void subscribe(const Json& list) {
    if (!list.is_array()) return;
    for (const Json& one : list) {
      if (!one.is_object() || !one.value("id", Json()).is_number_unsigned() ||
          !one.value("channelId", Json()).is_number_unsigned()) {
        warn("a subscription has numbers `id` and `channelId`");
        continue;
      }
      const auto id = one["id"].get<std::uint32_t>();
      const std::size_t channel = one["channelId"].get<std::size_t>() - 1;
      if (channel >= live_.tap().channel_count()) {
        warn("there is no such channel");
        continue;
      }
      const std::lock_guard guard(lock_);
      if (subscriptions_.size() >= subscriptions_max || !subscriptions_.emplace(id, channel).second) continue;
      live_.follow(channel);
      const LiveRecord kept = live_.tap().kept(channel);
      if (!kept.payload.empty()) send(id, kept);  // as the scene, which is said once
    }
  }
  void unsubscribe(const Json& list) {
    if (!list.is_array()) return;
    const std::lock_guard guard(lock_);
    for (const Json& id : list) {
      if (!id.is_number_unsigned()) continue;
      const auto found = subscriptions_.find(id.get<std::uint32_t>());
      if (found == subscriptions_.end()) continue;
      live_.unfollow(found->second);
      subscriptions_.erase(found);
    }
  }
  void send(std::uint32_t subscription, const LiveRecord& record) {
    std::string bytes;
    bytes.reserve(record.payload.size() + 13);
    append_bytes(bytes, message_opcode);
    append_bytes(bytes, subscription);
    append_bytes(bytes, static_cast<std::uint64_t>(record.time.ns()));
    peer_->send_binary(bytes + record.payload);
  }
  void warn(const std::string& what) {
    peer_->send_text(json_text(Json{{"op", "status"}, {"level", 1}, {"message", what}}));
  }

  LiveSource& live_;
  std::shared_ptr<Peer> peer_;
  std::mutex lock_;
  std::map<std::uint32_t, std::size_t> subscriptions_;  // subscription id -> channel
};

}  // namespace

std::unique_ptr<Session> open_foxglove(LiveSource& live, std::shared_ptr<Peer> peer) {
  return std::make_unique<FoxgloveSession>(live, std::move(peer));
}

}  // namespace isochron::view
