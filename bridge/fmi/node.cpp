#include "bridge/fmi/node.hpp"

#include <cstring>

#include "bridge/fmi/session.hpp"
#include "core/cdr.hpp"
#include "flow/c_node.hpp"
#include "flow/program_node.hpp"

namespace isochron::fmi {
namespace {

constexpr const char* log_type =
    "rcl_interfaces/msg/Log\nbuiltin_interfaces/Time stamp\nuint8 level\nstring name\nstring msg\nstring file\n"
    "string function\nuint32 line\n";

std::uint8_t level_of(Status status) {
  constexpr std::uint8_t info = 20, warning = 30, error = 40, fatal = 50;
  if (status == status_ok || status == status_pending) return info;
  if (status == status_warning || status == status_discard) return warning;
  return status == status_error ? error : fatal;
}

class FmuNode {
 public:
  FmuNode(const isochron_host& host, isochron_node* node) : host_(host), node_(node) {}

  void create() {
    const char* spec = host_.parameter(node_, "spec");
    session_ = std::make_unique<Session>(spec_of_json(spec == nullptr ? "" : spec));
    for (const NodeSpec::Input& input : session_->spec().inputs) {
      host_.input(node_, input.flow.c_str(), input.type.c_str(), &FmuNode::heard);
    }
    for (const NodeSpec::Output& output : session_->spec().outputs) {
      isochron_output declared{};
      declared.name = output.flow.c_str();
      declared.type = output.type.c_str();
      if (output.intermediate) {
        declared.kind = ISOCHRON_EVENT;
        declared.capacity = room_inside;
        host_.output(node_, &declared);
        inside_ = true;
        continue;
      }
      declared.kind = ISOCHRON_PREDICTIVE;
      declared.period_ns = session_->spec().every_ns;
      declared.first_ns = session_->meter().first();
      declared.varies = session_->meter().varies() ? 1 : 0;
      declared.fill = &FmuNode::fill;
      host_.output(node_, &declared);
    }
    isochron_output log{};
    log.name = log_flow;
    log.type = log_type;
    log.kind = ISOCHRON_EVENT;
    log_ = host_.output(node_, &log);
    if (inside_) declare_step();
    if (!session_->meter().varies()) return;
    isochron_output cost{};
    cost.name = cost_flow;
    cost.type = cost_type;
    cost.kind = ISOCHRON_EVENT;
    cost_ = host_.output(node_, &cost);
  }

  static void start(void* self, std::int64_t time_ns) {
    of(self).guarded(time_ns, [&](Session& session) { session.start(time_ns); });
  }
  static void heard(void* self, std::int32_t input, const void* message, std::size_t size, std::int64_t time_ns) {
    of(self).guarded(time_ns, [&](Session& session) {
      session.pass_to(time_ns);
      session.heard(static_cast<std::size_t>(input), {static_cast<const std::byte*>(message), size});
    });
  }
  static void fill(void* self, std::int32_t output, void* message, std::size_t size, std::int64_t time_ns) {
    FmuNode& node = of(self);
    const Session::Room room = [&node](std::size_t bytes) {
      return static_cast<std::byte*>(node.host_.room(node.node_, bytes));
    };
    node.guarded(time_ns, [&](Session& session) {
      session.fill(static_cast<std::size_t>(output), {static_cast<std::byte*>(message), size}, time_ns, room);
      if (session.meter().varies()) node.go_on(session, output, time_ns);
    });
  }
  /// The step from time_ns: what the FMU shows inside of it goes out as events.
  static void make_step(void* self, std::int32_t, void* message, std::size_t, std::int64_t time_ns) {
    FmuNode& node = of(self);
    node.guarded(time_ns, [&](Session& session) {
      session.pass_to(time_ns + session.spec().every_ns);
      for (const Session::Seen& one : session.seen()) {
        node.host_.send(node.node_, static_cast<std::int32_t>(one.output), one.time_ns, one.message.data(),
                        one.message.size());
      }
    });
    const double seconds = static_cast<double>(time_ns) / 1e9;
    std::memcpy(message, &seconds, sizeof seconds);
  }
  static void finish(void* self, std::int64_t) {
    FmuNode& node = of(self);
    try {
      node.session_->finish();
    } catch (const std::exception& error) {
      node.host_.fail(node.node_, error.what());
    }
  }
  static void destroy(void* self) { delete &of(self); }

 private:
  static constexpr std::uint32_t room_inside = 64;

  void declare_step() {
    isochron_output step{};
    step.name = step_flow;
    step.type = "float64";
    step.kind = ISOCHRON_OBSERVATION;
    step.period_ns = session_->spec().every_ns;
    step.fill = &FmuNode::make_step;
    host_.output(node_, &step);
  }
  void go_on(Session& session, std::int32_t output, std::int64_t time_ns) {
    const std::int64_t next = session.next_after(time_ns);
    host_.next_at(node_, output, next);
    if (output != 0) return;
    // Told now, not when it is done: then every step that was made is in the journal, and can be charged again.
    const StepCostMessage& cost = session.cost_at(next);
    host_.send(node_, cost_, time_ns, &cost, sizeof cost);
  }
  static FmuNode& of(void* self) { return *static_cast<FmuNode*>(self); }

  /// Nothing is thrown into C.
  template <class F>
  void guarded(std::int64_t time_ns, F&& what) {
    try {
      what(*session_);
    } catch (const std::exception& error) {
      host_.fail(node_, error.what());
    }
    for (const LogLine& line : session_->said()) tell(line, time_ns);
  }

  void tell(const LogLine& line, std::int64_t time_ns) {
    const auto write = [&](std::byte* target) {
      cdr::Writer writer(target);
      writer.put(SimTime::from_ns(time_ns));
      writer.put(level_of(line.status));
      writer.put(session_->spec().name);
      writer.put(line.text);
      writer.put(std::string());
      writer.put(line.category);
      writer.put(std::uint32_t{0});
      return writer.size();
    };
    std::vector<std::byte> bytes(cdr_header_size + write(nullptr));
    bytes[1] = std::byte{1};
    write(bytes.data() + cdr_header_size);
    host_.send(node_, log_, time_ns, bytes.data(), bytes.size());
  }

  const isochron_host& host_;
  isochron_node* node_;
  std::unique_ptr<Session> session_;
  std::int32_t log_ = 0, cost_ = 0;
  bool inside_ = false;  // it has intermediate outputs
};

void* create(const isochron_host* host, isochron_node* node) {
  auto made = std::make_unique<FmuNode>(*host, node);
  try {
    made->create();
    return made.release();
  } catch (const std::exception& error) {
    host->fail(node, error.what());
    return nullptr;
  }
}

flow::Parameters parameters_of(const NodeSpec& spec) {
  flow::Parameters::Values values;
  values.emplace("spec", to_json(spec));
  return flow::Parameters(std::move(values));
}

}  // namespace

const isochron_node_list& node_types() {
  static const isochron_node_type type{"Fmu",           "a co-simulation FMU", &create,
                                       &FmuNode::start, &FmuNode::finish,      &FmuNode::destroy};
  static const isochron_node_list list{ISOCHRON_NODE_ABI, 1, &type};
  return list;
}

std::unique_ptr<flow::UserNode> make_node(const NodeSpec& spec) {
  return flow::make_c_node(node_types().types[0], parameters_of(spec));
}

std::unique_ptr<flow::UserNode> make_node_in_process(const NodeSpec& spec, const std::string& program,
                                                     const std::string& fmu) {
  return flow::make_program_node({{program, fmu}, ""}, "Fmu", parameters_of(spec));
}

}  // namespace isochron::fmi
