// Random valid messages through every direction, and through an independent codec.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "v2x/test/random_fill.hpp"

namespace isochron::v2x {
namespace {

TEST(CodecRandom, WhatIsEncodedIsDecodedIncludingWhatOnlyLaterEditionsKnow) {
  RandomStream draws(1, "codec");
  for (int i = 0; i < 1500; ++i) {
    const std::uint64_t seed = draws.bits();
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomStream own(seed, "frame");
    const Frame frame = random_frame(own, true);
    const auto octets = encode(frame);
    if (!octets.ok()) {
      EXPECT_NE(octets.error().what.find("16383"), std::string::npos) << to_string(octets.error());
      continue;
    }
    const auto again = decode(*octets);
    ASSERT_TRUE(again.ok()) << to_string(again.error());
    ASSERT_EQ(*again, frame);
    ASSERT_EQ(*encode(*again), *octets);
    for (const auto form : {JsonForm::si, JsonForm::j2735}) {
      const auto told = from_json(to_json(frame, form));
      ASSERT_TRUE(told.ok()) << to_string(told.error());
      ASSERT_EQ(*told, frame);
    }
  }
}

/// Runs the oracle (Erlang's ASN.1 codec on a module of ours) on a file of frames in hexadecimal; a line for each with
/// the values as JSON, a tab, and the frame as the oracle encodes those values.
std::vector<std::pair<nlohmann::json, std::string>> ask_oracle(const std::vector<std::string>& frames) {
  const std::string in = testing::TempDir() + "oracle_frames.txt";
  const std::string out = testing::TempDir() + "oracle_answers.txt";
  std::ofstream file(in);
  for (const auto& frame : frames) file << frame << '\n';
  file.close();
  const std::string command = std::string("'" ISOCHRON_ESCRIPT "' '" ISOCHRON_ORACLE "/oracle.escript' '") +
                              ISOCHRON_ORACLE_BEAM + "' '" + in + "' > '" + out + "'";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::vector<std::pair<nlohmann::json, std::string>> answers;
  std::ifstream read(out);
  for (std::string line; std::getline(read, line);) {
    const auto tab = line.find('\t');
    answers.emplace_back(nlohmann::json::parse(line.substr(0, tab)), line.substr(tab + 1));
  }
  return answers;
}

nlohmann::json message_of(const Frame& frame) {
  const auto json = nlohmann::json::parse(to_json(frame, JsonForm::j2735));
  return json.at(kinds.at(frame.message.index()).name);
}

TEST(CodecOracle, AnIndependentCodecReadsAndWritesTheSame) {
  if (std::string(ISOCHRON_ESCRIPT).empty()) GTEST_SKIP() << "erlang-base and erlang-asn1 are not installed";
  RandomStream draws(2, "oracle");
  std::vector<Frame> frames;
  std::vector<std::string> hex;
  while (frames.size() < 400) {
    Frame frame = random_frame(draws, false);
    const auto octets = encode(frame);
    if (!octets.ok() || octets->size() > 4000) continue;
    frames.push_back(std::move(frame));
    hex.push_back(to_hex(*octets));
  }
  const auto answers = ask_oracle(hex);
  ASSERT_EQ(answers.size(), frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    SCOPED_TRACE("frame " + std::to_string(i) + " " + hex[i]);
    ASSERT_EQ(answers[i].first, message_of(frames[i])) << nlohmann::json::diff(message_of(frames[i]), answers[i].first);
    ASSERT_EQ(answers[i].second, hex[i]);
    ASSERT_EQ(*decode(*from_hex(answers[i].second)), frames[i]);
  }
}

}  // namespace
}  // namespace isochron::v2x
