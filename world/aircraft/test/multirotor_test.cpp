// The multirotor against closed forms: what it must do where the answer can be written down.
#include "world/aircraft/multirotor.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "world/aircraft/atmosphere.hpp"
#include "world/aircraft/autopilot.hpp"
#include "world/test/scratch_model.hpp"
#include "world/world.hpp"

namespace isochron::world {
namespace {

using namespace std::chrono_literals;
constexpr double g = 9.81;
constexpr double mass = 1.2;

/// A body far above a floor. Inertia: a box of 0.2 by 0.2 by 0.1 m.
std::string free_body(double height = 1000) {
  return "<mujoco><option timestep=\"0.002\"/><worldbody><geom name=\"ground\" type=\"plane\" size=\"0 0 1\"/>"
         "<body name=\"uav\" pos=\"0 0 " +
         std::to_string(height) +
         "\"><freejoint/><geom type=\"box\" size=\".1 .1 .05\" mass=\"1.2\"/></body></worldbody></mujoco>";
}
constexpr double inertia_z = mass / 12 * (0.04 + 0.04);

/// No drag, no lag, no gyroscopes: what is left can be computed by hand.
MultirotorSettings plain_settings(MultirotorFrame frame = MultirotorFrame::quad_x) {
  MultirotorSettings s;
  s.rotors = rotors_of(frame, 0.2, 0);
  s.rotor.spin_up = s.rotor.spin_down = 0;
  s.rotor.inertia = s.rotor.induced_drag = s.rotor.climb = 0;
  s.drag_area = {};
  return s;
}

struct Flight {
  explicit Flight(const MultirotorSettings& settings, double height = 1000, const char* engine = "mujoco",
                  std::uint64_t seed = 1)
      : file(free_body(height)), world(load_engine(engine, file.path())) {
    auto made = std::make_unique<Multirotor>(world.engine(), "uav", settings, air,
                                             std::make_shared<Ground>(world.engine()), seed);
    aircraft = made.get();
    world.add(std::move(made));
    state = world.make_state();
  }
  void all_motors(double command) {
    for (std::uint32_t i = 0; i < aircraft->rotors(); ++i) motor(i + 1, command);
  }
  void motor(std::uint32_t number, double command) {
    ASSERT_TRUE(world.command(world.actuator("uav/motor" + std::to_string(number)), command).ok());
  }
  void run(SimSpan span) {
    const auto result = world.advance_to(world.time() + span);
    ASSERT_TRUE(result.ok()) << result.error().what;
    world.read(state);
  }
  double reading(const char* name, std::uint32_t i = 0) {
    return state.sensors[world.sensor_at(world.sensor(std::string("uav/") + name)) + i];
  }
  [[nodiscard]] const Motion& motion() const { return state.bodies[aircraft->body()]; }

