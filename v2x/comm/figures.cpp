#include "v2x/comm/figures.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/foreign_text.hpp"

namespace isochron::v2x {
namespace {

constexpr std::size_t most_distance_bins = 100, most_latency_bins = 5000;

/// The middle of the bin in which a share of all lies below.
double quantile(const std::vector<std::uint64_t>& bins, double share, double width) {
  std::uint64_t all = 0, seen = 0;
  for (const std::uint64_t n : bins) all += n;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    seen += bins[i];
    if (seen > 0 && static_cast<double>(seen) >= share * static_cast<double>(all)) {
      return (static_cast<double>(i) + 0.5) * width;
    }
  }
  return 0;
}

template <class T>
void count(std::vector<T>& bins, std::size_t at, std::size_t most) {
  if (bins.size() <= std::min(at, most)) bins.resize(std::min(at, most) + 1);
}

}  // namespace

void AirFigures::take(const AirLog& log) {
  for (const AirFrame& frame : log.frames) take(frame);
  for (const AirBusy& busy : log.busy) {
    busy_sum_ += busy.ratio;
    busy_max_ = std::max(busy_max_, busy.ratio);
    ++busy_count_;
  }
  Interference& i = interference_;
  i.altered += log.tampered.altered;
  i.delayed += log.tampered.delayed;
  i.dropped += log.tampered.dropped;
  i.replayed += log.tampered.replayed;
  i.invented += log.tampered.invented;
  i.refused_old += log.refused.old;
  i.refused_unreadable += log.refused.unreadable;
  i.refused_untrusted += log.refused.untrusted;
}

void AirFigures::take(const AirFrame& frame) {
  ++frames_;
  ++types_[frame.type];
  const std::size_t n =
      std::min({frame.fate.size(), frame.distance_m.size(), frame.latency_s.size()});  // a journal may be anybody's
  for (std::size_t i = 0; i < n; ++i) {
    const auto fate = std::min<std::size_t>(frame.fate[i], fates_.size() - 1);
    ++fates_[fate];
    if (fate == static_cast<std::size_t>(Fate::expired) || fate == static_cast<std::size_t>(Fate::dropped)) continue;
    const auto far = std::min<std::size_t>(
        static_cast<std::size_t>(std::clamp(frame.distance_m[i], 0.0F, 1e7F) / static_cast<float>(bin_m)),
        most_distance_bins);
    count(bins_, far, most_distance_bins);
    ++bins_[far].offered;
    if (fate != 0) continue;
    ++bins_[far].delivered;
    const double late = std::clamp(static_cast<double>(frame.latency_s[i]), 0.0, 1e3);
    const auto bin = std::min(static_cast<std::size_t>(late / latency_bin_s), most_latency_bins);
    count(latencies_, bin, most_latency_bins);
    ++latencies_[bin];
    latency_sum_ += late;
    latency_max_ = std::max(latency_max_, late);
  }
}

AirFigures::Latency AirFigures::latency() const {
  if (fates_[0] == 0) return {};
  return {latency_sum_ / static_cast<double>(fates_[0]), quantile(latencies_, 0.5, latency_bin_s),
          quantile(latencies_, 0.99, latency_bin_s), latency_max_};
}

std::string to_json(const AirFigures& figures) {
  using Json = nlohmann::ordered_json;
  Json distance = Json::array(), fates, types, latencies = Json::array();
  for (std::size_t i = 0; i < figures.by_distance().size(); ++i) {
    const AirFigures::Bin& bin = figures.by_distance()[i];
    if (bin.offered == 0) continue;
    distance.push_back({{"from_m", static_cast<double>(i) * AirFigures::bin_m},
                        {"to_m", static_cast<double>(i + 1) * AirFigures::bin_m},
                        {"offered", bin.offered},
                        {"delivered", bin.delivered}});
  }
  for (std::size_t i = 0; i < fate_names.size(); ++i) fates[fate_names[i]] = figures.fates()[i];
  for (const auto& [type, n] : figures.frames_by_type()) types[std::to_string(type)] = n;
  for (std::size_t i = 0; i < figures.latencies().size(); ++i) {
    if (figures.latencies()[i] == 0) continue;
    latencies.push_back(Json::array({static_cast<double>(i) * AirFigures::latency_bin_s, figures.latencies()[i]}));
  }
  const AirFigures::Latency latency = figures.latency();
  const AirFigures::Interference& i = figures.interference();
  return json_text(Json{
      {"messages", figures.frames()},
      {"by_type", types},
      {"receptions", fates},
      {"tampered",
       {{"altered", i.altered},
        {"delayed", i.delayed},
        {"dropped", i.dropped},
        {"replayed", i.replayed},
        {"invented", i.invented}}},
      {"refused", {{"old", i.refused_old}, {"unreadable", i.refused_unreadable}, {"untrusted", i.refused_untrusted}}},
      {"by_distance", distance},
      {"latency_s", {{"mean", latency.mean_s}, {"p50", latency.p50_s}, {"p99", latency.p99_s}, {"max", latency.max_s}}},
      {"latencies", latencies},
      {"busy", {{"mean", figures.busy_mean()}, {"max", figures.busy_max()}}}});
}

}  // namespace isochron::v2x
