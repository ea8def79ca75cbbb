#include "scenario/value.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace isochron {
namespace {

std::string mistakes_of(const std::string& text) {
  try {
    parse_yaml(text, "f.yaml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Value, KnowsThePlaceOfEverything) {
  const Value root = parse_yaml("a: 1\nb:\n  - x\n  - {c: 2}\n", "f.yaml");
  EXPECT_EQ(to_string(root.find("a")->place), "f.yaml:1:4");
  EXPECT_EQ(to_string(root.find("b")->items[1].find("c")->place), "f.yaml:4:9");
}

TEST(Value, DuplicateKeysAreMistakes) {
  EXPECT_EQ(mistakes_of("a: 1\nb: 2\na: 3\n"), "f.yaml:3:1: `a` is given twice; the first is at line 1");
}

TEST(Value, AnchorsAndAliasesAreMistakes) {
  const std::string said = mistakes_of("a: &x 1\nb: *x\n");
  EXPECT_NE(said.find("f.yaml:1:4: anchors"), std::string::npos) << said;
  EXPECT_NE(said.find("f.yaml:2:4: aliases"), std::string::npos) << said;
}

TEST(Value, BottomlessNestingIsRefusedNotFollowed) {
  EXPECT_NE(mistakes_of(std::string(100'000, '[')), "");
  EXPECT_NE(mistakes_of(std::string(70, '[') + std::string(70, ']')).find("nested more than 64 deep"),
            std::string::npos);
}

TEST(Value, BrokenYamlIsPlaced) { EXPECT_NE(mistakes_of("a: [1, 2\nb: 3\n").find("f.yaml:2"), std::string::npos); }

TEST(Value, WhatIsNoTextIsAMistakeWithItsPlace) {
  EXPECT_NE(mistakes_of("a: 1\nname: caf\xe9\n").find("f.yaml:2:10: this is not UTF-8"), std::string::npos);
  EXPECT_NE(mistakes_of("a: \x1b[2J\n").find("f.yaml:1:4"), std::string::npos);
  EXPECT_NE(mistakes_of("a: \"\\e[2J\"\n").find("control character"), std::string::npos);
  EXPECT_EQ(mistakes_of("a: 1\r\nb: Gr\xc3\xbc\xc3\x9f\x65\r\n"), "");
}

TEST(Value, ManyKeysAreReadInTimeThatGrowsWithTheirNumber) {
  std::string text;
  for (int i = 0; i < 150'000; ++i) text += "k" + std::to_string(i) + ": 1\n";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(parse_yaml(text, "f.yaml").entries.size(), 150'000u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20))
      << "it was minutes when it was quadratic";
}

TEST(Value, ASecondDocumentIsAMistake) {
  EXPECT_NE(mistakes_of("a: 1\n---\nb: 2\n").find("second YAML document"), std::string::npos);
}

TEST(Value, SetPathReplacesAndMakesMaps) {
  Value root = parse_yaml("time: {quantum: 1ms}\n", "f.yaml");
  set_path(root, "time.quantum", "250us", "--set");
  set_path(root, "journal.file", "x.mcap", "--set");
  EXPECT_EQ(root.find("time")->find("quantum")->scalar, "250us");
  EXPECT_EQ(root.find("journal")->find("file")->scalar, "x.mcap");
  EXPECT_THROW(set_path(root, "time.quantum.deep", "1", "--set"), InputError);
  EXPECT_THROW(set_path(root, "", "1", "--set"), InputError);
}

TEST(Hint, NamesTheNearestOrListsAll) {
  EXPECT_EQ(nearest_hint("stp", {"step", "model"}), "did you mean `step`?");
  EXPECT_EQ(nearest_hint("zzzzzz", {"step", "model"}), "known here: step model");
}

TEST(Value, WrittenAsYamlReadsBackTheSame) {
  const char* text =
      "a: 1\nb: {c: [1, two, {x: y}], d: {}}\ne: []\nf: \"with: colon # and \\\"quotes\\\"\"\ng: '-3'\n"
      "h: null\n? 'k e y'\n: 10ms\n";
  const Value root = parse_yaml(text, "f.yaml");
  const std::string once = to_yaml(root);
  const std::string twice = to_yaml(parse_yaml(once, "g.yaml"));
  EXPECT_EQ(once, twice);
  const Value again = parse_yaml(once, "g.yaml");
  EXPECT_EQ(again.find("f")->scalar, "with: colon # and \"quotes\"");
  EXPECT_EQ(again.find("b")->find("c")->items[2].find("x")->scalar, "y");
  EXPECT_EQ(again.find("k e y")->scalar, "10ms");
}

}  // namespace
}  // namespace isochron
