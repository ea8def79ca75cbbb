#include "expect/expectation.hpp"

namespace isochron::expect {

Mistake placed(const TextMistake& mistake, const Place& text, bool in_one_line) {
  Place place = text;
  if (in_one_line && place.column > 0) place.column += static_cast<int>(mistake.at);
  return {std::move(place), mistake.what, mistake.hint};
}

std::optional<Expectation> read_expectation(std::string name, std::string_view text, Place place, bool in_one_line,
                                            std::vector<Mistake>& mistakes) {
  auto sentence = parse(text);
  if (!sentence) {
    mistakes.push_back(placed(sentence.error(), place, in_one_line));
    return std::nullopt;
  }
  auto meaning = mean_what(std::move(*sentence));
  if (!meaning) {
    mistakes.push_back(placed(meaning.error(), place, in_one_line));
    return std::nullopt;
  }
  return Expectation{std::move(name), std::move(place), in_one_line, std::move(*meaning)};
}

void check_expectation(const Expectation& expectation, const Vocabulary& known, std::vector<Mistake>& mistakes) {
  for (const TextMistake& mistake : check_names(expectation.meaning, known)) {
    mistakes.push_back(placed(mistake, expectation.place, expectation.in_one_line));
  }
}

}  // namespace isochron::expect
