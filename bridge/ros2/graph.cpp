#include "bridge/ros2/graph.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "bridge/ros2/dds_qos.hpp"
#include "bridge/ros2/discovery.hpp"
#include "bridge/ros2/names.hpp"
#include "core/cdr.hpp"
#include "core/ensure.hpp"
#include "core/foreign_text.hpp"
#include "link/dds/raw_topic.hpp"

namespace isochron::ros2 {
namespace {

constexpr std::size_t request_header_size = 16;  // who asks, and the number of the request
constexpr std::size_t at_a_time = 64;            // of one topic, so that one that floods does not keep others waiting
constexpr std::size_t most_news = 100;
constexpr dds_duration_t look_every = DDS_MSECS(100);
constexpr const char* root_enclave = "enclave=/;";

Identity identity_of(dds_entity_t entity) {
  dds_guid_t guid{};
  dds_get_guid(entity, &guid);
  Identity identity;
  std::memcpy(identity.data(), guid.v, identity.size());
  return identity;
}

/// Services are reliable and keep everything, whatever the topics are.
Qos service_qos() { return {true, false, 0, {}}; }

/// ROS's command line is a node too, and none that lives in simulated time.
bool is_tool(const NodeInfo& node) { return node.name.starts_with("_"); }

std::string node_path(const NodeInfo& node) { return (node.space == "/" ? "" : node.space) + "/" + node.name; }

}  // namespace

class Graph::Entities {
 public:
  Entities(std::string node, std::string space, const link::DdsOptions& options, News news)
      : place_(options, root_enclave), node_(std::move(node)), space_(std::move(space)), news_(std::move(news)) {
    waitset_ = link::good_entity(dds_create_waitset(place_.entity()), "no waitset");
    wake_ = link::good_entity(dds_create_guardcondition(place_.entity()), "no guard condition");
    dds_waitset_attach(waitset_, wake_, stop_tag);
  }
  ~Entities() {
    stop_.store(true);
    dds_set_guardcondition(wake_, true);
    if (thread_.joinable()) thread_.join();
  }

  std::size_t advertise(const std::string& topic, const std::string& type, const Qos& qos) {
    writers_.push_back(writer(dds_topic(topic), dds_type(type), qos, ""));
    return writers_.size() - 1;
  }
  std::size_t subscribe(const std::string& topic, const std::string& type, const Qos& qos, Take take) {
    return reader(dds_topic(topic), dds_type(type), qos, "", std::move(take));
  }

  void serve(const std::string& service, const std::string& type, Serve serve) {
    const std::string id = "serviceid=" + std::to_string(writers_.size()) + "." + unique_id() + ";";
    writers_.push_back(writer(dds_reply(service), dds_type(type, "_Response"), service_qos(), id));
    const std::size_t reply = writers_.size() - 1;
    reader(dds_request(service), dds_type(type, "_Request"), service_qos(), id,
           [this, reply, service, serve = std::move(serve)](std::span<const std::byte> request) {
             answer(reply, service, serve, request);
           });
  }

  void tell_all(const std::string& name, const std::string& type, std::vector<std::byte> request) {
    orders_.push_back({name, type, std::move(request)});
  }

  void start() {
    announce_ = writer(discovery_topic, discovery_type, {true, true, 1, {}}, "");
    reader(discovery_topic, discovery_type, {true, true, 0, {}}, "",
           [this](std::span<const std::byte> cdr) { heard_of(cdr); });
    endpoints_[0] = builtin(DDS_BUILTIN_TOPIC_DCPSPUBLICATION);
    endpoints_[1] = builtin(DDS_BUILTIN_TOPIC_DCPSSUBSCRIPTION);
    announce();
    thread_ = std::thread([this] { receive(); });
  }

  bool publish(std::size_t topic, std::size_t size, const Fill& fill) {
    return link::write_raw(writers_[topic].entity, writers_[topic].topic, size, fill);
  }
  [[nodiscard]] unsigned listeners(std::size_t topic) const {
    return count(dds_get_matched_subscriptions(writers_[topic].entity, nullptr, 0));
  }
  [[nodiscard]] unsigned speakers(std::size_t topic) const {
    return count(dds_get_matched_publications(readers_[topic].entity, nullptr, 0));
  }
  [[nodiscard]] std::vector<std::string> nodes() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> all;
    for (const auto& [identity, names] : seen_) all.insert(all.end(), names.begin(), names.end());
    return all;
  }

