#include "scenario/reference.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace isochron {
namespace {

std::string file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(std::string(ISOCHRON_SOURCE_DIR) + "/" + path).rdbuf();
  return text.str();
}

TEST(Reference, TheDocumentIsWhatTheLoaderReads) {
  EXPECT_EQ(file("docs/scenario.md"), scenario_reference()) << "run: isochron reference --write docs";
  EXPECT_EQ(file("docs/scenario.schema.json"), scenario_json_schema()) << "run: isochron reference --write docs";
}

TEST(Reference, NamesDefaultsAndNeeds) {
  const std::string text = scenario_reference();
  EXPECT_NE(text.find("| `model` | file | **required** |"), std::string::npos);
  EXPECT_NE(text.find("| `quantum` | time | `1ms` |"), std::string::npos);
}

}  // namespace
}  // namespace isochron
