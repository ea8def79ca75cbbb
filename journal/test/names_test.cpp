#include "journal/names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cdr.hpp"
#include "core/schema.hpp"
#include "journal/journal_file.hpp"
#include "journal/named_series.hpp"
#include "journal/test/helpers.hpp"

namespace isochron {
namespace {

using test::Pose;
using test::pose_at;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

struct Bodies {
  SimTime stamp;
  std::vector<double> bodies, joints;
};
ISOCHRON_MESSAGE(Bodies, "p/msg/Bodies", stamp, bodies, joints)

struct Activation {
  SimTime release;
  std::int64_t response_ns = 0;
  bool missed = false;
};
ISOCHRON_MESSAGE(Activation, "p/msg/Activation", release, response_ns, missed)

struct Turn {
  SimTime asked, from, to;
  std::string preempted_by;
};
ISOCHRON_MESSAGE(Turn, "isochron_msgs/msg/Turn", asked, from, to, preempted_by)

struct Drift {
  SimTime until;
  double drift_s = 0;
};
ISOCHRON_MESSAGE(Drift, "p/msg/Drift", until, drift_s)

struct Car {
  std::uint8_t kind = 0;
  std::string name;
  std::array<double, 3> position{};
};
ISOCHRON_MESSAGE(Car, "p/msg/Car", kind, name, position)
struct Cars {
  SimTime stamp;
  std::vector<Car> cars;
};
ISOCHRON_MESSAGE(Cars, "p/msg/Cars", stamp, cars)

template <class T>
ChannelDefinition channel(const std::string& topic, mcap::TextMap metadata = {}) {
  return {topic, {message_name<T>(), ros2msg_schema<T>()}, {.metadata = std::move(metadata)}};
}

template <class T>
std::optional<double> read(const Names& names, const std::string& name, const T& message) {
  const auto number = names.find(name);
  if (!number) return std::nullopt;
  return names.reader(*number).number(cdr_bytes(message));
}

TEST(Names, AreTheTopicAndTheField) {
  Names names;
  names.add(3, channel<Pose>("/ship/pose"));
  EXPECT_EQ(read(names, "ship/pose.position.x", pose_at(2)), 1.0);
  EXPECT_EQ(read(names, "ship/pose.path[1].y", pose_at(3)), 6.0);
  EXPECT_EQ(read(names, "ship/pose.path[7].y", pose_at(3)), std::nullopt);
  EXPECT_EQ(read(names, "ship/pose.orientation.y", pose_at(2)), 0.25);
  EXPECT_EQ(read(names, "ship/pose.orientation[2]", pose_at(2)), 0.25);
  EXPECT_EQ(read(names, "ship/pose.stamp", pose_at(2)), 0.002);
  EXPECT_EQ(read(names, "ship/pose.valid", pose_at(3)), 1.0);
  EXPECT_EQ(names.find("ship/pose.stamp")->quantity, Quantity::time);
  EXPECT_EQ(names.find("ship/pose.valid")->quantity, Quantity::truth);
  EXPECT_EQ(names.find("ship/pose.frame")->quantity, Quantity::text);
  EXPECT_EQ(names.find("ship/pose.position.x")->channel, 3u);
}

TEST(Names, AreFoundByTopicAndFieldAsTheyStandInTheFile) {
  Names names;
  names.add(0, channel<Pose>("/ship/pose"));
  EXPECT_EQ(read(names, "/ship/pose:position.x", pose_at(2)), 1.0);
  EXPECT_EQ(read(names, "/ship/pose:path[1].y", pose_at(3)), 6.0);
  for (const char* wrong : {"/ship/pose:", "/ship/pose:position", "/ship/pose:path", "/ship/pose:path[", "/ship:x", ":",
                            "/ship/pose:stamp.sec.x", "/ship/pose:orientation", "/ship/pose:position[0]"}) {
    EXPECT_FALSE(names.find(wrong)) << wrong;
  }
}

TEST(Names, OfArraysAreThoseThatTheChannelGives) {
  mcap::TextMap metadata;
  name_elements(metadata, "bodies", {"world", "", "prey"}, {"position.x", "position.y"});
  name_elements(metadata, "joints", {"", "elbow.position"});
  Names names;
  names.add(0, channel<Bodies>("/world/state", metadata));
  const Bodies state{SimTime::zero(), {0, 0, 1, 2, 3, 4}, {5, 6}};
  EXPECT_EQ(read(names, "prey.position.x", state), 3.0);
  EXPECT_EQ(read(names, "prey.position.y", state), 4.0);
  EXPECT_EQ(read(names, "elbow.position", state), 6.0);
  EXPECT_EQ(read(names, "prey.position.y", Bodies{SimTime::zero(), {0, 0, 1}, {}}), std::nullopt);
  EXPECT_THAT(names.hint("pray.position.x"), HasSubstr("`prey.position.x`"));
  EXPECT_EQ(names.name_of("/world/state:bodies[4]"), "prey.position.x");
  EXPECT_EQ(names.name_of("/world/state:bodies[2]"), "/world/state:bodies[2]");
}

TEST(Names, LeaveOutTheUnitAndKnowThatItIsATime) {
  Names names;
  names.add(0, channel<Activation>("/deadlines/predator/planner"));
  names.add(1, channel<Drift>("/isochron/drift"));
  EXPECT_EQ(read(names, "predator/planner.response", Activation{.response_ns = 2'000'000}), 0.002);
  EXPECT_EQ(names.find("predator/planner.response")->quantity, Quantity::time);
  EXPECT_EQ(read(names, "drift", Drift{.drift_s = 0.25}), 0.25);
  EXPECT_EQ(names.find("drift")->quantity, Quantity::time);
}

TEST(Names, TellAProgramsResponseOverAllTurnsOfAnActivation) {
  Names names;
  names.add(0, channel<Turn>("/turns/predator/planner"));
  NumberReader response = names.reader(*names.find("predator/planner.response"));
  const auto ms = [](int t) { return SimTime::from_ns(t * 1'000'000LL); };
  EXPECT_EQ(response.number(cdr_bytes(Turn{ms(10), ms(11), ms(12), "predator/controller"})), std::nullopt);
  EXPECT_NEAR(*response.number(cdr_bytes(Turn{ms(12), ms(13), ms(16), ""})), 0.006, 1e-12);
  EXPECT_NEAR(*response.number(cdr_bytes(Turn{ms(20), ms(20), ms(21), ""})), 0.001, 1e-12);
}

TEST(Names, OfElementsThatSayWhoTheyAreComeFromTheRecords) {
  Names names;
  names.add(0, channel<Cars>("/agents/east"));
  const Cars cars{SimTime::zero(), {{1, "car01", {1, 2, 3}}, {1, "car02", {4, 5, 6}}}};
  EXPECT_FALSE(names.find("car02.position.x"));
  ASSERT_TRUE(names.names_are_in_records(0));
  EXPECT_TRUE(names.learn(0, cdr_bytes(cars)));
  EXPECT_FALSE(names.learn(0, cdr_bytes(cars)));
  EXPECT_EQ(read(names, "car02.position.x", cars), 4.0);
  // It moved to another place in the list, and then it is gone.
  EXPECT_EQ(read(names, "car02.position.z", Cars{SimTime::zero(), {{1, "car02", {7, 8, 9}}}}), 9.0);
  EXPECT_EQ(read(names, "car02.position.z", Cars{}), std::nullopt);
}

TEST(Names, BelongToTheFirstWhoClaimsThem) {
  Names names;
  names.add(0, channel<Drift>("/vehicles/car"));
  names.add(1, channel<Drift>("/programs/car"));
  EXPECT_EQ(names.find("car.drift")->channel, 0u);
  EXPECT_EQ(names.find("programs/car.drift")->channel, 1u);
}

TEST(Names, DoNotRepeatTheTopicsLastWord) {
  Names names;
  names.add(0,
            ChannelDefinition{"/yellow.position", {"p/msg/P", "builtin_interfaces/Time stamp\nfloat64[3] position\n"}});
  EXPECT_THAT(names.all(), Contains("yellow.position.x"));
  EXPECT_THAT(names.all(), Not(Contains("yellow.position.position.x")));
  names.add(1, ChannelDefinition{"/red.position", {"p/msg/Q", "float64[2] position\n"}});
  EXPECT_THAT(names.all(), Contains("red.position.y"));
}

TEST(Names, AreReadWithoutReadingBeyondARecordThatIsCut) {
  Names names;
  names.add(0, channel<Pose>("/p"));
  names.add(1, channel<Cars>("/c"));
  const auto pose = cdr_bytes(pose_at(5));
  const auto cars = cdr_bytes(Cars{SimTime::zero(), {{1, "a", {1, 2, 3}}, {1, "b", {4, 5, 6}}}});
  names.learn(1, cars);
  for (const std::string& name : names.all()) {
    const NamedNumber number = *names.find(name);
    const auto& whole = number.channel == 0 ? pose : cars;
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      (void)names.reader(number).number(cut);
      (void)names.reader(number).text(cut);
      Names again = names;
      again.learn(1, cut);
    }
  }
}

FieldReader numbers(const std::string& path) {
  const auto schema =
      std::make_shared<const MessageSchema>(*parse_ros2msg(message_name<Cars>(), ros2msg_schema<Cars>()));
  return {schema, *find_numbers(*schema, path)};
}

TEST(FieldReader, AddsToANumberOrToAllNumbersOfAnArrayAndToNothingElse) {
  Cars cars{SimTime::from_ns(5), {{250, "a", {1, 2, 3}}, {7, "car", {4, 5, 6}}}};
  auto bytes = cdr_bytes(cars);
  EXPECT_TRUE(numbers("cars[1].position[2]").add(bytes, 0.5));
  EXPECT_TRUE(numbers("cars[0].position").add(bytes, 10));
  EXPECT_TRUE(numbers("cars[0].kind").add(bytes, 20)) << "a whole number stays in its range";
  EXPECT_FALSE(numbers("cars[2].kind").add(bytes, 1));
  Cars found;
  cdr::Reader reader(std::span(std::as_const(bytes)).subspan(cdr_header_size));
  reader.get(found);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(found.cars[0].position, (std::array<double, 3>{11, 12, 13}));
  EXPECT_EQ(found.cars[1].position, (std::array<double, 3>{4, 5, 6.5}));
  EXPECT_EQ(found.cars[0].kind, 255);
  EXPECT_EQ(found.cars[1].kind, 7);
  EXPECT_EQ(found.stamp, cars.stamp);
}

TEST(FieldReader, TextAndTimesAreNoNumbersToAddTo) {
  const MessageSchema schema = *parse_ros2msg(message_name<Cars>(), ros2msg_schema<Cars>());
  EXPECT_FALSE(find_numbers(schema, "cars[0].name").ok());
  EXPECT_FALSE(find_numbers(schema, "stamp").ok());
  EXPECT_FALSE(find_numbers(schema, "cars").ok());
}

}  // namespace
}  // namespace isochron
