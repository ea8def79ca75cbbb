#pragma once
// The smallest world with a memory: one mass for each robot, pushed by its thrust. Real physics, exact in steps.

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "programs/plant.hpp"

namespace isochron::programs {

class DoubleIntegrator final : public Plant {
 public:
  explicit DoubleIntegrator(const std::vector<std::string>& robots) : masses_(robots.size()) {
    for (const std::string& robot : robots) {
      variables_.push_back({robot + "/position", "float64", 8, true, false});
      variables_.push_back({robot + "/thrust", "float64", 8, true, true});
    }
  }
  [[nodiscard]] const std::vector<Variable>& variables() const override { return variables_; }
  [[nodiscard]] SimTime time() const override { return time_; }

  Result<Done, std::string> advance_to(SimTime t) override {
    const double dt = (t - time_).seconds();
    for (Mass& m : masses_) {
      m.velocity += m.thrust * dt;
      m.position += m.velocity * dt;
    }
    time_ = t;
    if (fails_at != SimTime::never() && t >= fails_at) return fail(std::string("the mass is gone"));
    return done();
  }
  void read(std::uint32_t variable, SimTime at, std::span<std::byte> value) override {
    in_order(at);
    const Mass& m = masses_[variable / 2];
    std::memcpy(value.data(), variable % 2 == 0 ? &m.position : &m.thrust, 8);
  }
  [[nodiscard]] Result<Done, std::string> check(std::uint32_t /*variable*/,
                                                std::span<const std::byte> value) const override {
    double number = 0;
    std::memcpy(&number, value.data(), 8);
    if (!std::isfinite(number)) return fail(std::string("a value that is not a number"));
    return done();
  }
  void write(std::uint32_t variable, SimTime at, std::span<const std::byte> value) override {
    in_order(at);
    std::memcpy(&masses_[variable / 2].thrust, value.data(), 8);
  }

  SimTime fails_at = SimTime::never();
  int out_of_order = 0;

 private:
  void in_order(SimTime at) {
    if (at < newest_ || at < time_) ++out_of_order;
    newest_ = std::max(newest_, at);
  }
  struct Mass {
    double position = 0, velocity = 0, thrust = 0;
  };
  std::vector<Variable> variables_;
  std::vector<Mass> masses_;
  SimTime time_;
  SimTime newest_;
};

}  // namespace isochron::programs
