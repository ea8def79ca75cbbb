#pragma once
// A federation of one FMU, a source and a sink, for tests of nodes that are FMUs.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "bridge/fmi/fields.hpp"
#include "bridge/fmi/node.hpp"
#include "bridge/fmi/test/fmu_maker.hpp"
#include "bridge/fmi/wiring.hpp"
#include "flow/definition.hpp"
#include "flow/dynamic_node.hpp"
#include "flow/run.hpp"

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

namespace isochron::fmi::test {

using namespace std::chrono_literals;

struct Command {
  double angle = 0, other = 0;
  std::array<double, 3> three{};
  std::int32_t count = 0;
  bool on = false;
  std::int64_t big = 0;
};

inline constexpr const char* command_type =
    "test_msgs/msg/Command\nfloat64 angle\nfloat64 other\nfloat64[3] three\nint32 count\nbool on\nint64 big\n";

/// Says its own time, ten times that, and so on.
class Source final : public flow::DynamicNode {
 public:
  explicit Source(SimSpan period) {
    flow::OutputInfo info;
    info.name = "command";
    info.period = period;
    info.type = &flow::dynamic_type(command_type);
    add_output(std::move(info));
  }

 private:
  void heard(std::uint32_t, const void*, SimTime) override {}
  void fill(std::uint32_t, void* payload, SimTime t) override {
    const double s = static_cast<double>(t.since_zero().ns()) / 1e9;
    *static_cast<Command*>(payload) = {s,        10 * s, {s, 2 * s, 3 * s}, static_cast<std::int32_t>(1000 * s + 0.5),
                                       s > 0.05, 7};
  }
};

/// Keeps what comes, as text: "0.1 0.3; …".
class Sink final : public flow::DynamicNode {
 public:
  explicit Sink(const flow::PayloadType& type) { add_input("in", type); }
  std::vector<std::vector<std::byte>> messages;

  template <class T>
  [[nodiscard]] T value(std::size_t message, const std::string& field) const {
    T value{};
    const auto bytes = MessageField::find(flow::type_text(input_type(0)), field).in(messages.at(message));
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  [[nodiscard]] std::string text(std::size_t message, const std::string& field) const {
    const auto bytes = MessageField::find(flow::type_text(input_type(0)), field).in(messages.at(message));
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  void heard(std::uint32_t, const void* payload, SimTime) override {
    const flow::PayloadType& type = input_type(0);
    const auto* from =
        type.flat ? static_cast<const std::byte*>(payload) : static_cast<const flow::PlainBytes*>(payload)->cdr.data();
    const std::size_t size = type.flat ? type.size : static_cast<const flow::PlainBytes*>(payload)->cdr.size();
    messages.emplace_back(from, from + size);
  }
  void fill(std::uint32_t, void*, SimTime) override {}
};

/// A federation of one FMU, a source and a sink.
class FmuNode : public testing::Test {
 protected:
  struct Ran {
    flow::FlowOutcome outcome;
    std::string why;
    Sink* sink = nullptr;
    Sink* log = nullptr;
    flow::System system;
  };

  static Wishes wishes() {
    Wishes wishes;
    wishes.node = "kit";
    wishes.every = 10ms;
    return wishes;
  }

  Ran run(const std::string& file, const Wishes& wished, bool own = false, SimSpan source = 10ms,
          SimSpan until = 100ms) {
    Ran ran;
    const Wiring wiring(open_package(file), wished);
    ran.system.add<Source>("source", source);
    const NodeSpec spec = wiring.plan([&](const std::string& flow) {
      EXPECT_EQ(flow, "source.command");
      return fmi::Source{&flow::dynamic_type(command_type), {}};
    });
    ran.system.add("kit", own ? make_node_in_process(spec, FMI_PROGRAM, "kit.fmu") : make_node(spec));
    if (!spec.inputs.empty()) ran.system.connect(ran.system.find_output("source.command"), {1, 0});
    const auto listen = [&](const std::string& flow) {
      const flow::PortRef port = ran.system.find_output("kit." + flow);
      const std::string name = "sink_" + flow;
      auto& sink = ran.system.add<Sink>(name, *ran.system.graph().nodes[1].outputs[port.port].type);
      ran.system.connect("kit." + flow, name + ".in");
      return &sink;
    };
    ran.sink = listen(spec.outputs.front().flow);
    ran.log = listen("log");
    ran.outcome = flow::run(ran.system, {.until = SimTime::zero() + until});
    for (const flow::NodeFailure& failure : ran.outcome.failures) ran.why += to_string(failure) + "\n";
    return ran;
  }
  std::string refusal(const std::string& file, const Wishes& wished) {
    try {
      const Wiring wiring(open_package(file), wished);
      (void)wiring.plan([&](const std::string& flow) {
        if (flow != "source.command") throw InputError({}, "no such flow");
        return fmi::Source{&flow::dynamic_type(command_type), {}};
      });
    } catch (const InputError& error) {
      return error.what();
    }
    return "no mistake";
  }

  Workshop shop_;
};

}  // namespace isochron::fmi::test
