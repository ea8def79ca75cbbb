// ROS 1 by roscpp: CDR becomes its bytes, and back.

#include "core/build_parts.hpp"
#include "link/ros/ros_graph.hpp"
#include "link/ros/ros_wire.hpp"
#include "msg/ros_service_messages.hpp"
#include "run/ros_types.hpp"
#include "run/ros_wire.hpp"

namespace isochron {
namespace {

class Ros1Wire final : public RosWire {
 public:
  explicit Ros1Wire(const Ros2Section& section) : name_(section.name), use_sim_time_(section.use_sim_time) {
    need_part("ROS 1", section.place);
  }

  [[nodiscard]] std::vector<std::string> only() const override { return ros_types::names(); }
  [[nodiscard]] std::string topic(const std::string& given, const std::string& entry, const Section&) const override {
    return given.empty() ? entry : given;
  }

  void open(News news) override {
    news_ = std::move(news);
    try {
      ros_ = link::RosGraph::open(name_, use_sim_time_);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(std::string(error.what()) + "; start `roscore`, or set ROS_MASTER_URI");
    }
  }

  std::size_t advertise(const std::string& topic, const std::string& type, const ros2::Qos&) override {
    if (type == message_name<rosgraph_msgs::Clock>())
      return add({}, [this](std::span<const std::byte> cdr) {
        if (const auto clock = cdr_read<rosgraph_msgs::Clock>(cdr); clock.ok()) ros_->clock(clock->clock.ns());
      });
    const std::size_t handle = ros_->advertise(topic, ros_types::ros1_name(type));
    Send send;
    ros_types::with_type(type, [&](const auto* none) {
      using M = std::remove_cvref_t<decltype(*none)>;
      send = [this, handle](std::span<const std::byte> cdr) {
        const auto message = cdr_read<M>(cdr);
        if (!message.ok()) return;
        link::ros_write(*message, wire_);
        ros_->publish(handle, wire_.data(), wire_.size());
      };
    });
    return add(handle, std::move(send));
  }

  std::size_t subscribe(const std::string& topic, const std::string& type, const ros2::Qos&, Take take) override {
    std::size_t handle = 0;
    ros_types::with_type(type, [&](const auto* none) {
      using M = std::remove_cvref_t<decltype(*none)>;
      const auto came = [this, topic, type, take](const void* data, std::size_t size) {
        const auto message = link::ros_read<M>({static_cast<const std::byte*>(data), size});
        if (!message.ok()) return news_("what came on " + topic + " is no " + type + "; dropped");
        take(cdr_bytes(*message));
      };
      handle = ros_->subscribe(topic, ros_types::ros1_name(type), came);
    });
    return handle;
  }

  void start(const RosHost& host) override {
    for (const RosTrigger& trigger : ros_triggers()) {
      ros_->serve(name_ + "/" + trigger.name, [host, answer = trigger.answer] {
        return link::RosGraph::Answer{true, answer(host)};
      });
    }
  }

  void close() override { ros_.reset(); }

  bool publish(std::size_t topic, std::size_t size, const Fill& fill) override {
    cdr_.resize(size);
    fill(cdr_);
    topics_[topic].send(cdr_);
    return true;
  }

  [[nodiscard]] unsigned listeners(std::size_t advertised) const override {
    const auto& handle = topics_[advertised].handle;
    return handle ? ros_->listeners(*handle) : 0;
  }
  [[nodiscard]] unsigned speakers(std::size_t subscribed) const override { return ros_->speakers(subscribed); }
  [[nodiscard]] std::string where() const override { return ""; }

 private:
  using Send = std::function<void(std::span<const std::byte> cdr)>;
  struct Topic {
    std::optional<std::size_t> handle;  // none: /clock
    Send send;
  };
  std::size_t add(std::optional<std::size_t> handle, Send send) {
    topics_.push_back({handle, std::move(send)});
    return topics_.size() - 1;
  }

  std::string name_;
  bool use_sim_time_;
  News news_;
  std::vector<Topic> topics_;
  std::vector<std::byte> cdr_, wire_;
  std::unique_ptr<link::RosGraph> ros_;
};

}  // namespace

std::unique_ptr<RosWire> make_ros1_wire(const Ros2Section& section) { return std::make_unique<Ros1Wire>(section); }

}  // namespace isochron
