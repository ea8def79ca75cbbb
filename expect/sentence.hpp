#pragma once
// An expectation as it was written, taken apart: its form and its expressions. What the names mean is not known yet.
//
//     always EXPR                        at every sample
//     never EXPR                         at none
//     eventually EXPR [within 5s]        at one sample at least, within so long since the start
//     after EXPR, EXPR within 2s         each time the first becomes true, the second is true at most so much later
//     EXPR                               of summaries, such as p99(x) < 20ms: at the end of the run
//
//     … [from 1s] [until 10s]            only samples of this time count
//
//     EXPR    and or not   < <= > >= == !=   + - * /   numbers, times, names, "text", true false, time
//             instant      distance(A, B)  speed(A)  abs(x)  sqrt(x)  min(x, y)  max(x, y)
//             summary      p50(x) … p99.9(x)  most(x)  least(x)  mean(x)  last(x)  count(x)
//
// Promises: whatever the text is, parse() answers; nesting is at most 64 deep.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"
#include "expect/lexer.hpp"

namespace isochron::expect {

struct Expression {
  enum class Kind { number, time, truth, text, name, call, operation };
  Kind kind = Kind::number;
  double value = 0;                   // of a number, a time in seconds, a truth
  std::string word;                   // the name, the text, the function, the operator ("not" and "-" have one side)
  std::vector<Expression> arguments;  // of a call or an operation
  std::size_t at = 0, end = 0;        // in the text
};

struct Sentence {
  enum class Form { always, never, eventually, after, summary };
  Form form = Form::summary;
  Expression condition;                // of `after`: what comes first
  std::optional<Expression> then;      // of `after`
  std::optional<SimSpan> within = {};  // of `after` and `eventually`
  SimTime from = SimTime::zero();
  SimTime until = SimTime::never();
  std::string text;  // all of it

  [[nodiscard]] std::string text_of(const Expression& part) const {
    return part.at < text.size() ? text.substr(part.at, part.end - part.at) : std::string();
  }
};

Result<Sentence, TextMistake> parse(std::string_view text);

}  // namespace isochron::expect
