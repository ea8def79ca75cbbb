#pragma once
// This process as a node among those of ROS 2, over DDS: topics of any type, services, and what is needed that
// `ros2 node list` and `ros2 topic list` show us. What is in the messages is CDR that others write and read.
//
//     publish ──────────────► rt/NAME                    take ◄── rt/NAME
//     serve   ◄── rq/NAMERequest ── rr/NAMEReply ──►     ros_discovery_info: our name, and which topics are ours
//
// Services carry a request's identity at the beginning of the message, as Cyclone's ROS layer has it. Fast DDS has it
// elsewhere, so its clients are not served.
//
// Requires: topics and services are made before start(), and not afterwards.
// Threads:  publish(): any, for one topic one at a time. What arrives comes on one thread of its own.
// Fails:    no domain, a wrong name: InputError. What others do wrong is news: said once, and the run goes on.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bridge/ros2/qos.hpp"
#include "link/dds/dds_options.hpp"

namespace isochron::ros2 {

class Graph {
 public:
  using Fill = std::function<void(std::span<std::byte>)>;
  using Take = std::function<void(std::span<const std::byte> cdr)>;
  /// A request to an answer, both CDR; nothing: the request makes no sense.
  using Serve = std::function<std::optional<std::vector<std::byte>>(std::span<const std::byte> request)>;
  using News = std::function<void(const std::string& what)>;

  /// `news` is told what is wrong with others, on the thread that receives.
  Graph(const std::string& node, const std::string& space, const link::DdsOptions& options, News news);
  ~Graph();

  /// Full names of topics, services and types (names.hpp).
  std::size_t advertise(const std::string& topic, const std::string& type, const Qos& qos);
  std::size_t subscribe(const std::string& topic, const std::string& type, const Qos& qos, Take take);
  void serve(const std::string& service, const std::string& type, Serve serve);
  /// Every other node that there is or comes is sent these requests (type `type`, service NODE/`name`), once.
  void tell_all_nodes(const std::string& name, const std::string& type, std::vector<std::byte> request);
  void start();

  /// False: a reader is too slow, and the message is lost.
  bool publish(std::size_t topic, std::size_t size, const Fill& fill);
  /// Who is at the other end: of an advertised topic, of a subscribed one.
  [[nodiscard]] unsigned listeners(std::size_t advertised) const;
  [[nodiscard]] unsigned speakers(std::size_t subscribed) const;
  /// Names of all nodes that were seen, ours too.
  [[nodiscard]] std::vector<std::string> nodes() const;

 private:
  class Entities;
  std::unique_ptr<Entities> dds_;
};

}  // namespace isochron::ros2