 private:
  static constexpr dds_attach_t stop_tag = -1, endpoints_tag = -2;

  struct Writer {
    link::RawTopic topic;
    dds_entity_t entity = 0;
    std::string name, type;  // as DDS has them
    Qos qos;
  };
  struct Reader {
    dds_entity_t entity = 0;
    std::string name, type;
    Qos qos;
    Take take;
  };
  struct Order {
    std::string service, type;
    std::vector<std::byte> request;
  };
  /// A request that is on its way to a node.
  struct Call {
    Writer writer;
    Reader reader;
    const Order* order;
    std::string node;
    bool sent = false;
  };

  static unsigned count(dds_return_t matched) { return matched < 0 ? 0 : static_cast<unsigned>(matched); }

  [[nodiscard]] std::string unique_id() const {
    std::string text;
    for (const std::uint8_t byte : identity_of(place_.entity())) text += std::to_string(byte) + ".";
    return text;
  }

  link::DdsQos with_user_data(const Qos& qos, const std::string& user_data) const {
    link::DdsQos out = dds_qos(qos);
    if (!user_data.empty()) dds_qset_userdata(out.get(), user_data.data(), user_data.size());
    return out;
  }

  Writer writer(const std::string& name, const std::string& type, const Qos& qos, const std::string& user_data) {
    Writer made{link::make_raw_topic(place_.entity(), name, type), 0, name, type, qos};
    made.entity = link::good_entity(
        dds_create_writer(place_.entity(), made.topic.entity, with_user_data(qos, user_data).get(), nullptr),
        "no writer of " + name);
    return made;
  }
  Reader make_reader(const std::string& name, const std::string& type, const Qos& qos, const std::string& user_data,
                     Take take) {
    const link::RawTopic topic = link::make_raw_topic(place_.entity(), name, type);
    Reader made{0, name, type, qos, std::move(take)};
    made.entity = link::good_entity(
        dds_create_reader(place_.entity(), topic.entity, with_user_data(qos, user_data).get(), nullptr),
        "no reader of " + name);
    return made;
  }
  /// Awake as long as something is there to be taken.
  void attach(dds_entity_t reader, dds_attach_t tag) {
    const dds_entity_t there = dds_create_readcondition(reader, DDS_ANY_STATE);
    dds_waitset_attach(waitset_, link::good_entity(there, "no read condition"), tag);
  }
  std::size_t reader(const std::string& name, const std::string& type, const Qos& qos, const std::string& user_data,
                     Take take) {
    readers_.push_back(make_reader(name, type, qos, user_data, std::move(take)));
    const std::size_t index = readers_.size() - 1;
    attach(readers_[index].entity, static_cast<dds_attach_t>(index));
    return index;
  }
  dds_entity_t builtin(dds_entity_t topic) {
    const dds_entity_t made =
        link::good_entity(dds_create_reader(place_.entity(), topic, nullptr, nullptr), "no reader of what there is");
    attach(made, endpoints_tag);
    return made;
  }

  void announce() {
    NodeInfo node{space_, node_, {}, {}};
    for (const Writer& one : writers_) node.writers.push_back(identity_of(one.entity));
    for (const Reader& one : readers_) {
      if (one.name != discovery_topic) node.readers.push_back(identity_of(one.entity));
    }
    const ParticipantInfo info{identity_of(place_.entity()), {std::move(node)}};
    const std::vector<std::byte> cdr = to_cdr(info, IdentitySize::humble);
    link::write_raw(announce_.entity, announce_.topic, cdr.size(),
                    [&](std::span<std::byte> room) { std::ranges::copy(cdr, room.begin()); });
  }

