#pragma once
// What people see: colours only on a terminal, numbers with three digits, one line that is redrawn while work goes on,
// and output that fails loudly when it cannot be written.

#include <string>
#include <vector>

namespace isochron::app {

/// Bold, green, … on a terminal; the plain text elsewhere or with NO_COLOR.
std::string bold(const std::string& text);
std::string green(const std::string& text);
std::string red(const std::string& text);
std::string yellow(const std::string& text);
std::string faint(const std::string& text);

/// 1234567 -> "1.23 M".
std::string human(double value);

/// Without what a terminal would obey, but for our own colours.
std::string harmless(const std::string& text);
/// From now on what code of others prints on standard output goes to standard error, and print() alone to standard
/// output: a report stays a report though nodes print.
void keep_output_for_reports();
/// Undoes it, for whoever takes the place of this process.
void give_output_back();
/// Writes to stdout; a closed or full stdout ends the command with code 3, after what was recorded is safe.
void print(const std::string& text);
/// Writes to stderr, never fails.
void say(const std::string& text);

/// A status line on stderr, redrawn in place on a terminal; silent elsewhere.
class StatusLine {
 public:
  ~StatusLine() { clear(); }
  void show(const std::string& text);
  void clear();

 private:
  bool shown_ = false;
};

/// Columns padded to their widest cell; the first row is the heading.
std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace isochron::app
