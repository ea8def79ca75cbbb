#pragma once
// A headless browser in a process of its own (tools/npm/view_bench.mjs), asked line by line.
//
// Fails: an answer is -1; without chromium or the npm packages there() is false.

#include <cstdio>
#include <string>

namespace isochron::bench {

class Browser {
 public:
  Browser();
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  [[nodiscard]] bool there() const { return to_ != nullptr; }
  double ask(const std::string& request);

 private:
  int process_ = 0;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

}  // namespace isochron::bench
