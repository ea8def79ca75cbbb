#include "core/foreign_text.hpp"

#include <gtest/gtest.h>

#include "core/random.hpp"

namespace isochron {
namespace {

TEST(ForeignText, WhatIsTextStaysAsItIs) {
  const std::string text = "plain, Grüße, 時計, \xf0\x9f\xa4\x96\n\tindented";
  EXPECT_EQ(foreign_text(text), text);
  EXPECT_EQ(foreign_tail(text), text);
  EXPECT_EQ(first_bad_byte(text), std::string::npos);
}

TEST(ForeignText, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(foreign_text("a\xff\xfe"
                         "b"),
            "a\ufffd\ufffdb");
  EXPECT_EQ(foreign_text("\xc0\xaf"), "\ufffd\ufffd");                 // overlong
  EXPECT_EQ(foreign_text("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");       // a surrogate
  EXPECT_EQ(foreign_text("\xf4\x90\x80\x80").substr(0, 3), "\ufffd");  // beyond the last character
  EXPECT_EQ(foreign_text("cut \xe6\x99"), "cut \ufffd\ufffd");
  EXPECT_EQ(first_bad_byte("ab\xff"), 2U);
}

TEST(ForeignText, NothingInItIsObeyedByATerminal) {
  EXPECT_EQ(foreign_text("\x1b]0;title\x07"
                         "red\r"),
            "\ufffd]0;title\ufffdred\ufffd");
  EXPECT_EQ(foreign_text("\xc2\x9b"
                         "31m"),
            "\ufffd31m");  // CSI as one character
  EXPECT_EQ(foreign_name("two\nlines"), "two\ufffdlines");
}

TEST(ForeignText, IsCutBetweenCharacters) {
  EXPECT_EQ(foreign_text("aéé", 4), "aé");
  EXPECT_EQ(foreign_tail("ééa", 4), "éa");
  EXPECT_EQ(foreign_tail("x\x80\x80\x80\x80", 6), "\ufffd\ufffd");
}

TEST(ForeignText, AnyBytesBecomeTextWithinTheLimit) {
  RandomStream random(1, "bytes");
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(random.below(60), ' ');
    for (char& c : bytes) c = static_cast<char>(random.bits());
    const std::size_t most = random.below(50);
    for (const std::string& text : {foreign_text(bytes, most), foreign_tail(bytes, most), foreign_name(bytes, most)}) {
      EXPECT_LE(text.size(), most);
      EXPECT_EQ(first_bad_byte(text), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace isochron
