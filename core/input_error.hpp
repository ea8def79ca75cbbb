#pragma once
// InputError is the one exception for what a user gave us and we cannot use: a scenario, a flag, a model, a journal. It
// carries every mistake found, each with its place, because people mend a file in one go.
//
// Thrown before anything starts; never across a thread, a transport or the C interface.

#include <stdexcept>
#include <string>
#include <vector>

namespace isochron {

/// Where something stands: file:line:column, counted from one; 0 = unknown and not printed.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
};
std::string to_string(const Place& place);

/// One mistake: where, what, and what to do about it (may be empty).
struct Mistake {
  Place place;
  std::string what;
  std::string hint;
};
/// "file:3:7: unknown key `stp`; did you mean `step`?"
std::string to_string(const Mistake& mistake);

class InputError : public std::runtime_error {
 public:
  explicit InputError(std::vector<Mistake> mistakes);
  InputError(Place place, std::string what, std::string hint = {});

  const std::vector<Mistake>& mistakes() const noexcept { return mistakes_; }

 private:
  std::vector<Mistake> mistakes_;
};

/// Runs f; mistakes that it throws and that know no place of their own stand at `place`.
template <class F>
void collect_mistakes(const Place& place, std::vector<Mistake>& mistakes, F&& f) {
  try {
    f();
  } catch (const InputError& error) {
    for (Mistake mistake : error.mistakes()) {
      if (mistake.place.file.empty()) mistake.place = place;
      mistakes.push_back(std::move(mistake));
    }
  }
}

}  // namespace isochron
