// ROS 2 on its own wire: CDR as it is.

#include "bridge/ros2/checker.hpp"
#include "bridge/ros2/graph.hpp"
#include "bridge/ros2/names.hpp"
#include "core/build_parts.hpp"
#include "run/ros2_services.hpp"
#include "run/ros_wire.hpp"

namespace isochron {
namespace {

class Ros2Wire final : public RosWire {
 public:
  explicit Ros2Wire(const Ros2Section& section) : section_(section) {
    need_part("DDS", section_.place);
    constexpr std::uint32_t last_domain = 232;  // the ports of those beyond do not exist
    if (section_.domain > last_domain) throw InputError(section_.place_of("domain"), "must be 0 to 232");
    std::vector<Mistake> mistakes;
    const auto collect = [&](const char* key, const auto& what) {
      try {
        placed(section_.place_of(key), what);
      } catch (const InputError& error) {
        mistakes.insert(mistakes.end(), error.mistakes().begin(), error.mistakes().end());
      }
    };
    collect("name", [&] { ros2::check_node_name(section_.name); });
    collect("namespace", [&] { space_ = ros2::full_namespace(section_.space); });
    for (const FilePath& path : section_.types) collect("types", [&] { types_.add(path.path); });
    if (!mistakes.empty()) throw InputError(std::move(mistakes));
  }

  [[nodiscard]] std::string topic(const std::string& given, const std::string& entry,
                                  const Section& section) const override {
    return placed(section.place_of("topic"),
                  [&] { return ros2::full_name(given.empty() ? entry : given, space_, section_.name); });
  }

  void open(News news) override {
    news_ = std::move(news);
    ros_ = std::make_unique<ros2::Graph>(section_.name, space_,
                                         link::DdsOptions{section_.domain, section_.interface, section_.hosts}, news_);
  }
  std::size_t advertise(const std::string& topic, const std::string& type, const ros2::Qos& qos) override {
    return ros_->advertise(topic, type, qos);
  }
  std::size_t subscribe(const std::string& topic, const std::string& type, const ros2::Qos& qos, Take take) override {
    auto schema = parse_ros2msg(type, types_.type(type).schema);
    ENSURE(schema.ok(), "a type that was understood when the scenario was read");
    const auto came = [this, topic, type, take, checker = ros2::Checker(*schema)](std::span<const std::byte> cdr) {
      const char* why = checker.refuses(cdr);
      if (*why == '\0') return take(cdr);
      news_("what came on " + topic + " is no " + type + ": " + why + "; dropped");
    };
    return ros_->subscribe(topic, type, qos, came);
  }
  void start(const RosHost& host) override {
    serve_ros2(*ros_, (space_ == "/" ? "" : space_) + "/" + section_.name, host, section_.use_sim_time);
    if (section_.use_sim_time) {
      ros_->tell_all_nodes("set_parameters", "rcl_interfaces/srv/SetParameters", use_sim_time_request());
    }
    ros_->start();
  }
  void close() override { ros_.reset(); }

  bool publish(std::size_t topic, std::size_t size, const Fill& fill) override {
    return ros_->publish(topic, size, fill);
  }
  [[nodiscard]] unsigned listeners(std::size_t advertised) const override { return ros_->listeners(advertised); }
  [[nodiscard]] unsigned speakers(std::size_t subscribed) const override { return ros_->speakers(subscribed); }
  [[nodiscard]] std::string where() const override {
    return "domain " + std::to_string(section_.domain) +
           (section_.interface.empty() ? ", any interface: multicast must reach them, or set `hosts`"
                                       : ", interface " + section_.interface);
  }

 private:
  const Ros2Section section_;
  std::string space_;  // "/", or as in /fleet
  News news_;
  std::unique_ptr<ros2::Graph> ros_;
};

}  // namespace

std::unique_ptr<RosWire> make_ros2_wire(const Ros2Section& section) { return std::make_unique<Ros2Wire>(section); }

}  // namespace isochron
