// An engine of one's own in a hundred lines: balls that fall and bounce on the floor z = 0, each pushed sideways by an
// actuator `NAME/push`. The bounce is placed exactly inside a step, so no energy comes from the step's length.
//
// The model file has a ball on each line: name, x, y, z, radius, share of the speed that a bounce keeps.

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "world/plugin.hpp"
#include "world/vectors.hpp"

namespace {

using namespace isochron;
using namespace isochron::world;

constexpr double g = 9.81;

class BouncingBalls final : public Engine {
 public:
  explicit BouncingBalls(const std::string& model_file) {
    catalog_.bodies = {"world"};
    catalog_.masses = {0};
    read(model_file);
    catalog_.masses.resize(balls_.size() + 1, 1.0);
    catalog_.centres.resize(balls_.size() + 1);
    catalog_.parents.resize(balls_.size() + 1);
    start_ = balls_;
  }

  [[nodiscard]] std::string_view name() const override { return "bouncing_balls"; }
  [[nodiscard]] const Catalog& catalog() const override { return catalog_; }
  [[nodiscard]] const std::vector<Geometry>& geometry() const override { return geometry_; }
  [[nodiscard]] SimSpan natural_step() const override { return std::chrono::milliseconds(10); }
  [[nodiscard]] SimTime time() const override { return time_; }

  Result<Done, Diverged> step(SimSpan dt) override {
    for (const Ball& ball : balls_) {
      if (!std::isfinite(ball.push)) return fail(Diverged{"body " + ball.name + ": the push is not a number"});
    }
    for (Ball& ball : balls_) fly(ball, dt.seconds());
    time_ += dt;
    return done();
  }
  void reset() override {
    balls_ = start_;
    time_ = SimTime::zero();
  }

  void set_control(std::uint32_t actuator, double value) override { balls_[actuator].push = value; }
  [[nodiscard]] double control(std::uint32_t actuator) const override { return balls_[actuator].push; }
  void set_wrench(std::uint32_t body, const Wrench& wrench) override { balls_[body - 1].wrench = wrench.force; }

  [[nodiscard]] Motion motion(std::uint32_t body) const override {
    if (body == 0) return {};
    return {{balls_[body - 1].at, {1, 0, 0, 0}}, balls_[body - 1].velocity, {}};
  }
  [[nodiscard]] Vec3 acceleration(std::uint32_t body) const override {
    return body == 0 ? Vec3{} : Vec3{balls_[body - 1].push, 0, -g} + balls_[body - 1].wrench;
  }
  [[nodiscard]] bool can_place(std::uint32_t body) const override { return body > 0; }
  void set_motion(std::uint32_t body, const Motion& motion) override {
    balls_[body - 1].at = motion.pose.position;
    balls_[body - 1].velocity = motion.linear;
  }
  [[nodiscard]] std::span<const double> positions() const override { return {}; }
  [[nodiscard]] std::span<const double> velocities() const override { return {}; }
  void set_joint(std::uint32_t, std::span<const double>, std::span<const double>) override {}
  [[nodiscard]] std::span<const double> sensor(std::uint32_t) const override { return {}; }
  [[nodiscard]] std::span<const Contact> contacts() const override { return {}; }

  [[nodiscard]] std::size_t state_size() const override { return 2 + 10 * balls_.size(); }
  void save(std::span<double> state) const override {
    double* to = state.data();
    *to++ = static_cast<double>(time_.ns() / 1'000'000'000);
    *to++ = static_cast<double>(time_.ns() % 1'000'000'000);
    for (const Ball& ball : balls_) {
      for (const Vec3* v : {&ball.at, &ball.velocity, &ball.wrench}) to = std::copy(v->begin(), v->end(), to);
      *to++ = ball.push;
    }
  }
  void restore(std::span<const double> state) override {
    const double* from = state.data();
    time_ = SimTime::from_ns(static_cast<std::int64_t>(from[0]) * 1'000'000'000 + static_cast<std::int64_t>(from[1]));
    from += 2;
    for (Ball& ball : balls_) {
      for (Vec3* v : {&ball.at, &ball.velocity, &ball.wrench}) {
        std::copy_n(from, 3, v->begin());
        from += 3;
      }
      ball.push = *from++;
    }
  }
  [[nodiscard]] std::unique_ptr<Engine> clone() const override { return std::make_unique<BouncingBalls>(*this); }

 private:
  struct Ball {
    std::string name;
    Vec3 at{}, velocity{}, wrench{};
    double radius = 0, kept = 0, push = 0;
  };

  void read(const std::string& file) {
    std::ifstream in(file);
    if (!in) throw InputError(Place{file, 0, 0}, "cannot open the balls");
    int number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      if (line.empty() || line[0] == '#') continue;
      std::istringstream words(line);
      Ball ball;
      if (!(words >> ball.name >> ball.at[0] >> ball.at[1] >> ball.at[2] >> ball.radius >> ball.kept)) {
        throw InputError(Place{file, number, 0}, "a ball needs a name and five numbers", "NAME x y z radius kept");
      }
      add(ball);
    }
  }
  void add(const Ball& ball) {
    const auto body = static_cast<std::uint32_t>(catalog_.bodies.size());
    catalog_.bodies.push_back(ball.name);
    catalog_.actuators.push_back({ball.name + "/push", 0, 0});
    Geometry shape;
    shape.name = ball.name;
    shape.body = body;
    shape.shape = Shape::sphere;
    shape.size = {ball.radius, 0, 0};
    geometry_.push_back(shape);
    balls_.push_back(ball);
  }

  /// Exact flight under constant acceleration, cut at each touch of the floor.
  static void fly(Ball& ball, double left) {
    const Vec3 a = Vec3{ball.push, 0, -g} + ball.wrench;
    for (int bounces = 0; bounces < 10; ++bounces) {
      const double height = ball.at[2] - ball.radius, v = ball.velocity[2];
      const double root = v * v - 2 * a[2] * height;
      const double touch = a[2] < 0 && root >= 0 ? (-v - std::sqrt(root)) / a[2] : left;
      const double t = std::min(left, std::max(touch, 0.0));
      ball.at = ball.at + t * ball.velocity + (0.5 * t * t) * a;
      ball.velocity = ball.velocity + t * a;
      left -= t;
      if (left <= 0) return;
      ball.velocity[2] = -ball.kept * ball.velocity[2];
    }
    ball.at[2] = ball.radius;  // it bounces faster than anyone can see: it rests, and slides on
    ball.velocity[2] = 0;
    ball.at[0] += left * ball.velocity[0] + 0.5 * left * left * a[0];
    ball.velocity[0] += left * a[0];
  }

  Catalog catalog_;
  std::vector<Geometry> geometry_;
  std::vector<Ball> balls_, start_;
  SimTime time_;
};

}  // namespace

ISOCHRON_ENGINE(BouncingBalls)