  ScratchModel file;
  std::shared_ptr<Air> air = std::make_shared<Air>();
  World world;
  Multirotor* aircraft = nullptr;
  State state;
};

double hover_command(const MultirotorSettings& s) {
  return std::sqrt(mass * g / (static_cast<double>(s.rotors.size()) * s.rotor.thrust.factor)) / s.rotor.max_speed;
}

class MultirotorFrames : public testing::TestWithParam<MultirotorFrame> {};

TEST_P(MultirotorFrames, HoversAtTheThrustOfItsWeight) {
  const MultirotorSettings s = plain_settings(GetParam());
  Flight f(s);
  f.aircraft->begin_airborne(f.world.engine());
  f.all_motors(hover_command(s));
  f.run(2s);
  EXPECT_LT(length(f.motion().linear), 1e-6);
  EXPECT_LT(length(f.motion().angular), 1e-9) << "the rotors' torques cancel";
  double thrust = 0;
  for (std::uint32_t i = 0; i < s.rotors.size(); ++i) thrust += f.reading("thrust", i);
  EXPECT_NEAR(thrust, mass * g, 1e-9);
}
INSTANTIATE_TEST_SUITE_P(Frames, MultirotorFrames,
                         testing::Values(MultirotorFrame::quad_x, MultirotorFrame::quad_plus, MultirotorFrame::hexa_x));

TEST(Multirotor, HoversInOdeToo) {
  const MultirotorSettings s = plain_settings();
  Flight f(s, 1000, "ode");
  f.aircraft->begin_airborne(f.world.engine());
  f.all_motors(hover_command(s));
  f.run(2s);
  EXPECT_LT(length(f.motion().linear), 1e-6);
}

TEST(Multirotor, AMotorFollowsItsCommandWithItsTwoTimeConstants) {
  MultirotorSettings s = plain_settings();
  s.rotor.spin_up = 0.03;
  s.rotor.spin_down = 0.07;
  Flight f(s);
  f.all_motors(0.8);
  f.run(30ms);
  const double most = 0.8 * s.rotor.max_speed;
  EXPECT_NEAR(f.reading("rotor_speed"), most * (1 - std::exp(-1)), 1e-9 * most);
  f.run(2s);
  f.all_motors(0.2);
  f.run(70ms);
  EXPECT_NEAR(f.reading("rotor_speed"), most * (0.25 + 0.75 * std::exp(-1)), 1e-9 * most);
}

TEST(Multirotor, ItsStepResponseDoesNotDependOnTheStep) {
  MultirotorSettings s = plain_settings();
  s.rotor.spin_up = 0.03;
  double speeds[2];
  for (int i = 0; i < 2; ++i) {
    const ScratchModel file(free_body());
    World world(load_engine("mujoco", file.path()), i == 0 ? SimSpan(1ms) : SimSpan(10ms));
    world.add(std::make_unique<Multirotor>(world.engine(), "uav", s, std::make_shared<Air>(), nullptr, 1));
    ASSERT_TRUE(world.command(world.actuator("uav/motor1"), 1).ok());
    ASSERT_TRUE(world.advance_to(SimTime::zero() + SimSpan(50ms)).ok());
    speeds[i] = world.reading(world.sensor("uav/rotor_speed"))[0];
  }
  EXPECT_NEAR(speeds[0], speeds[1], 1e-9 * s.rotor.max_speed);
}

TEST(Multirotor, FallsAtTheTerminalVelocityOfItsDrag) {
  MultirotorSettings s = plain_settings();
  s.drag_area = {0.01, 0.01, 0.05};
  Flight f(s, 5000);
  f.run(30s);
  EXPECT_NEAR(f.motion().linear[2], -std::sqrt(2 * mass * g / (isa::sea_level_density * 0.05)), 1e-3);
}

TEST(Multirotor, YawsByTheTorqueOfItsRotors) {
  const MultirotorSettings s = plain_settings();
  Flight f(s);
  // 1 and 2 turn counter-clockwise: less of them, and the others turn the body counter-clockwise.
  const double slow = 0.5, fast = 0.6;
  f.motor(1, slow), f.motor(2, slow), f.motor(3, fast), f.motor(4, fast);
  f.run(500ms);
  const double w1 = slow * s.rotor.max_speed, w2 = fast * s.rotor.max_speed;
  const double torque = 2 * s.rotor.torque.factor * (w2 * w2 - w1 * w1);
  // In the first step the mean is half, since the rotors stood still.
  EXPECT_NEAR(f.motion().angular[2], torque / inertia_z * (0.5 - 0.001), 1e-6);
}

TEST(Multirotor, AMotorThatSpeedsUpTurnsTheBodyAgainstItself) {
  MultirotorSettings s = plain_settings();
  s.rotor.torque.factor = 0;
  s.rotor.inertia = 1e-4;
  Flight f(s);
  f.motor(1, 0.5), f.motor(2, 0.5);
  f.run(100ms);
  EXPECT_NEAR(f.motion().angular[2] * inertia_z, -2 * s.rotor.inertia * 0.5 * s.rotor.max_speed, 1e-6)
      << "what all of them turn with together stays what it was";
}

TEST(Multirotor, WindCarriesItByInducedDrag) {
  MultirotorSettings s = plain_settings();
  s.rotor.induced_drag = 8e-5;
  Flight f(s);
  f.air->wind = {5, 0, 0};
  f.all_motors(hover_command(s));
  f.run(1ms * 2);
  const double speed = hover_command(s) * s.rotor.max_speed;
  const double before = f.motion().linear[0];
  f.run(2ms);
  const double force = 4 * s.rotor.induced_drag * speed * 5;
  EXPECT_NEAR((f.motion().linear[0] - before) / 0.002, force / mass, 0.01 * force / mass);
}

TEST(Multirotor, TheGroundCarriesAsCheesemanAndBennettSay) {
  EXPECT_DOUBLE_EQ(ground_effect(0.1, 0.1), 1 / (1 - 1.0 / 16));
  EXPECT_DOUBLE_EQ(ground_effect(0.1, 0.01), ground_effect(0.1, 0.05)) << "bounded where no rotor flies";
  MultirotorSettings s = plain_settings();
  s.rotor.radius = 0.3;
  Flight f(s, 0.3);
  f.all_motors(0.1);
  f.run(2ms);
  const double w = 0.1 * s.rotor.max_speed;
  // The first step begins with rotors that stand still; the mean over it is half.
  EXPECT_NEAR(f.reading("thrust"), 0.5 * s.rotor.thrust.factor * w * w / (1 - 1.0 / 16), 1e-9);
  s.ground_effect = false;
  Flight without(s, 0.3);
  without.all_motors(0.1);
  without.run(2ms);
  EXPECT_NEAR(without.reading("thrust"), 0.5 * s.rotor.thrust.factor * w * w, 1e-12);
}

TEST(Multirotor, ABatteryGivesTheEnergyThatItsChargeHeld) {
  MultirotorSettings s = plain_settings();
  BatterySettings b;
  b.capacity = 0.02, b.resistance = 0.05, b.electronics = 40;
  s.battery = b;
  Flight f(s);
  f.run(10s);  // motors stand still: 40 W
  EXPECT_NEAR(f.reading("battery", 4), 40 * 10, 1e-6);
  const double charge = f.reading("battery", 2);
  // Given and lost inside: ∫ U₀ dq with U₀ linear in the charge.
  const double used = (1 - charge) * 3600 * b.capacity;
  const double held = used * (b.empty + (b.full - b.empty) * 0.5 * (1 + charge));
  double lost = 0;
  Battery again;
  again.begin(b);
  for (int i = 0; i < 5000; ++i) again.give(b, 40, 0.002), lost += again.current * again.current * b.resistance * 0.002;
  EXPECT_NEAR(held, 400 + lost, 0.01);
  EXPECT_LT(f.reading("battery", 0), b.empty + (b.full - b.empty) * charge) << "the voltage sags";
}

TEST(Multirotor, AnEmptyBatteryStopsTheMotors) {
  MultirotorSettings s = plain_settings();
  s.battery = BatterySettings{.capacity = 0.001};
  Flight f(s);
  f.all_motors(0.7);
  f.run(10s);
  EXPECT_EQ(f.reading("battery", 2), 0);
  EXPECT_EQ(f.reading("rotor_speed"), 0);
}

TEST(Multirotor, MotorsTurnByTheVoltageThatIsLeft) {
  MultirotorSettings s = plain_settings();
  s.battery = BatterySettings{};
  s.battery->charge = 0.5;
  s.battery->resistance = 0;
  Flight f(s);
  f.all_motors(1);
  f.run(2ms);
  const double volts = 0.5 * (s.battery->full + s.battery->empty);
  EXPECT_NEAR(f.reading("rotor_speed"), s.rotor.max_speed * volts / s.battery->full, 1e-3);
}

TEST(Multirotor, ABrokenBladeGivesWhatIsLeft) {
  const MultirotorSettings s = plain_settings();
  Flight f(s);
  f.all_motors(0.5);
  f.aircraft->lose_blade(1, 0.25);
  f.run(10ms);
  EXPECT_NEAR(f.reading("thrust", 1), 0.25 * f.reading("thrust", 0), 1e-12);
}

TEST(Multirotor, CommandsAreClamped) {
  const MultirotorSettings s = plain_settings();
  Flight f(s);
  f.motor(1, 7), f.motor(2, -3);
  f.run(10ms);
  EXPECT_EQ(f.reading("rotor_speed", 0), s.rotor.max_speed);
  EXPECT_EQ(f.reading("rotor_speed", 1), 0);
  EXPECT_FALSE(f.world.command(f.world.actuator("uav/motor1"), NAN).ok());
}

TEST(Multirotor, ACurveIsStraightBetweenItsPointsAndSquareBeyond) {
  const RotorCurve curve{0, {{100, 1}, {200, 5}}};
  EXPECT_DOUBLE_EQ(curve.at(50), 0.5);
  EXPECT_DOUBLE_EQ(curve.at(150), 3);
  EXPECT_DOUBLE_EQ(curve.at(400), 20);
}

TEST(Multirotor, GoesOnAfterARestoreAsItDidBefore) {
  MultirotorSettings s = plain_settings();
  s.rotor = RotorSettings{};
  s.battery = BatterySettings{};
  Flight f(s);
  f.air->gusts = 8;
  f.air->wind = {3, 1, 0};
  f.all_motors(0.6);
  f.run(500ms);
  std::vector<double> kept(f.world.snapshot_size());
  f.world.snapshot(kept);
  f.run(1s);
  const State first = f.state;
  f.world.restore(kept);
  f.run(1s);
  EXPECT_EQ(f.state.sensors, first.sensors);
  EXPECT_EQ(f.motion().pose.position, first.bodies[1].pose.position);
}

TEST(Gusts, HaveTheVarianceThatTheyAreGivenWhateverTheStep) {
  const GustSize size{{1.5, 1.2, 0.7}, {20, 15, 5}};
  for (const double dt : {0.002, 0.1, 3.0}) {
    Gusts gusts(7, "test");
    Vec3 sum{};
    const int n = 400000;
    // As many lengths as fit: neighbours within one are nearly the same gust.
    for (int i = 0; i < 2000; ++i) (void)gusts.step(size, 10, 1);
    double independent = 0;
    for (int i = 0; i < n; ++i) {
      const Vec3 v = gusts.step(size, 10, dt);
      for (std::size_t k = 0; k < 3; ++k) sum[k] += v[k] * v[k];
    }
    for (std::size_t k = 0; k < 3; ++k) {
      independent = std::min<double>(n, n * dt * 10 / (2 * size.length[k]));
      const double variance = size.deviation[k] * size.deviation[k];
      EXPECT_NEAR(sum[k] / n, variance, 5 * variance * std::sqrt(2 / independent)) << "dt " << dt << ", axis " << k;
    }
  }
}

TEST(Gusts, AreWorseInStrongWindAndLongerHighUp) {
  const GustSize low = low_altitude_gusts(5, 6), high = low_altitude_gusts(5, 100), strong = low_altitude_gusts(10, 6);
  EXPECT_NEAR(low.deviation[2], 0.5, 1e-12) << "a tenth of the wind at 6 m";
  EXPECT_DOUBLE_EQ(strong.deviation[0], 2 * low.deviation[0]);
  EXPECT_GT(high.length[0], low.length[0]);
  EXPECT_LT(high.deviation[0], low.deviation[0]);
}

TEST(Gusts, OfAnotherSeedAreOthers) {
  MultirotorSettings s = plain_settings();
  Flight a(s, 100, "mujoco", 1), b(s, 100, "mujoco", 2), again(s, 100, "mujoco", 1);
  for (Flight* f : {&a, &b, &again}) {
    f->air->gusts = 5;
    f->run(100ms);
  }
  EXPECT_NE(a.reading("wind"), b.reading("wind"));
  EXPECT_EQ(a.reading("wind"), again.reading("wind"));
}

TEST(Isa, IsTheStandardAtmosphere) {
  EXPECT_NEAR(isa::pressure(0), 101325, 1e-9);
  EXPECT_NEAR(isa::pressure(1000), 89875, 5);
  EXPECT_NEAR(isa::pressure(11000), 22632, 2);
  EXPECT_NEAR(isa::pressure(15000), 12045, 3);
  EXPECT_NEAR(isa::density(0), 1.225, 1e-4);
  EXPECT_NEAR(isa::temperature(5000), 255.65, 1e-9);
  for (const double h : {-200.0, 0.0, 500.0, 8000.0, 14000.0}) EXPECT_NEAR(isa::altitude(isa::pressure(h)), h, 1e-6);
}

FlightVehicle small_quad() {
  FlightVehicle vehicle;
  vehicle.rotors = rotors_of(MultirotorFrame::quad_x, 0.2, 0);
  vehicle.mass = 1;
  return vehicle;
}

TEST(FlightController, GivesItsWeightWhereItShouldBe) {
  FlightController controller(small_quad());
  const auto motors = controller.step({}, {}, 0.004);
  for (const double motor : motors) EXPECT_NEAR(motor, std::sqrt(9.81 / 4 / 6), 1e-12);
}

TEST(FlightController, LeansTowardsItsGoal) {
  FlightController controller(small_quad());
  const auto east = controller.step({}, {{1, 0, 0}, {}, 0, 0}, 0.004);  // forward: the rear rotors, 2 and 4, lift
  EXPECT_GT(east[1], east[0]);
  EXPECT_GT(east[3], east[2]);
  FlightController other(small_quad());
  const auto north = other.step({}, {{0, 1, 0}, {}, 0, 0}, 0.004);  // to the left: the right ones, 1 and 4, lift
  EXPECT_GT(north[0], north[2]);
  EXPECT_GT(north[3], north[1]);
}

TEST(FlightController, TurnsLeftByTheRotorsThatTurnRight) {
  FlightController controller(small_quad());
  const auto motors = controller.step({}, {{}, {}, 0.2, 0}, 0.004);
  EXPECT_GT(motors[2], motors[0]) << "3 and 4 turn clockwise";
  EXPECT_GT(motors[3], motors[1]);
}

TEST(FlightController, GivesUpYawBeforeRollAndPitch) {
  FlightController controller(small_quad());
  FlightState rolling;
  rolling.rates = {3, 0, 0};
  const auto alone = controller.step(rolling, {}, 0.004);
  const double roll = alone[2] * alone[2] - alone[0] * alone[0];
  FlightController other(small_quad());
  const auto both = other.step(rolling, {{}, {}, 3, 0}, 0.004);
  EXPECT_NEAR((both[2] * both[2] + both[1] * both[1]) - (both[0] * both[0] + both[3] * both[3]), 2 * roll,
              0.1 * std::abs(roll));
  for (const double motor : both) {
    EXPECT_GE(motor, 0);
    EXPECT_LE(motor, 1);
  }
}

/// The quadrotor of models/uav.xml, flown by the autopilot in the seat.
struct Hall {
  explicit Hall(const AutopilotSettings& settings = {}, double height = 1.2)
      : world(load_engine("mujoco", ISOCHRON_MODELS "/uav.xml")) {
    MultirotorSettings s;
    s.rotors = rotors_of(MultirotorFrame::quad_x, 0.226, 0.05);
    s.battery = BatterySettings{};
    auto made =
        std::make_unique<Multirotor>(world.engine(), "uav", s, air, std::make_shared<Ground>(world.engine()), 1);
    aircraft = made.get();
    EXPECT_TRUE(world.place(aircraft->body(), {{{0, 0, height}, {1, 0, 0, 0}}, {}, {}}).ok());
    aircraft->begin_airborne(world.engine());
    world.add(std::make_unique<Autopilot>(world.engine(), *aircraft, settings));
    world.add(std::move(made));
  }
  void set(const char* name, double value) {
    ASSERT_TRUE(world.command(world.actuator(std::string("uav/") + name), value).ok());
  }
  void run(SimSpan span) {
    const auto result = world.advance_to(world.time() + span);
    ASSERT_TRUE(result.ok()) << result.error().what;
  }
  [[nodiscard]] Motion motion() const { return world.engine().motion(aircraft->body()); }

