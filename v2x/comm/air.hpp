#pragma once
// The air of one emulation: a medium, stations by name, what stands between them, and a log of everything. Whoever
// keeps the time drives it: a node of a flow system, or a communication server.
//
//     air.hear(up);                                  // from each client: bodies, and what will be sent until up.until
//     air.advance(t, [](const AirDelivery& d) {…});  // everything received up to t, in order of time
//     air.log(t);                                    // what ended since the last log
//
// Promises: stations have the same numbers whoever speaks first. Deliveries are the medium's: never before
//           send + access + airtime + flight.
// Requires: a send is not earlier than what was advanced to; one that is goes out now and counts as late.
// Threads:  owner thread.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "v2x/comm/messages.hpp"
#include "v2x/radio/attacker.hpp"
#include "v2x/radio/boxes.hpp"
#include "v2x/radio/options.hpp"

namespace isochron::v2x {

struct AirStation {
  std::string name;
  Vec3 antenna;        // on its body, in the body's frame; of one without a body: in the world
  bool fixed = false;  // has no body
};

/// A body's boxes, in its own frame.
struct AirShape {
  std::string name;
  std::vector<Box> boxes;
};

struct AirSettings {
  std::string medium = "802.11p";
  MediumOptions options;  // its obstruction is made from the boxes below
  std::vector<Attack> attacks;
  std::vector<AirStation> stations;
  std::vector<Box> buildings;
  std::vector<AirShape> bodies;
};

class Air {
 public:
  using Hand = std::function<void(AirDelivery&&)>;
  /// Throws InputError.
  explicit Air(const AirSettings& settings);
  Air(const Air&) = delete;  // the medium refers to its boxes
  Air& operator=(const Air&) = delete;

  void hear(const AirUp& up);
  void advance(SimTime until, const Hand& hand);
  /// Takes what ended since the last one; every 100 ms with busy ratios.
  AirLog log(SimTime stamp);

  [[nodiscard]] SimTime time() const { return now_; }
  [[nodiscard]] const MediumCounts& counts() const { return medium_->counts(); }
  [[nodiscard]] std::uint64_t late() const { return late_; }
  [[nodiscard]] std::uint64_t digest() const { return medium_->digest(); }

 private:
  void witness(const Transmission& t);
  void place(const AirBody& body);
  void take_counts(AirLog& log);

  std::vector<AirStation> stations_;
  std::map<std::string, StationId> ids_;
  std::map<std::string, std::size_t> shapes_;
  std::vector<Vec3> places_;
  Boxes boxes_;
  std::unique_ptr<Medium> medium_;
  SimTime now_;
  std::vector<AirFrame> frames_;
  std::vector<SimSpan> busy_before_;
  SimTime busy_from_;
  const AttackedMedium* attacked_;  // the medium, if there are attacks
  AttackedMedium::Tampering told_;
  AirRefused refused_;
  std::uint64_t late_ = 0;
};

}  // namespace isochron::v2x
