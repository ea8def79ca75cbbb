#include "core/result.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/input_error.hpp"
#include "core/network.hpp"

namespace isochron {
namespace {

Result<std::unique_ptr<int>, std::string> make(bool good) {
  if (!good) return fail("no luck");
  return std::make_unique<int>(7);
}

TEST(Result, CarriesAValueOrTheReason) {
  auto good = make(true);
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(**good, 7);
  const auto bad = make(false);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error(), "no luck");
}

TEST(ResultDeathTest, AskingTheWrongQuestionIsABug) {
  EXPECT_DEATH((void)make(false).value(), "asked for the value of a failure");
  const auto good = make(true);
  EXPECT_DEATH((void)good.error(), "asked for the error of a success");
}

TEST(InputError, ListsEveryMistakeWithItsPlaceAndHint) {
  const InputError error(
      {{{"a.yaml", 3, 7}, "unknown key `stp`", "did you mean `step`?"}, {{"a.yaml", 9, 0}, "missing", ""}});
  EXPECT_STREQ(error.what(), "a.yaml:3:7: unknown key `stp`; did you mean `step`?\na.yaml:9: missing");
}

TEST(Address, ReadsAndPrintsBothFamilies) {
  EXPECT_EQ(to_string(*parse_address("127.0.0.1:7410")), "127.0.0.1:7410");
  EXPECT_EQ(to_string(*parse_address("[::1]:80")), "[::1]:80");
  for (const char* wrong : {"", "7410", ":7410", "host:", "::1:80", "host:99999", "host:12x"}) {
    EXPECT_FALSE(parse_address(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace isochron