  void receive() {
    std::array<dds_attach_t, at_a_time> woke{};
    while (!stop_.load(std::memory_order_relaxed)) {
      const dds_return_t n = dds_waitset_wait(waitset_, woke.data(), woke.size(), look_every);
      for (dds_return_t i = 0; i < std::min<dds_return_t>(n, woke.size()); ++i) {
        const dds_attach_t tag = woke[static_cast<std::size_t>(i)];
        if (tag >= 0) take(readers_[static_cast<std::size_t>(tag)]);
        if (tag == endpoints_tag) look_at_endpoints();
      }
      go_on_with_calls();
    }
  }

  void take(const Reader& reader) {
    link::take_raw(reader.entity, at_a_time,
                   [&](std::span<const std::byte> cdr, const dds_sample_info_t&) { reader.take(cdr); });
  }

  void answer(std::size_t reply, const std::string& service, const Serve& serve, std::span<const std::byte> request) {
    if (request.size() < cdr_header_size + request_header_size) {
      return tell("service " + service + ": a request without its header was dropped; clients need rmw_cyclonedds_cpp");
    }
    std::vector<std::byte> plain(request.begin(), request.begin() + cdr_header_size);
    const auto body = request.subspan(cdr_header_size + request_header_size);
    plain.insert(plain.end(), body.begin(), body.end());
    const auto answer = serve(plain);
    if (!answer) return tell("service " + service + ": a request that makes no sense was dropped");
    const auto who = request.subspan(cdr_header_size, request_header_size);
    publish(reply, answer->size() + request_header_size, [&](std::span<std::byte> room) {
      std::memcpy(room.data(), answer->data(), cdr_header_size);
      std::memcpy(room.data() + cdr_header_size, who.data(), who.size());
      std::memcpy(room.data() + cdr_header_size + who.size(), answer->data() + cdr_header_size,
                  answer->size() - cdr_header_size);
    });
  }

  void heard_of(std::span<const std::byte> cdr) {
    const auto info = participant_from_cdr(cdr);
    if (!info) return tell("ros_discovery_info: a message that makes no sense was dropped");
    std::set<std::string> names;
    for (const NodeInfo& node : info->nodes) {
      names.insert(node_path(node));
      if (info->identity == identity_of(place_.entity())) continue;
      if (node.name == node_ && node.space == space_) {
        tell("another node is called " + node_path(node) + " too: name one of them otherwise, or use another domain");
      }
      if (is_tool(node) || !told_.insert(node_path(node)).second) continue;
      for (const Order& order : orders_) call(order, node_path(node));
    }
    const std::lock_guard lock(mutex_);
    for (const std::string& gone : seen_[info->identity]) {
      if (!names.contains(gone)) told_.erase(gone);
    }
    seen_[info->identity] = std::move(names);
  }

  void call(const Order& order, const std::string& node) {
    const std::string service = node + "/" + order.service;
    Call made;
    made.order = &order;
    made.node = node;
    made.writer = writer(dds_request(service), dds_type(order.type, "_Request"), service_qos(), "");
    made.reader = make_reader(dds_reply(service), dds_type(order.type, "_Response"), service_qos(), "", {});
    calls_.push_back(std::move(made));
  }

  /// A request is sent once both ways are there; a call that was answered is over.
  void go_on_with_calls() {
    for (Call& one : calls_) {
      if (!one.sent && count(dds_get_matched_subscriptions(one.writer.entity, nullptr, 0)) > 0 &&
          count(dds_get_matched_publications(one.reader.entity, nullptr, 0)) > 0) {
        send(one);
      }
    }
    std::erase_if(calls_, [](const Call& one) {
      const auto nothing = [](std::span<const std::byte>, const dds_sample_info_t&) {};
      if (!one.sent || link::take_raw(one.reader.entity, 1, nothing) == 0) return false;
      dds_delete(one.writer.entity);
      dds_delete(one.reader.entity);
      return true;
    });
  }
  void send(Call& one) {
    one.sent = true;
    const std::vector<std::byte>& request = one.order->request;
    link::write_raw(one.writer.entity, one.writer.topic, request.size() + request_header_size,
                    [&](std::span<std::byte> room) {
                      const std::array<std::uint64_t, 2> header{1, ++last_call_};
                      std::memcpy(room.data(), request.data(), cdr_header_size);
                      std::memcpy(room.data() + cdr_header_size, header.data(), request_header_size);
                      std::memcpy(room.data() + cdr_header_size + request_header_size, request.data() + cdr_header_size,
                                  request.size() - cdr_header_size);
                    });
  }

