#pragma once
// What a node and whoever launched it say to each other while the run goes on. It is there where nodes that are lost
// are started again: the others have to learn where the new one is, and nobody may leave before all have finished,
// because one that is started again needs what they have sent.
//
//     node ──► launcher    began, finished, missing NAME
//     launcher ──► node    NAME is started again, at this address; NAME is given up; all have finished
//
// Threads: owner thread.

#include <cstdint>
#include <string>
#include <vector>

#include "core/time.hpp"

namespace isochron {

class Rendezvous {
 public:
  virtual ~Rendezvous() = default;

  struct Again {
    std::string node;
    std::string address;     // "" = where it was
    std::uint32_t life = 0;  // how often it was started again
  };
  struct GivenUp {
    std::string node;
    std::string why;
  };
  struct News {
    std::vector<Again> again;
    std::vector<GivenUp> given_up;
    bool over = false;  // all have finished, or the run ends anyway
  };
  /// What came since the last call.
  virtual News take() = 0;

  virtual void began() = 0;
  virtual void finished() = 0;
  /// Nothing is heard of that one any more.
  virtual void missing(const std::string& node) = 0;

  /// How often this node was started again.
  [[nodiscard]] virtual std::uint32_t life() const = 0;
  /// How long ago the run began: one that is started again is behind.
  [[nodiscard]] virtual WallSpan behind() const = 0;
};

}  // namespace isochron
