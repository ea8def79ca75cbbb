#include "apps/isochron/accusations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isochron::app {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const Accusations::Time zero{};

TEST(Accusations, NobodyIsLostBeforeTheGraceIsOver) {
  Accusations said(1s);
  said.say(0, 1, zero);
  EXPECT_THAT(said.judge({"a", "b"}, zero + 999ms), IsEmpty());
  EXPECT_THAT(said.judge({"a", "b"}, zero + 1s), ElementsAre(1));
  EXPECT_THAT(said.judge({"a", "b"}, zero + 9s), IsEmpty());
}

TEST(Accusations, WhoIsCutOffFromMostIsLostThoughItSpokeFirst) {
  Accusations said(1s);
  said.say(1, 0, zero);
  said.say(1, 2, zero);
  said.say(0, 1, zero + 300ms);
  said.say(2, 1, zero + 400ms);
  EXPECT_THAT(said.judge({"a", "b", "c"}, zero + 1s), ElementsAre(1));
  EXPECT_THAT(said.judge({"a", "b", "c"}, zero + 9s), IsEmpty());
}

TEST(Accusations, NodesOfOnePlaceAreLostTogether) {
  Accusations said(1s);
  for (const std::size_t here : {0u, 1u}) {
    for (const std::size_t there : {2u, 3u}) {
      said.say(there, here, zero);
      said.say(here, there, zero);
    }
    said.say(4, here, zero);
  }
  EXPECT_THAT(said.judge({"a", "a", "b", "b", "c"}, zero + 1s), UnorderedElementsAre(0, 1));
}

TEST(Accusations, NodesOfThisMachineStandForThemselves) {
  Accusations said(1s);
  said.say(0, 2, zero);
  said.say(1, 2, zero);
  said.say(2, 0, zero);
  EXPECT_THAT(said.judge({"", "", ""}, zero + 1s), ElementsAre(2));
}

TEST(Accusations, WhatIsLeftIsJudgedAfterAnotherGrace) {
  Accusations said(1s);
  said.say(0, 2, zero);
  said.say(1, 2, zero);
  said.say(3, 4, zero);
  const std::vector<std::string> places{"a", "b", "c", "d", "e"};
  EXPECT_THAT(said.judge(places, zero + 1s), ElementsAre(2));
  EXPECT_THAT(said.judge(places, zero + 1500ms), IsEmpty());
  EXPECT_THAT(said.judge(places, zero + 2s), ElementsAre(4));
}

TEST(Accusations, WhatADeadNodeSaidDoesNotCount) {
  Accusations said(1s);
  said.say(0, 1, zero);
  said.forget(0);
  EXPECT_THAT(said.judge({"a", "b"}, zero + 5s), IsEmpty());
}

}  // namespace
}  // namespace isochron::app
