#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/network.hpp"
#include "link/resolve.hpp"

namespace isochron {
namespace {

using ::testing::HasSubstr;

TEST(Address, PrintsWhatItParsed) {
  for (const char* text : {"127.0.0.1:7410", "0.0.0.0:0", "10.1.2.3:65535", "[::1]:7410", "[::]:1", "[fd00::5:1]:80"}) {
    const auto address = parse_address(text);
    ASSERT_TRUE(address.ok()) << text;
    EXPECT_EQ(to_string(*address), text);
  }
  EXPECT_EQ(*parse_address("localhost:5"), Address::loopback(5));
}

TEST(Address, KnowsItsKind) {
  EXPECT_TRUE(Address::loopback(1).is_v4());
  EXPECT_TRUE(Address::loopback(1).is_loopback());
  EXPECT_TRUE(Address::loopback_v6(1).is_loopback());
  EXPECT_FALSE(Address::loopback_v6(1).is_v4());
  EXPECT_TRUE(parse_address("0.0.0.0:9")->is_any());
  EXPECT_TRUE(parse_address("[::]:9")->is_any());
  EXPECT_FALSE(parse_address("10.0.0.1:9")->is_any());
}

TEST(Address, IsTheSameHoweverItsFourBytesAreWritten) {
  EXPECT_EQ(*parse_address("[::ffff:10.0.0.1]:9"), *parse_address("10.0.0.1:9"));
  EXPECT_EQ(AddressHash{}(*parse_address("[::ffff:10.0.0.1]:9")), AddressHash{}(*parse_address("10.0.0.1:9")));
}

TEST(Address, RefusesWhatIsNone) {
  for (const char* text :
       {"", ":", "7410", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", "127.0.0.1:-1", "::1:7410", "[::1:7410", "[]:1",
        "[1.2.3.4]:1", "1.2.3:1", "256.0.0.1:1", "robot.local:7410", "127.0.0.1:7410x", "127.0.0.1 :7410"}) {
    const auto address = parse_address(text);
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_THAT(address.error(), HasSubstr("127.0.0.1:7410 or [::1]:7410"));
  }
}

TEST(Resolve, TakesNumbersAndNames) {
  EXPECT_EQ(link::resolve("10.0.0.1:80")->front(), Address::v4(10, 0, 0, 1, 80));
  EXPECT_EQ(link::resolve("localhost:80")->front(), Address::loopback(80));
}

TEST(Resolve, SaysWhatIsWrong) {
  EXPECT_EQ(link::resolve("nonsense").error().fault, NetFault::bad_address);
  EXPECT_THAT(link::resolve("localhost:http-ish").error().what, HasSubstr("is not an address"));
  EXPECT_THAT(link::resolve("no such host.invalid:80").error().what, HasSubstr("no such host.invalid"));
}

}  // namespace
}  // namespace isochron
