#include "bridge/ros2/graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "bridge/ros2/names.hpp"
#include "core/cdr.hpp"
#include "link/dds/dds_domain.hpp"
#include "link/dds/raw_topic.hpp"
#include "msg/ros_service_messages.hpp"

namespace isochron::ros2 {
namespace {

using namespace std::chrono_literals;

link::DdsOptions options() { return {static_cast<std::uint32_t>(78 + getpid() % 100), "lo", {}}; }

/// What one side heard; asked from the test's thread.
class Heard {
 public:
  void add(std::string what) {
    const std::lock_guard lock(mutex_);
    all_.push_back(std::move(what));
  }
  [[nodiscard]] bool has(const std::string& part) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(all_, [&](const std::string& one) { return one.find(part) != std::string::npos; });
  }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return all_.size();
  }
  [[nodiscard]] std::string text() const {
    const std::lock_guard lock(mutex_);
    std::string all;
    for (const std::string& one : all_) all += one + "\n";
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> all_;
};

template <class F>
bool soon(F&& holds) {
  for (int i = 0; i < 1000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

void say(Graph& graph, std::size_t topic, const std::string& text) {
  const std_msgs::String message{text};
  graph.publish(topic, cdr_size(message), [&](std::span<std::byte> room) { cdr_write(message, room); });
}
Graph::Take into(Heard& heard) {
  return [&heard](std::span<const std::byte> cdr) {
    const auto message = cdr_read<std_msgs::String>(cdr);
    heard.add(message.ok() ? message->data : "no text");
  };
}
Graph::News into_news(Heard& heard) {
  return [&heard](const std::string& what) { heard.add(what); };
}

constexpr const char* text_type = "std_msgs/msg/String";

TEST(Graph, NodesTalkAndKnowEachOther) {
  Heard news, heard;
  Graph talker("talker", "/a", options(), into_news(news));
  Graph listener("listener", "/", options(), into_news(news));
  const std::size_t out = talker.advertise("/chatter", text_type, {});
  const std::size_t in = listener.subscribe("/chatter", text_type, {}, into(heard));
  talker.start();
  listener.start();
  ASSERT_TRUE(soon([&] { return talker.listeners(out) == 1 && listener.speakers(in) == 1; }));
  for (int i = 0; i < 5; ++i) say(talker, out, "number " + std::to_string(i));
  EXPECT_TRUE(soon([&] { return heard.size() == 5; })) << heard.text();
  EXPECT_TRUE(heard.has("number 4"));
  EXPECT_TRUE(soon([&] {
    const auto nodes = listener.nodes();
    return std::ranges::find(nodes, "/a/talker") != nodes.end() && std::ranges::find(nodes, "/listener") != nodes.end();
  }));
  EXPECT_EQ(news.text(), "");
}

TEST(Graph, WhoComesLaterGetsWhatIsLatched) {
  Heard news, heard;
  Graph talker("talker", "/", options(), into_news(news));
  const std::size_t out = talker.advertise("/map", text_type, {true, true, 1, {}});
  talker.start();
  say(talker, out, "old");
  say(talker, out, "kept");
  Graph late("late", "/", options(), into_news(news));
  late.subscribe("/map", text_type, {true, true, 1, {}}, into(heard));
  late.start();
  EXPECT_TRUE(soon([&] { return heard.has("kept"); }));
  EXPECT_FALSE(heard.has("old"));
}

TEST(Graph, WhatDoesNotFitIsSaidWithBothSides) {
  Heard news, ignored, heard;
  Graph ours("ours", "/", options(), into_news(news));
  ours.subscribe("/scan", text_type, {true, false, 10, {}}, into(heard));
  ours.subscribe("/pose", text_type, {}, into(heard));
  ours.start();
  Graph other("other", "/", options(), into_news(ignored));
  other.advertise("/scan", text_type, {false, false, 5, {}});
  other.advertise("/pose", "geometry_msgs/msg/Pose", {});
  other.start();
  EXPECT_TRUE(soon([&] { return news.size() == 2; })) << news.text();
  EXPECT_TRUE(news.has("a publisher of /scan does not fit: the subscriber asks for reliable")) << news.text();
  EXPECT_TRUE(news.has("theirs: best effort, volatile")) << news.text();
  EXPECT_TRUE(news.has("a publisher of /pose has the type geometry_msgs/msg/Pose, ours is std_msgs/msg/String"))
      << news.text();
}

TEST(Graph, TwoOfOneNameAreTold) {
  Heard news, ignored;
  Graph first("isochron", "/", options(), into_news(news));
  first.start();
  Graph second("isochron", "/", options(), into_news(ignored));
  second.start();
  EXPECT_TRUE(soon([&] { return news.has("another node is called /isochron too"); })) << news.text();
}

/// A client as Cyclone's ROS layer is one.
class Client {
 public:
  Client(const std::string& service, const std::string& type) : place_(options()) {
    out_ = link::make_raw_topic(place_.entity(), dds_request(service), dds_type(type, "_Request"));
    const auto in = link::make_raw_topic(place_.entity(), dds_reply(service), dds_type(type, "_Response"));
    const link::DdsQos qos(dds_create_qos());
    dds_qset_reliability(qos.get(), DDS_RELIABILITY_RELIABLE, DDS_SECS(1));
    dds_qset_history(qos.get(), DDS_HISTORY_KEEP_ALL, 0);
    writer_ = dds_create_writer(place_.entity(), out_.entity, qos.get(), nullptr);
    reader_ = dds_create_reader(place_.entity(), in.entity, qos.get(), nullptr);
  }
  [[nodiscard]] bool ready() const {
    return dds_get_matched_subscriptions(writer_, nullptr, 0) > 0 &&
           dds_get_matched_publications(reader_, nullptr, 0) > 0;
  }
  template <class Response, class Request>
  std::optional<Response> call(std::uint64_t number, const Request& request) {
    std::vector<std::byte> cdr = cdr_bytes(request);
    std::array<std::uint64_t, 2> header{42, number};
    const auto bytes = std::as_bytes(std::span(header));
    cdr.insert(cdr.begin() + 4, bytes.begin(), bytes.end());
    send(cdr);
    std::optional<Response> answer;
    soon([&] {
      link::take_raw(reader_, 10, [&](std::span<const std::byte> reply, const dds_sample_info_t&) {
        std::array<std::uint64_t, 2> who{};
        std::memcpy(who.data(), reply.data() + 4, sizeof who);
        if (who != header) return;
        std::vector<std::byte> body(reply.begin(), reply.begin() + 4);
        body.insert(body.end(), reply.begin() + 20, reply.end());
        const auto read = cdr_read<Response>(body);
        if (read.ok()) answer = *read;
      });
      return answer.has_value();
    });
    return answer;
  }
  void send(const std::vector<std::byte>& cdr) {
    link::write_raw(writer_, out_, cdr.size(),
                    [&](std::span<std::byte> room) { std::ranges::copy(cdr, room.begin()); });
  }

 private:
  link::DdsParticipant place_;
  link::RawTopic out_;
  dds_entity_t writer_ = 0, reader_ = 0;
};

TEST(Graph, ServicesAnswerWhoAsked) {
  Heard news;
  Graph server("server", "/", options(), into_news(news));
  int calls = 0;
  server.serve("/server/count", "std_srvs/srv/Trigger", [&](std::span<const std::byte> cdr) {
    std::optional<std::vector<std::byte>> answer;
    if (cdr_read<std_srvs::EmptyRequest>(cdr).ok()) {
      answer = cdr_bytes(std_srvs::TriggerResponse{true, "call " + std::to_string(++calls)});
    }
    return answer;
  });
  server.start();
  Client client("/server/count", "std_srvs/srv/Trigger");
  ASSERT_TRUE(soon([&] { return client.ready(); }));
  const auto first = client.call<std_srvs::TriggerResponse>(1, std_srvs::EmptyRequest{});
  const auto second = client.call<std_srvs::TriggerResponse>(2, std_srvs::EmptyRequest{});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->message, "call 1");
  EXPECT_EQ(second->message, "call 2");
  client.send(std::vector<std::byte>(5));
  EXPECT_TRUE(soon([&] { return news.has("a request without its header"); }));
}

TEST(Graph, EveryNodeThatComesIsTold) {
  Heard news, told;
  Graph ours("ours", "/", options(), into_news(news));
  ours.tell_all_nodes("set_parameters", "rcl_interfaces/srv/SetParameters",
                      cdr_bytes(rcl_interfaces::SetParametersRequest{{{"use_sim_time", {1, true}}}}));
  ours.start();
  Graph later("later", "/robot", options(), into_news(news));
  later.serve("/robot/later/set_parameters", "rcl_interfaces/srv/SetParameters", [&](std::span<const std::byte> cdr) {
    const auto request = cdr_read<rcl_interfaces::SetParametersRequest>(cdr);
    std::optional<std::vector<std::byte>> answer;
    if (request.ok() && request->parameters.size() == 1) {
      told.add(request->parameters[0].name);
      answer = cdr_bytes(rcl_interfaces::SetParametersResponse{{{true, ""}}});
    }
    return answer;
  });
  later.start();
  EXPECT_TRUE(soon([&] { return told.has("use_sim_time"); }));
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(told.size(), 1U);
}

}  // namespace
}  // namespace isochron::ros2
