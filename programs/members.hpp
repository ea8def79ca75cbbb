#pragma once
// The executables of a run: those of the scenario, which have the first numbers, and what they started, which come as
// they are started and have the numbers after everybody that was there.
//
// Threads: owner.

#include <cstdint>
#include <memory>
#include <vector>

#include "programs/member.hpp"

namespace isochron::programs {

class Members {
 public:
  Member& add(std::unique_ptr<Member> member, std::uint32_t number) {
    member->number = number;
    if (number >= by_number_.size()) by_number_.resize(number + std::size_t{1});
    by_number_[number] = member.get();
    all_.push_back(std::move(member));
    return *all_.back();
  }
  [[nodiscard]] bool has(std::uint32_t number) const {
    return number < by_number_.size() && by_number_[number] != nullptr;
  }
  [[nodiscard]] Member* operator[](std::uint32_t number) const { return by_number_[number]; }
  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(all_.size()); }
  [[nodiscard]] auto begin() const { return all_.begin(); }
  [[nodiscard]] auto end() const { return all_.end(); }

 private:
  std::vector<std::unique_ptr<Member>> all_;
  std::vector<Member*> by_number_;
};

}  // namespace isochron::programs
