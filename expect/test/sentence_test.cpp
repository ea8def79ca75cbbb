#include "expect/sentence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect/meaning.hpp"

namespace isochron::expect {
namespace {

using testing::HasSubstr;

/// Everything in brackets, so that precedence can be seen.
std::string written_out(const Expression& e) {
  if (e.kind == Expression::Kind::number) return std::to_string(static_cast<int>(e.value));
  if (e.kind == Expression::Kind::text) return "\"" + e.word + "\"";
  if (e.arguments.empty()) return e.word;
  if (e.kind == Expression::Kind::operation && e.arguments.size() == 2) {
    return "(" + written_out(e.arguments[0]) + " " + e.word + " " + written_out(e.arguments[1]) + ")";
  }
  std::string text = e.word + "(";
  for (std::size_t i = 0; i < e.arguments.size(); ++i) text += (i == 0 ? "" : ", ") + written_out(e.arguments[i]);
  return text + ")";
}

std::string read(std::string_view text) {
  const auto sentence = parse(text);
  if (!sentence) return std::to_string(sentence.error().at) + ": " + sentence.error().what;
  return written_out(sentence->condition) + (sentence->then ? " then " + written_out(*sentence->then) : "");
}

/// Where and what is wrong, whoever finds it.
std::string wrong(std::string_view text) {
  auto sentence = parse(text);
  if (!sentence) return read(text) + " / " + sentence.error().hint;
  const auto meaning = mean_what(std::move(*sentence));
  if (meaning) return "fine";
  return std::to_string(meaning.error().at) + ": " + meaning.error().what + " / " + meaning.error().hint;
}

TEST(Sentence, BindsAsPeopleExpect) {
  EXPECT_EQ(read("always a + b * 2 < c - 1 and not d or e"), "((((a + (b * 2)) < (c - 1)) and not(d)) or e)");
  EXPECT_EQ(read("always 1 - 2 - 3 == -4"), "(((1 - 2) - 3) == -(4))");
  EXPECT_EQ(read("always (1 - (2 - 3)) == x"), "((1 - (2 - 3)) == x)");
  EXPECT_EQ(read("always distance(prey, predator) > 1"), "(distance(prey, predator) > 1)");
}

TEST(Sentence, TakesANameForAsLongAsItLooksLikeOne) {
  EXPECT_EQ(read("always predator/planner.response < x"), "(predator/planner.response < x)");
  EXPECT_EQ(read("always /world/state:bodies[26] < x"), "(/world/state:bodies[26] < x)");
  EXPECT_EQ(read("always left-arm.path[2].y / 2 - b-c < 1"), "(((left-arm.path[2].y / 2) - b-c) < 1)");
  EXPECT_EQ(read("p99.9(x) < 1"), "(p99.9(x) < 1)");
  EXPECT_EQ(read("always `a name: with 1/2` > distance(`left arm`, b)"), "(a name: with 1/2 > distance(left arm, b))");
}

TEST(Sentence, HasItsTimes) {
  const auto eventually = parse("eventually a > 1 within 1.5s from 200ms until 3s");
  ASSERT_TRUE(eventually.ok());
  EXPECT_EQ(eventually->within->ns(), 1'500'000'000);
  EXPECT_EQ(eventually->from.ns(), 200'000'000);
  EXPECT_EQ(eventually->until.ns(), 3'000'000'000);
  const auto after = parse("after a > 1, b < 2 within 2s");
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->form, Sentence::Form::after);
  EXPECT_EQ(after->within->ns(), 2'000'000'000);
}

TEST(Sentence, SaysWhereAndWhatIsWrong) {
  EXPECT_THAT(wrong(""), HasSubstr("0: something is missing at the end"));
  EXPECT_THAT(wrong("always"), HasSubstr("6: something is missing at the end"));
  EXPECT_THAT(wrong("always a <"), HasSubstr("10: something is missing at the end"));
  EXPECT_THAT(wrong("always a = 1"), HasSubstr("9: `=` means nothing here / to compare, write =="));
  EXPECT_THAT(wrong("always 0 < a < 1"), HasSubstr("13: `<` is not expected here / to compare twice"));
  EXPECT_THAT(wrong("always a > 5 kg"), HasSubstr("13: `kg` is not expected here"));
  EXPECT_THAT(wrong("always a > 5kg"), HasSubstr("12: `kg` is no unit of time"));
  EXPECT_THAT(wrong("always a > 1 wihtin 3s"), HasSubstr("did you mean `within`?"));
  EXPECT_THAT(wrong("after a > 1, b > 2"), HasSubstr("18: `within` is missing here"));
  EXPECT_THAT(wrong("eventually a > 1 within 3"), HasSubstr("24: a time is expected here"));
  EXPECT_THAT(wrong("always a > 1 from 3s until 2s"), HasSubstr("27: `until` must be later"));
  EXPECT_THAT(wrong("always (a > 1"), HasSubstr("13: `)` is missing here"));
  EXPECT_THAT(wrong("always a == \"x"), HasSubstr("12: this text has no end"));
  EXPECT_THAT(wrong("always `a > 1"), HasSubstr("7: this name has no end"));
  EXPECT_THAT(wrong("always always a > 1"), HasSubstr("7: `always` stands where a value is expected"));
}

TEST(Sentence, IsRefusedWhereItMeansNothing) {
  EXPECT_THAT(wrong("always distnace(a, b) > 1"),
              HasSubstr("7: there is no function `distnace` / did you mean `distance`?"));
  EXPECT_THAT(wrong("always distance(a) > 1"), HasSubstr("7: `distance` does not take 1 values"));
  EXPECT_THAT(wrong("always distance(a, 3) > 1"), HasSubstr("19: the name of a body is expected"));
  EXPECT_THAT(wrong("max(a) > 1"), HasSubstr("over a whole run it is most(x)"));
  EXPECT_THAT(wrong("always p99(a) > 1"), HasSubstr("7: `p99` is known at the end of the run only"));
  EXPECT_THAT(wrong("distance(a, b) > 1"), HasSubstr("0: `distance` changes during the run"));
  EXPECT_THAT(wrong("always 1 < 2"), HasSubstr("says nothing about the run"));
  EXPECT_THAT(wrong("p99(3) < 2"), HasSubstr("4: says nothing about the run"));
  EXPECT_THAT(wrong("always \"a\" == \"b\""), HasSubstr("7: text can only be compared with a name"));
  EXPECT_THAT(wrong("always a < \"b\""), HasSubstr("texts are compared with == or != only"));
  EXPECT_EQ(wrong("p99(a.b) < 20ms and missed == 0"), "fine");
}

TEST(Sentence, AnswersWhateverTheNesting) {
  const std::string deep = "always " + std::string(1500, '(') + "a" + std::string(1500, ')') + " > 1";
  EXPECT_THAT(wrong(deep), HasSubstr("is nested too deeply"));
  EXPECT_THAT(wrong("always " + std::string(1500, '-') + "a > 1"), HasSubstr("is nested too deeply"));
  std::string chain = "always a";
  for (int i = 0; i < 500; ++i) chain += " + a";
  EXPECT_THAT(wrong(chain + " > 1"), HasSubstr("too many operations"));
  EXPECT_THAT(wrong("always " + std::string(5000, 'a')), HasSubstr("longer than 4000"));
}

}  // namespace
}  // namespace isochron::expect
