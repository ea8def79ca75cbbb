#pragma once
// What a sentence demands, ready to be watched: which names it looks at, the programs that evaluate its expressions,
// and, of a summary, what is gathered over the run. This needs no journal; whether names exist and fit together is for
// check_names().
//
//     mean_what(parse("always distance(prey, predator) > 1"))
//       watch.operands   prey.position.x … predator.position.z
//       watch.programs   [0] the condition   then one for each value that a violation shows: distance(prey, predator)
//
// Fails: a TextMistake for functions that do not exist, summaries inside `always`, text that is not compared, …

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "expect/program.hpp"
#include "expect/sentence.hpp"
#include "journal/names.hpp"

namespace isochron::expect {

/// Something that a program reads: a number of a journal, or whether a text of it is this one.
struct Operand {
  std::string name;
  std::optional<std::string> text = {};
  std::size_t at = 0;  // in the sentence
  std::string thing;   // of a part of a thing: distance(prey, …) reads prey.position.x
};

/// Expressions over the same operands.
struct Watch {
  std::vector<Operand> operands;
  std::vector<Program> programs;
};

/// A part of the sentence whose value a violation shows.
struct Shown {
  Expression part;
  std::size_t program = 0;
};

/// Something gathered over a run: p99(x).
struct Gathered {
  enum class What { quantile, most, least, mean, last, count };
  What what = What::last;
  double share = 0;    // of a quantile: 0.99
  bool truth = false;  // of a count: of samples at which it is true
  Watch watch;         // one program
  Expression part;
};

struct Meaning {
  Sentence sentence;
  Watch watch;               // programs: the condition; of `after` what follows; then those of `shown`
  std::vector<Shown> shown;  // of a summary, programs are judgement's
  // Of a summary: at the end, operands are what was gathered and then the figures.
  std::vector<Gathered> gathered;
  std::vector<Operand> figures;
  Program judgement;
  std::vector<Program> shown_outcomes;
};
Result<Meaning, TextMistake> mean_what(Sentence sentence);

/// What is known about names: those of a journal, and the figures of a report.
struct Vocabulary {
  const Names& names;
  const std::map<std::string, Quantity>& figures;
  bool complete = true;  // false: there may be more; an unknown name is no mistake yet
};
/// Everything wrong with names and units.
std::vector<TextMistake> check_names(const Meaning& meaning, const Vocabulary& known);
/// What an expression of this sentence gives; number where it cannot be said.
Quantity quantity_of(const Expression& part, const Vocabulary& known);

}  // namespace isochron::expect
