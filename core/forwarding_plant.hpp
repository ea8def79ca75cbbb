#pragma once
// A plant that hands everything on to another one: for those who change one thing about it.

#include "core/plant.hpp"

namespace isochron {

class ForwardingPlant : public Plant {
 public:
  explicit ForwardingPlant(Plant& plant) : plant_(plant) {}

  [[nodiscard]] const std::vector<Variable>& variables() const override { return plant_.variables(); }
  [[nodiscard]] SimTime time() const override { return plant_.time(); }
  Result<Done, std::string> advance_to(SimTime t) override { return plant_.advance_to(t); }
  SimTime asked(std::uint32_t variable, SimTime at) override { return plant_.asked(variable, at); }
  void read(std::uint32_t variable, SimTime at, std::span<std::byte> value) override {
    plant_.read(variable, at, value);
  }
  Sample sample(std::uint32_t variable, SimTime at, std::span<std::byte> room) override {
    return plant_.sample(variable, at, room);
  }
  [[nodiscard]] SimTime holds_until(std::uint32_t variable, SimTime at) const override {
    return plant_.holds_until(variable, at);
  }
  [[nodiscard]] Result<Done, std::string> check(std::uint32_t variable,
                                                std::span<const std::byte> value) const override {
    return plant_.check(variable, value);
  }
  void write(std::uint32_t variable, SimTime at, std::span<const std::byte> value) override {
    plant_.write(variable, at, value);
  }

 private:
  Plant& plant_;
};

}  // namespace isochron