  /// Others' readers and writers of our topics: do they fit?
  void look_at_endpoints() {
    for (const bool writers : {true, false}) {
      std::array<void*, at_a_time> samples{};
      std::array<dds_sample_info_t, at_a_time> infos;
      const dds_entity_t from = endpoints_[writers ? 0 : 1];
      for (dds_return_t n; (n = dds_take(from, samples.data(), infos.data(), at_a_time, at_a_time)) > 0;) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
          if (infos[i].valid_data) judge(*static_cast<const dds_builtintopic_endpoint_t*>(samples[i]), writers);
        }
        dds_return_loan(from, samples.data(), n);
      }
    }
  }
  void judge(const dds_builtintopic_endpoint_t& other, bool writes) {
    dds_guid_t ours{};
    dds_get_guid(place_.entity(), &ours);
    if (std::memcmp(&ours, &other.participant_key, sizeof ours) == 0) return;
    const Qos theirs = qos_of(other.qos);
    const auto one = [&](const auto& mine) {
      if (mine.name != other.topic_name) return;
      const std::string about = std::string(writes ? "a publisher" : "a subscriber") + " of " + ros_topic(mine.name);
      if (mine.type != other.type_name) {
        return tell(about + " has the type " + foreign_name(ros_type(other.type_name)) + ", ours is " +
                    ros_type(mine.type) + ": nothing passes between them");
      }
      const std::string why = writes ? mismatch(theirs, mine.qos) : mismatch(mine.qos, theirs);
      if (why.empty()) return;
      tell(about + " does not fit: " + why + " (theirs: " + to_string(theirs) + "; ours: " + to_string(mine.qos) + ")");
    };
    for (const Writer& mine : writers_) {
      if (!writes) one(mine);
    }
    for (const Reader& mine : readers_) {
      if (writes) one(mine);
    }
  }

  void tell(const std::string& what) {
    if (said_.size() < most_news && said_.insert(what).second) news_(what);
  }

  link::DdsParticipant place_;
  std::string node_, space_;
  News news_;
  dds_entity_t waitset_ = 0, wake_ = 0;
  std::vector<Writer> writers_;
  std::vector<Reader> readers_;
  std::vector<Order> orders_;
  Writer announce_;
  std::array<dds_entity_t, 2> endpoints_{};
  // The receiving thread's own.
  std::vector<Call> calls_;
  std::set<std::string> told_, said_;
  std::uint64_t last_call_ = 0;
  mutable std::mutex mutex_;  // of seen_
  std::map<Identity, std::set<std::string>> seen_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

Graph::Graph(const std::string& node, const std::string& space, const link::DdsOptions& options, News news)
    : dds_(std::make_unique<Entities>(node, space, options, std::move(news))) {}
Graph::~Graph() = default;

std::size_t Graph::advertise(const std::string& topic, const std::string& type, const Qos& qos) {
  return dds_->advertise(topic, type, qos);
}
std::size_t Graph::subscribe(const std::string& topic, const std::string& type, const Qos& qos, Take take) {
  return dds_->subscribe(topic, type, qos, std::move(take));
}
void Graph::serve(const std::string& service, const std::string& type, Serve serve) {
  dds_->serve(service, type, std::move(serve));
}
void Graph::tell_all_nodes(const std::string& name, const std::string& type, std::vector<std::byte> request) {
  dds_->tell_all(name, type, std::move(request));
}
void Graph::start() { dds_->start(); }
bool Graph::publish(std::size_t topic, std::size_t size, const Fill& fill) { return dds_->publish(topic, size, fill); }
unsigned Graph::listeners(std::size_t advertised) const { return dds_->listeners(advertised); }
unsigned Graph::speakers(std::size_t subscribed) const { return dds_->speakers(subscribed); }
std::vector<std::string> Graph::nodes() const { return dds_->nodes(); }

}  // namespace isochron::ros2
