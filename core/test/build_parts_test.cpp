#include "core/build_parts.hpp"

#include <gtest/gtest.h>

#include <string>

namespace isochron {
namespace {

TEST(BuildParts, AMissingPartIsRefusedAtItsPlaceWithWhatToInstall) {
  const BuildPart part{"ROS 9", false, "nodes of ROS 9", "ros9-dev ros9-tools"};
  EXPECT_STREQ(part_missing(part, {"a.yaml", 3, 7}).what(),
               "a.yaml:3:7: this build of Isochron has no ROS 9; install ros9-dev ros9-tools (Debian) and build again");
  EXPECT_STREQ(part_missing(part, {}, "use TCP").what(),
               "this build of Isochron has no ROS 9; install ros9-dev ros9-tools (Debian) and build again, or use TCP");
}

TEST(BuildParts, OnlyPartsThatAreMissingAreRefused) {
  ASSERT_FALSE(build_parts().empty());
  for (const BuildPart& part : build_parts()) {
    EXPECT_EQ(has_part(part.name), part.here);
    EXPECT_FALSE(part.packages.empty()) << part.name;
    if (part.here) {
      EXPECT_NO_THROW(need_part(part.name, {})) << part.name;
    } else {
      EXPECT_THROW(need_part(part.name, {}), InputError) << part.name;
    }
  }
}

}  // namespace
}  // namespace isochron
