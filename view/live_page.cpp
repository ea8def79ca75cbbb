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

std::optional<double> LivePage::Plot::value(std::span<const std::byte> record) {
  return number ? number->number(record) : decoder->number(record, field);
}

std::optional<LivePage::Plot> LivePage::plot_of(const std::string& topic, const std::string& field) {
  if (topic.empty()) {
    const Names names = live_.names();
    const auto number = names.find(field);
    if (!number || number->quantity == Quantity::text) return std::nullopt;
    return Plot{topic, field, number->channel, std::nullopt, names.reader(*number)};
  }
  const auto channel = live_.channel_of(topic);
  if (!channel) return std::nullopt;
  auto decoder = decoder_of(live_.tap().channels(*channel).front());
  if (!decoder) return std::nullopt;
  return Plot{topic, field, *channel, std::move(decoder), std::nullopt};
}

void LivePage::plot(const std::string& topic, const std::string& field) {
  auto made = plot_of(topic, field);
  const std::lock_guard guard(lock_);
  if (!made || plots_.size() >= plots_max) return;
  live_.follow(made->channel);
  plots_.push_back(std::move(*made));
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
  for (Plot& plot : plots_) {
    Decimator line(records.front().time.seconds(), records.back().time.seconds(), samples_per_look);
    for (const LiveRecord& record : records) {
      if (record.channel != plot.channel) continue;
      if (const auto value = plot.value(std::as_bytes(std::span(record.payload))))
        line.add(record.time.seconds(), *value);
    }
    const PlotLine values = line.finish();
    if (values.times.empty()) continue;
    peer_->send_text(json_text(Json{
        {"type", "samples"}, {"topic", plot.topic}, {"field", plot.field}, {"t", values.times}, {"v", values.values}}));
  }
}

}  // namespace isochron::view
