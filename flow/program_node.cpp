#include "flow/program_node.hpp"

#include "core/input_error.hpp"
#include "core/time_text.hpp"
#include "flow/definition.hpp"
#include "flow/dynamic_node.hpp"
#include "flow/program_process.hpp"
#include "flow/program_wire.hpp"

namespace isochron::flow {
namespace {

using program_wire::FrameIn;
using program_wire::Kind;

constexpr std::size_t flush_at = 32 * 1024;

/// Asks a program who it is.
FrameIn greet(ProgramProcess& program, const std::string& type, const Parameters& parameters, Kind expected) {
  program_wire::FramesOut out;
  out.begin(Kind::hello);
  out.put(program_wire::version);
  out.put(type);
  out.put(static_cast<std::uint32_t>(parameters.all().size()));
  for (const auto& [key, value] : parameters.all()) {
    out.put(key);
    out.put(value);
  }
  out.end();
  program.write(out.bytes());
  FrameIn answer(program.read());
  if (answer.kind() == Kind::failed) throw InputError({}, answer.text());
  if (answer.kind() != expected) throw InputError({}, "the program `" + program.name() + "` does not say what it is");
  return answer;
}

class ProgramNode final : public DynamicNode {
 public:
  ProgramNode(const ProgramCommand& command, const std::string& type, const Parameters& parameters)
      : program_(command) {
    FrameIn ports = greet(program_, type, parameters, Kind::ports);
    (void)ports.text();
    (void)ports.text();
    for (auto left = ports.take<std::uint32_t>(); left > 0; --left) {
      std::string name = ports.text();
      add_input(std::move(name), dynamic_type(ports.text()));
    }
    for (auto left = ports.take<std::uint32_t>(); left > 0; --left) add_output(output_of(ports));
    for (auto left = ports.take<std::uint32_t>(); left > 0; --left) {
      const std::string key = ports.text();
      parameters.note_asked(key, ports.text());
      parameters.note_used(key);
    }
  }

  void start(SimTime now) override {
    out_.begin(Kind::start);
    out_.put(now.ns());
    out_.end();
    await(Kind::ready);
  }
  void finish(SimTime now) override {
    if (astray_) return;
    out_.begin(Kind::finish);
    out_.put(now.ns());
    out_.end();
    await(Kind::ready);
  }

 private:
  OutputInfo output_of(FrameIn& ports) {
    OutputInfo info;
    info.name = ports.text();
    info.type = &dynamic_type(ports.text());
    const auto kind = ports.take<std::uint8_t>();
    if (kind > 2) throw InputError({}, "output " + info.name + " is of no known kind");
    info.kind = static_cast<FlowKind>(kind);
    info.varies = ports.take<std::uint8_t>() != 0;
    info.period = SimSpan::from_ns(ports.take<std::int64_t>());
    info.first = SimTime::from_ns(ports.take<std::int64_t>());
    info.lookahead = SimSpan::from_ns(ports.take<std::int64_t>());
    if (const auto capacity = ports.take<std::uint32_t>(); capacity != 0) info.capacity = capacity;
    sends_events_ = sends_events_ || info.kind == FlowKind::event;
    return info;
  }

  void heard(std::uint32_t input, const void* payload, SimTime t) override {
    const PayloadType& type = input_type(input);
    out_.begin(Kind::message);
    out_.put(input);
    out_.put(t.ns());
    type.encode(payload, out_.rest(type.encoded_size(payload)));
    out_.end();
    if (sends_events_) {
      await(Kind::ready);
    } else if (out_.bytes().size() > flush_at) {
      flush();
    }
  }

  void fill(std::uint32_t output, void* payload, SimTime t) override {
    out_.begin(Kind::fill);
    out_.put(output);
    out_.put(t.ns());
    out_.end();
    FrameIn filled = await(Kind::filled);
    if (filled.take<std::uint32_t>() != output) throw std::runtime_error("its program filled another output");
    const auto next = filled.take<std::int64_t>();
    const auto period = filled.take<std::int64_t>();
    if (period != 0) {
      set_period_of(output, SimSpan::from_ns(period));
      set_next_at(output, t + SimSpan::from_ns(period));
    }
    if (next != INT64_MIN) set_next_at(output, SimTime::from_ns(next));
    if (output_type(output).decode(payload, filled.rest())) return;
    throw std::runtime_error("flow " + output_info(output).name + ": its program sent something that is not a " +
                             output_type(output).name);
  }

  void flush() {
    program_.write(out_.bytes());
    out_.clear();
  }

  /// Sends what there is to send; takes events until the answer is there.
  FrameIn await(Kind answer) {
    astray_ = true;  // unless all goes well
    flush();
    while (true) {
      FrameIn frame(program_.read());
      if (frame.kind() == answer) {
        astray_ = false;
        return frame;
      }
      if (frame.kind() == Kind::failed) throw std::runtime_error(frame.text());
      if (frame.kind() != Kind::event) throw std::runtime_error("its program answered something else than was asked");
      take_event(frame);
    }
  }

  void take_event(FrameIn& frame) {
    const auto output = frame.take<std::uint32_t>();
    const SimTime t = SimTime::from_ns(frame.take<std::int64_t>());
    if (output >= output_count() || output_info(output).kind != FlowKind::event) {
      throw std::runtime_error("its program sent an event on output " + std::to_string(output) + ", which has none");
    }
    const PayloadType& type = output_type(output);
    if (!type.flat) return send_event(output, t, frame.rest());
    value_.resize(type.size);
    if (!type.decode(value_.data(), frame.rest()))
      throw std::runtime_error("its program sent something that is not a " + type.name);
    send_event(output, t, value_);
  }

  ProgramProcess program_;
  program_wire::FramesOut out_;
  std::vector<std::byte> value_;
  bool sends_events_ = false;
  bool astray_ = false;  // the program is gone, or not where it should be
};

}  // namespace

std::unique_ptr<UserNode> make_program_node(const ProgramCommand& command, const std::string& type,
                                            const Parameters& parameters) {
  try {
    auto node = std::make_unique<ProgramNode>(command, type, parameters);
    parameters.require_all_used();
    return node;
  } catch (const InputError&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw InputError({}, error.what());
  }
}

std::vector<ProgramType> types_of_program(const ProgramCommand& command) {
  try {
    ProgramProcess program(command);
    FrameIn types = greet(program, "?", {}, Kind::types);
    std::vector<ProgramType> all;
    for (auto left = types.take<std::uint32_t>(); left > 0; --left) {
      std::string name = types.text();
      all.push_back({std::move(name), types.text()});
    }
    return all;
  } catch (const InputError&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw InputError({}, error.what());
  }
}

}  // namespace isochron::flow
