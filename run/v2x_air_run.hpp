#pragma once
// The air of a run that keeps time by heartbeats, with its record: what every client said, and what became of it.
//
// Threads: clients' air from their own threads; the rest by the owner.

#include <map>
#include <memory>
#include <string>

#include "run/agent_client.hpp"
#include "run/run_record.hpp"
#include "v2x/comm/shared_air.hpp"

namespace isochron {

/// Writes what one client's radios say.
class SaidLane {
 public:
  SaidLane(RunRecord& record, const std::string& client);
  void write(const v2x::AirUp& up) { producer_.write(channel_, up.stamp, up); }

 private:
  ChannelId channel_;
  Producer& producer_;
};

class RecordedAir {
 public:
  RecordedAir(const Scenario& scenario, RunRecord& record);
  /// A client of this process: what it asks every heartbeat.
  AgentClient::Air enter(const std::string& client);
  [[nodiscard]] v2x::SharedAir& shared() { return *shared_; }

 private:
  RunRecord& record_;
  ChannelId channel_;
  Producer& producer_;
  std::map<std::string, std::unique_ptr<SaidLane>> said_;
  std::unique_ptr<v2x::SharedAir> shared_;
};

/// The MAP of each of a checked scenario's intersections, by its lights.
std::vector<std::pair<std::string, v2x::Bytes>> scenario_maps(const Scenario& scenario);

/// The certificates of a checked scenario that signs: the authority's, called "", and those of its stations by name.
std::vector<std::pair<std::string, v2x::Bytes>> scenario_certificates(const Scenario& scenario);

/// Says in the report whose standing still the radio did not wait out.
void describe_standstills(const v2x::SharedAir& air, RunReport& report);

}  // namespace isochron
