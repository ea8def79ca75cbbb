#pragma once
// The numbers of one variable of the world, found by a name that a person would write: `speed`, `pose.position.x`,
// `imu.linear_acceleration`, `lidar.ranges[3]`, `wrench.force.z`.
//
// Fails:   find() says what there is no such thing as, and what is nearest.
// Threads: the run's. Cost: a message of a sensor is decoded for each read; the rest is a copy.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/plant.hpp"
#include "core/result.hpp"
#include "journal/decode.hpp"
#include "run/stage.hpp"

namespace isochron {

class VariableNumbers {
 public:
  /// `text`: of `robot`, or of another as in `prey/pose.position`.
  static Result<VariableNumbers, std::string> find(const Plant& plant, Stage& stage, const std::string& robot,
                                                   const std::string& text);

  [[nodiscard]] std::uint32_t variable() const { return variable_; }
  [[nodiscard]] bool many() const { return many_; }
  /// How many numbers; 0: as many as the message has.
  [[nodiscard]] std::size_t count() const { return count_; }
  /// Nothing where there is nothing yet.
  void read(Plant& plant, SimTime now, std::vector<double>& into);
  /// Into a whole value of the variable. Requires: it is one that programs write; as many numbers as count().
  void put(std::span<const double> numbers, std::span<std::byte> value) const;

 private:
  enum class Kind : std::uint8_t { real, integer, natural, time };

  Result<Done, std::string> find_part(const Variable& variable, Stage& stage, const std::string& path);
  Result<Done, std::string> find_in_array(std::size_t count, const std::string& path);
  Result<Done, std::string> find_in_message(const Variable& variable, Stage& stage, const std::string& path);
  void read_message(Plant& plant, SimTime now, std::vector<double>& into);

  std::uint32_t variable_ = 0;
  std::size_t offset_ = 0, count_ = 1;
  bool many_ = false;
  Kind kind_ = Kind::real;
  std::vector<std::byte> room_;
  std::optional<Decoder> decoder_;  // of one that varies
  std::string path_;
};

}  // namespace isochron
