#pragma once
// What clients and a communication server say to each other, and what the journal keeps of it. A client tells at t
// where its bodies are and what its stations will send until t + heartbeat; it is told what they heard.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/message.hpp"

namespace isochron::v2x {

/// A body that carries an antenna, or stands in the way of others'.
struct AirBody {
  std::string name;
  std::array<double, 3> position{};
  std::array<double, 4> orientation{1, 0, 0, 0};
};
ISOCHRON_MESSAGE(AirBody, "isochron_msgs/msg/AirBody", name, position, orientation)

struct AirSend {
  std::string from;
  SimTime at;
  double power_dbm = 0;
  std::vector<std::uint8_t> octets;
};
ISOCHRON_MESSAGE(AirSend, "isochron_msgs/msg/AirSend", from, at, power_dbm, octets)

/// What a vehicle's station advises its driver; −1 = nothing.
struct AirAdvice {
  std::string name;
  double speed_m_s = -1;      // for the green
  double stop_within_m = -1;  // for one behind the corner
  double threat_in_s = -1;
};
ISOCHRON_MESSAGE(AirAdvice, "isochron_msgs/msg/AirAdvice", name, speed_m_s, stop_within_m, threat_in_s)

/// Messages that stations heard and refused.
struct AirRefused {
  std::uint32_t old = 0;         // delayed, or replayed
  std::uint32_t unreadable = 0;  // altered
  std::uint32_t untrusted = 0;   // not signed, or not by somebody who may say it
};
ISOCHRON_MESSAGE(AirRefused, "isochron_msgs/msg/AirRefused", old, unreadable, untrusted)

/// Messages that an attacker had his hands on.
struct AirTampered {
  std::uint32_t altered = 0, delayed = 0, dropped = 0, replayed = 0, invented = 0;
};
ISOCHRON_MESSAGE(AirTampered, "isochron_msgs/msg/AirTampered", altered, delayed, dropped, replayed, invented)

/// Client to medium.
struct AirUp {
  SimTime stamp;
  SimTime until;  // everything that is sent before this has been told
  std::vector<AirBody> bodies;
  std::vector<AirSend> sends;
  std::vector<AirAdvice> advice;  // for the journal
  AirRefused refused{};           // since the last one
};
ISOCHRON_MESSAGE(AirUp, "isochron_msgs/msg/AirUp", stamp, until, bodies, sends, advice, refused)

struct AirDelivery {
  std::string to;
  std::string from;
  SimTime sent;
  SimTime received;
  double power_dbm = 0;
  std::vector<std::uint8_t> octets;
};
ISOCHRON_MESSAGE(AirDelivery, "isochron_msgs/msg/AirDelivery", to, from, sent, received, power_dbm, octets)

struct AirBusy {
  std::string name;
  double ratio = 0;  // share of the last 100 ms that the channel was busy there
};
ISOCHRON_MESSAGE(AirBusy, "isochron_msgs/msg/AirBusy", name, ratio)

/// Medium to client.
struct AirNews {
  SimTime stamp;
  std::vector<AirDelivery> deliveries;
  std::vector<AirBusy> busy;
};
ISOCHRON_MESSAGE(AirNews, "isochron_msgs/msg/AirNews", stamp, deliveries, busy)

/// One message on the air and what became of it at every other station.
struct AirFrame {
  std::string from;
  std::uint16_t type = 0;  // J2735's number: 18 MAP, 19 SPaT, 20 BSM
  std::uint16_t octets = 0;
  SimTime sent, started, ended;
  std::vector<std::string> to;
  std::vector<std::uint8_t> fate;  // v2x::Fate, in its order: 0 = delivered
  std::vector<float> distance_m;
  std::vector<float> latency_s;  // from send to delivery; −1 = not delivered
  std::vector<float> power_dbm;
};
ISOCHRON_MESSAGE(AirFrame, "isochron_msgs/msg/AirFrame", from, type, octets, sent, started, ended, to, fate, distance_m,
                 latency_s, power_dbm)

/// What ended on the air in one heartbeat, how busy it was, and what was tampered with and refused since the last one.
struct AirLog {
  SimTime stamp;
  std::vector<AirFrame> frames;
  std::vector<AirBusy> busy;  // every 100 ms
  AirTampered tampered{};
  AirRefused refused{};
};
ISOCHRON_MESSAGE(AirLog, "isochron_msgs/msg/AirLog", stamp, frames, busy, tampered, refused)

}  // namespace isochron::v2x
