#include "view/live_page.hpp"

#include <algorithm>

#include "core/foreign_text.hpp"
#include "view/decimate.hpp"
#include "view/json_fields.hpp"
#include "view/wish.hpp"

namespace isochron::view {
namespace {

using Json = nlohmann::json;

constexpr std::size_t samples_per_look = 50;  // of one plot; more than the screen shows
constexpr std::size_t plots_max = 500;        // of one page

}  // namespace

LivePage::LivePage(LiveSource& live, std::shared_ptr<Peer> peer) : live_(live), peer_(std::move(peer)) {
  live_.join(*this);
}

LivePage::~LivePage() {
  live_.leave(*this);
  for (const Plot& plot : plots_) live_.unfollow(plot.channel);
}

void LivePage::received(std::string_view bytes, bool binary) {
  const Json message = binary ? Json() : Json::parse(bytes, nullptr, false);
  if (!message.is_object()) return;
  const std::string wish = text_in(message, "do");
  if (wish == "plot") plot(text_in(message, "topic"), text_in(message, "field"));
  if (wish == "unplot") unplot(text_in(message, "topic"), text_in(message, "field"));
  (void)grant(bytes, live_.watch());
}

void LivePage::plot(const std::string& topic, const std::string& field) {
  const auto channel = live_.channel_of(topic);
  if (!channel) return;
  auto decoder = decoder_of(live_.tap().channels(*channel).front());
  if (!decoder) return;
  const std::lock_guard guard(lock_);
  if (plots_.size() >= plots_max) return;
  plots_.push_back({topic, field, *channel, std::move(*decoder)});
  live_.follow(*channel);
}

void LivePage::unplot(const std::string& topic, const std::string& field) {
  const std::lock_guard guard(lock_);
  const auto found = std::ranges::find_if(plots_, [&](const Plot& p) { return p.topic == topic && p.field == field; });
  if (found == plots_.end()) return;
  live_.unfollow(found->channel);
  plots_.erase(found);
}

void LivePage::records(const std::deque<LiveRecord>& records) {
  if (records.empty()) return;
  const std::lock_guard guard(lock_);
  for (const Plot& plot : plots_) {
    Decimator line(records.front().time.seconds(), records.back().time.seconds(), samples_per_look);
    for (const LiveRecord& record : records) {
      if (record.channel != plot.channel) continue;
      if (const auto value = plot.decoder.number(std::as_bytes(std::span(record.payload)), plot.field))
        line.add(record.time.seconds(), *value);
    }
    const PlotLine values = line.finish();
    if (values.times.empty()) continue;
    peer_->send_text(json_text(Json{
        {"type", "samples"}, {"topic", plot.topic}, {"field", plot.field}, {"t", values.times}, {"v", values.values}}));
  }
}

}  // namespace isochron::view
