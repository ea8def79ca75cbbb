#include "flow/c_node.hpp"

#include <cstring>

#include "core/input_error.hpp"
#include "flow/definition.hpp"
#include "flow/dynamic_node.hpp"

namespace isochron::flow {
namespace {

class CNode;
CNode& node_of(isochron_node* handle);

class CNode final : public DynamicNode {
 public:
  CNode(const isochron_node_type& type, const Parameters& parameters) : type_(type), parameters_(&parameters) {
    self_ = type.create(&host(), handle());
    parameters_ = nullptr;
    if (why_.empty() && self_ == nullptr) why_ = "it could not be made";
    if (!why_.empty()) throw InputError({}, why_);
  }
  ~CNode() override {
    if (self_ != nullptr && type_.destroy != nullptr) type_.destroy(self_);
  }

  void start(SimTime now) override {
    if (type_.start != nullptr) type_.start(self_, now.ns());
    pass_on_failure();
  }
  void finish(SimTime now) override {
    if (type_.finish != nullptr) type_.finish(self_, now.ns());
    pass_on_failure();
  }

 private:
  friend CNode& node_of(isochron_node* handle);
  isochron_node* handle() { return reinterpret_cast<isochron_node*>(this); }

  // Messages of fixed size go straight to the functions in C; the others, as bytes, through heard() and fill().
  void heard(std::uint32_t input, const void* payload, SimTime t) override {
    const auto [data, size] = view(input_type(input), payload);
    heard_[input].call(self_, static_cast<std::int32_t>(input), data, size, t.ns());
    pass_on_failure();
  }
  void fill(std::uint32_t output, void* payload, SimTime t) override {
    filling_ = static_cast<PlainBytes*>(payload);
    fill_[output].call(self_, static_cast<std::int32_t>(output), filling_->cdr.data(), filling_->cdr.size(), t.ns());
    filling_ = nullptr;
    pass_on_failure();
  }
  static void heard_flat(UserNode& self, InPort& port, const void* payload, SimTime t) {
    CNode& node = static_cast<CNode&>(self);
    const Heard& heard = node.heard_[port.id.index];
    heard.call(node.self_, static_cast<std::int32_t>(port.id.index), payload, heard.size, t.ns());
    node.pass_on_failure();
  }
  static void fill_flat(UserNode& self, OutPort& port, void* payload, SimTime t) {
    CNode& node = static_cast<CNode&>(self);
    const Fill& fill = node.fill_[port.index];
    fill.call(node.self_, static_cast<std::int32_t>(port.index), payload, fill.size, t.ns());
    node.pass_on_failure();
    if (fill.gaps) clear_gaps(*port.info.type, payload);
  }

  struct View {
    const void* data;
    std::size_t size;
  };
  static View view(const PayloadType& type, const void* payload) {
    if (type.flat) return {payload, type.size};
    const auto& bytes = *static_cast<const PlainBytes*>(payload);
    return {bytes.cdr.data(), bytes.cdr.size()};
  }

  void pass_on_failure() const {
    if (!why_.empty()) throw std::runtime_error(why_);
  }
  void note_failure(const std::string& why) {
    if (why_.empty()) why_ = why;
  }
  /// Nothing is thrown into C.
  template <class F>
  auto guarded(F&& what, decltype(what()) otherwise) -> decltype(what()) {
    try {
      return what();
    } catch (const std::exception& error) {
      note_failure(error.what());
      return otherwise;
    }
  }

  static std::int32_t declare_input(isochron_node* handle, const char* name, const char* type, isochron_heard heard);
  static std::int32_t declare_output(isochron_node* handle, const isochron_output* output);
  static const char* parameter(isochron_node* handle, const char* name);
  static const void* latest(isochron_node* handle, std::int32_t input, std::size_t* size, std::int64_t* time_ns);
  static void* room(isochron_node* handle, std::size_t size);
  static void send(isochron_node* handle, std::int32_t output, std::int64_t time_ns, const void* message,
                   std::size_t size);
  static void set_next(isochron_node* handle, std::int32_t output, std::int64_t time_ns);
  static void change_period(isochron_node* handle, std::int32_t output, std::int64_t period_ns);
  static void failed(isochron_node* handle, const char* why) { node_of(handle).note_failure(why); }

  static const isochron_host& host() {
    static const isochron_host table{
        ISOCHRON_NODE_ABI, sizeof(isochron_host), &declare_input, &declare_output, &parameter, &latest, &room, &send,
        &set_next,         &change_period,        &failed};
    return table;
  }

