#pragma once
// One open page of a run that is under way: what it wants plotted, and what it asks of the run.

#include <deque>
#include <map>
#include <mutex>
#include <optional>

#include "journal/decode.hpp"
#include "view/live_source.hpp"

namespace isochron::view {

std::optional<Decoder> decoder_of(const ChannelDefinition& definition);

class LivePage final : public Session {
 public:
  LivePage(LiveSource& live, std::shared_ptr<Peer> peer);
  ~LivePage() override;

  void received(std::string_view bytes, bool binary) override;
  [[nodiscard]] Peer& peer() { return *peer_; }
  /// Sends on those values that this page plots.
  void records(const std::deque<LiveRecord>& records);

 private:
  struct Plot {
    std::string topic, field;
    std::size_t channel;
    std::optional<Decoder> decoder;      // of a topic's field
    std::optional<NumberReader> number;  // without a topic: the field is a name
    [[nodiscard]] std::optional<double> value(std::span<const std::byte> record);
  };
  [[nodiscard]] std::optional<Plot> plot_of(const std::string& topic, const std::string& field);
  void plot(const std::string& topic, const std::string& field);
  void unplot(const std::string& topic, const std::string& field);

  LiveSource& live_;
  std::shared_ptr<Peer> peer_;
  std::mutex lock_;
  std::vector<Plot> plots_;
};

}  // namespace isochron::view
