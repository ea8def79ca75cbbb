#include "traffic/v2x_node.hpp"

#include <algorithm>

#include "traffic/v2x_unit.hpp"

namespace isochron {

V2xNode::V2xNode(const Scenario& scenario, const std::vector<std::string>& clients)
    : air_(air_settings(scenario)),
      heartbeat_(scenario.agents->heartbeat),
      clients_(clients),
      owners_(station_owners(scenario)) {
  for (const std::string& client : clients_) input<&V2xNode::hear>(client);
  for (const std::string& client : clients_) news_.push_back(event<v2x::AirNews>("to_" + client, SimSpan::zero()));
  output<&V2xNode::tell>("air", flow::observes(heartbeat_));
}

void V2xNode::hear(const v2x::AirUp& up) { air_.hear(up); }

flow::Event<v2x::AirNews>* V2xNode::to(const std::string& station) {
  const auto client = std::find(clients_.begin(), clients_.end(), owners_[station]);
  return client == clients_.end() ? nullptr : &news_[static_cast<std::size_t>(client - clients_.begin())];
}

/// After all clients have told what they send from t on: what is received before t + heartbeat.
void V2xNode::tell(v2x::AirLog& log, SimTime t) {
  air_.advance(t + heartbeat_ - SimSpan::from_ns(1), [&](v2x::AirDelivery&& delivery) {
    if (auto* event = to(delivery.to)) {
      event->fill(delivery.received, [&](v2x::AirNews& news) {
        news.stamp = delivery.received;
        news.busy.clear();
        news.deliveries.assign(1, std::move(delivery));
      });
    }
  });
  log = air_.log(t);
  for (const v2x::AirBusy& busy : log.busy) {
    if (auto* event = to(busy.name)) {
      event->fill(t + heartbeat_ - SimSpan::from_ns(1), [&](v2x::AirNews& news) { news = {t, {}, {busy}}; });
    }
  }
}

}  // namespace isochron
