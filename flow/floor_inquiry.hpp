#pragma once
// How a node that shares memory with nobody learns the floor (floor.hpp): it asks those whose messages come to it, they
// ask theirs, and the statements come back the way that the question went. Nobody waits for an answer: meanwhile
// everything goes on, creeping at worst. An inquiry of which nothing is heard is forgotten with the next.
//
//     origin ──ask──► b ──ask──► c          whoever is asked twice answers the second time with nothing
//            ◄─answer: b, c, d── ◄─answer: c, d──
//
// Threads: owner thread. Fails: what makes no sense is refused with a sentence; the state stays as it was.

#include <map>
#include <string>

#include "core/result.hpp"
#include "flow/floor.hpp"
#include "flow/wire.hpp"

namespace isochron::flow {

class FloorInquiry {
 public:
  /// What it needs of the node that it is of.
  class Outside {
   public:
    virtual ~Outside() = default;
    /// Those from whom something can still come.
    [[nodiscard]] virtual std::vector<std::uint32_t> before_here() const = 0;
    [[nodiscard]] virtual Statement state() const = 0;
    virtual void ask(std::uint32_t whom, const wire::Ask& ask) = 0;
    virtual void answer(std::uint32_t whom, const wire::Answer& answer) = 0;
    virtual void found(SimTime floor) = 0;
  };
  /// `life` counts how often this node was started again: who is lost must not ask with numbers that were there before.
  FloorInquiry(const Assembly& assembly, std::uint32_t self, Outside& outside, std::uint32_t life = 0);

  /// This node creeps.
  void begin() { start(self_, ++number_, self_); }
  Result<Done, std::string> asked(std::uint32_t by, const wire::Ask& ask);
  Result<Done, std::string> answered(const wire::Answer& answer);

  [[nodiscard]] const Links& links() const { return links_; }

 private:
  struct Round {
    std::uint64_t number = 0;
    std::uint32_t by = 0;  // who asked
    std::size_t missing = 0;
    std::vector<Statement> gathered;
  };
  void start(std::uint32_t origin, std::uint64_t number, std::uint32_t by);
  void complete(std::uint32_t origin, Round& round);
  [[nodiscard]] bool sound(const Statement& statement) const;

  Links links_;
  std::uint32_t self_;
  Outside& outside_;
  std::uint64_t number_;
  std::map<std::uint32_t, Round> rounds_;  // by origin: the newest of each
  Gathered gathered_;
};

}  // namespace isochron::flow