  std::shared_ptr<Air> air = std::make_shared<Air>();
  World world;
  Multirotor* aircraft = nullptr;
};

TEST(Autopilot, HoldsItsPlaceInWindWithGusts) {
  Hall hall;
  hall.air->wind = {4, 3, 0};
  hall.air->gusts = 5;
  hall.run(5s);
  double worst = 0;
  for (int i = 0; i < 200; ++i) {
    hall.run(100ms);
    worst = std::max(worst, length(hall.motion().pose.position - Vec3{0, 0, 1.2}));
  }
  EXPECT_LT(worst, 0.3);
  EXPECT_GT(std::acos(rotate(hall.motion().pose.orientation, {0, 0, 1})[2]), 0.02) << "it leans into the wind";
}

TEST(Autopilot, FliesAtTheSpeedItIsToldAndStops) {
  Hall hall;
  hall.run(3s);  // the battery's voltage has sagged, and the controller has learned it
  hall.set("vx", 1);
  hall.run(2s);
  EXPECT_NEAR(hall.motion().linear[0], 1, 0.1);
  EXPECT_NEAR(hall.motion().pose.position[2], 1.2, 0.1);
  hall.set("vx", 0);
  hall.run(3s);
  EXPECT_LT(length(hall.motion().linear), 0.05);
}

TEST(Autopilot, TurnsAtTheRateItIsTold) {
  Hall hall;
  hall.set("yaw_rate", 0.25);
  hall.run(4s);
  EXPECT_NEAR(hall.motion().angular[2], 0.25, 0.01);
  EXPECT_NEAR(yaw_of(hall.motion().pose.orientation), 1, 0.05);
}

TEST(Autopilot, AWallStopsItAndItDoesNotRaceAwayAfterwards) {
  Hall hall;
  hall.set("vy", 1);
  hall.run(8s);
  EXPECT_LT(hall.motion().pose.position[1], 4) << "the hall's north wall";
  EXPECT_GT(hall.motion().pose.position[2], 0.5) << "it still flies";
  hall.set("vy", -1);
  hall.run(3s);
  EXPECT_GT(hall.motion().linear[1], -1.5);
  EXPECT_LT(hall.motion().pose.position[1], 3);
}

TEST(Autopilot, ARotorWithoutBladesMakesItFall) {
  Hall hall;
  hall.run(2s);
  hall.aircraft->lose_blade(0, 0);
  hall.run(3s);
  EXPECT_LT(hall.motion().pose.position[2], 0.3);
}

}  // namespace
}  // namespace isochron::world