  const isochron_node_type& type_;
  const Parameters* parameters_;  // while it is made
  void* self_ = nullptr;
  std::string why_;
  struct Heard {
    isochron_heard call;  // null = it asks for the latest
    std::size_t size;     // of a message, if that is fixed
  };
  struct Fill {
    isochron_fill call;  // null for events
    std::size_t size;
    bool gaps;  // between the fields, which have to be cleared
  };
  std::vector<Heard> heard_;       // by input
  std::vector<Fill> fill_;         // by output
  std::deque<std::string> texts_;  // of parameters that were asked for
  PlainBytes* filling_ = nullptr;
};

CNode& node_of(isochron_node* handle) { return *reinterpret_cast<CNode*>(handle); }

std::int32_t CNode::declare_input(isochron_node* handle, const char* name, const char* type, isochron_heard heard) {
  CNode& node = node_of(handle);
  return node.guarded(
      [&] {
        const PayloadType& message = dynamic_type(type);
        node.heard_.push_back({heard, message.size});
        if (heard != nullptr && !message.flat) return static_cast<std::int32_t>(node.add_input(name, message));
        return static_cast<std::int32_t>(node.add_input(name, message, heard == nullptr ? nullptr : &heard_flat));
      },
      -1);
}

std::int32_t CNode::declare_output(isochron_node* handle, const isochron_output* output) {
  CNode& node = node_of(handle);
  return node.guarded(
      [&] {
        const bool event = output->kind == ISOCHRON_EVENT;
        if (!event && output->fill == nullptr)
          throw InputError({}, std::string("output ") + output->name + " has no fill()");
        OutputInfo info;
        info.name = output->name;
        info.kind = static_cast<FlowKind>(output->kind);
        info.period = SimSpan::from_ns(output->period_ns);
        info.first = SimTime::from_ns(output->first_ns);
        info.lookahead = SimSpan::from_ns(output->lookahead_ns);
        if (output->capacity != 0) info.capacity = output->capacity;
        info.varies = output->varies != 0;
        info.type = &dynamic_type(output->type);
        node.fill_.push_back({event ? nullptr : output->fill, info.type->size,
                              info.type->definition != nullptr && has_gaps(*info.type)});
        if (!event && !info.type->flat) return static_cast<std::int32_t>(node.add_output(std::move(info)));
        return static_cast<std::int32_t>(node.add_output(std::move(info), event ? nullptr : &fill_flat));
      },
      -1);
}

const char* CNode::parameter(isochron_node* handle, const char* name) {
  CNode& node = node_of(handle);
  if (node.parameters_ == nullptr) {
    node.note_failure("parameters can be asked for in create() only");
    return nullptr;
  }
  const std::string none = "\1";
  std::string value = node.parameters_->text(name, none);
  if (value == none) return nullptr;
  node.texts_.push_back(std::move(value));
  return node.texts_.back().c_str();
}

const void* CNode::latest(isochron_node* handle, std::int32_t input, std::size_t* size, std::int64_t* time_ns) {
  CNode& node = node_of(handle);
  if (input < 0 || static_cast<std::size_t>(input) >= node.heard_.size()) return nullptr;
  const auto [payload, time] = node.latest_of(static_cast<std::uint32_t>(input));
  if (payload == nullptr) return nullptr;
  const View bytes = view(node.input_type(static_cast<std::uint32_t>(input)), payload);
  if (size != nullptr) *size = bytes.size;
  if (time_ns != nullptr) *time_ns = time.ns();
  return bytes.data;
}

void* CNode::room(isochron_node* handle, std::size_t size) {
  CNode& node = node_of(handle);
  return node.guarded(
      [&]() -> void* {
        if (node.filling_ == nullptr) throw std::runtime_error("room() was called for a message whose size is fixed");
        node.filling_->cdr.resize(size);
        return node.filling_->cdr.data();
      },
      nullptr);
}

void CNode::send(isochron_node* handle, std::int32_t output, std::int64_t time_ns, const void* message,
                 std::size_t size) {
  CNode& node = node_of(handle);
  node.guarded(
      [&] {
        const bool event = output >= 0 && static_cast<std::size_t>(output) < node.fill_.size() &&
                           node.fill_[static_cast<std::size_t>(output)].call == nullptr;
        if (!event) throw std::runtime_error("send() names no event output");
        node.send_event(static_cast<std::uint32_t>(output), SimTime::from_ns(time_ns),
                        {static_cast<const std::byte*>(message), size});
        return true;
      },
      false);
}

void CNode::set_next(isochron_node* handle, std::int32_t output, std::int64_t time_ns) {
  CNode& node = node_of(handle);
  node.guarded([&] { return node.set_next_at(output, SimTime::from_ns(time_ns)), true; }, false);
}

void CNode::change_period(isochron_node* handle, std::int32_t output, std::int64_t period_ns) {
  CNode& node = node_of(handle);
  node.guarded([&] { return node.set_period_of(output, SimSpan::from_ns(period_ns)), true; }, false);
}

}  // namespace

std::unique_ptr<UserNode> make_c_node(const isochron_node_type& type, const Parameters& parameters) {
  auto node = std::make_unique<CNode>(type, parameters);
  parameters.require_all_used();
  return node;
}

}  // namespace isochron::flow
