#include "expect/meaning.hpp"

#include <array>

#include "core/nearest_name.hpp"
#include "expect/functions.hpp"

namespace isochron::expect {
namespace {

using Kind = Expression::Kind;

struct Sign {
  const char* word;
  Operation operation;
};
constexpr std::array<Sign, 12> signs{{{"<", Operation::less},
                                      {"<=", Operation::less_or_equal},
                                      {">", Operation::greater},
                                      {">=", Operation::greater_or_equal},
                                      {"==", Operation::equal},
                                      {"!=", Operation::not_equal},
                                      {"and", Operation::both},
                                      {"or", Operation::either},
                                      {"+", Operation::add},
                                      {"-", Operation::subtract},
                                      {"*", Operation::multiply},
                                      {"/", Operation::divide}}};

/// Makes programs for one Watch, or for the end of a summary; the first mistake ends it.
class Builder {
 public:
  explicit Builder(Meaning& meaning) : meaning_(meaning) {}

  std::optional<TextMistake> run() {
    Sentence& sentence = meaning_.sentence;
    if (sentence.form == Sentence::Form::summary) {
      at_the_end_ = true;
      meaning_.judgement = program_of(sentence.condition);
      show(sentence.condition);
      if (!mistake_ && meaning_.gathered.empty() && meaning_.figures.empty()) {
        wrong(sentence.condition, "says nothing about the run", "begin with always, never, eventually or after");
      }
      return mistake_;
    }
    watch_ = &meaning_.watch;
    watch_->programs.push_back(program_of(sentence.condition));
    if (sentence.then) watch_->programs.push_back(program_of(*sentence.then));
    show(sentence.condition);
    if (sentence.then) show(*sentence.then);
    if (!mistake_ && watch_->operands.empty()) wrong(sentence.condition, "says nothing about the run", "name a number");
    return mistake_;
  }

 private:
  void wrong(const Expression& part, std::string what, std::string hint) {
    if (!mistake_) mistake_ = TextMistake{part.at, std::move(what), std::move(hint)};
  }

  Program program_of(const Expression& expression) {
    Program program;
    build(expression, program);
    if (!mistake_ && program.depth() > Program::deepest) wrong(expression, "is nested too deeply", "");
    return program;
  }

  void build(const Expression& e, Program& into) {
    if (mistake_) return;
    switch (e.kind) {
      case Kind::number:
      case Kind::time:
      case Kind::truth:
        return into.add_constant(e.value);
      case Kind::text:
        return wrong(e, "text can only be compared with a name", "as in predator/planner.what == \"send\"");
      case Kind::name:
        return name(e, into);
      case Kind::call:
        return call(e, into);
      case Kind::operation:
        return operation(e, into);
    }
  }

  void name(const Expression& e, Program& into) {
    if (e.word == "time") {
      if (at_the_end_)
        return wrong(e, "`time` changes during the run", "begin with always, never, eventually or after");
      return into.add(Operation::time);
    }
    if (!at_the_end_) return into.add_operand(operand_of({e.word, std::nullopt, e.at, ""}));
    into.add_operand(figure_of(e));
  }

  std::size_t operand_of(Operand operand) {
    for (std::size_t i = 0; i < watch_->operands.size(); ++i) {
      const Operand& known = watch_->operands[i];
      if (known.name == operand.name && known.text == operand.text) return i;
    }
    watch_->operands.push_back(std::move(operand));
    return watch_->operands.size() - 1;
  }

  /// Figures come behind everything that is gathered; that is not all known yet.
  static constexpr std::size_t figures_at = 1000;
  std::size_t figure_of(const Expression& e) {
    for (std::size_t i = 0; i < meaning_.figures.size(); ++i) {
      if (meaning_.figures[i].name == e.word) return figures_at + i;
    }
    meaning_.figures.push_back({e.word, std::nullopt, e.at, ""});
    return figures_at + meaning_.figures.size() - 1;
  }

  void operation(const Expression& e, Program& into) {
    if (e.arguments.size() == 1) {
      build(e.arguments[0], into);
      return into.add(e.word == "not" ? Operation::invert : Operation::negate);
    }
    if (const Expression* text = compared_text(e)) return compare_text(e, *text, into);
    build(e.arguments[0], into);
    build(e.arguments[1], into);
    for (const Sign& sign : signs) {
      if (e.word == sign.word) return into.add(sign.operation);
    }
  }

  /// The text in `name == "text"`; null: it is no such comparison.
  static const Expression* compared_text(const Expression& e) {
    for (const std::size_t side : {0, 1}) {
      if (e.arguments[side].kind == Kind::text && e.arguments[1 - side].kind == Kind::name) return &e.arguments[side];
    }
    return nullptr;
  }
  void compare_text(const Expression& e, const Expression& text, Program& into) {
    const Expression& named = &text == &e.arguments[0] ? e.arguments[1] : e.arguments[0];
    if (e.word != "==" && e.word != "!=") return wrong(e, "texts are compared with == or != only", "");
    if (at_the_end_)
      return wrong(e, "text can only be compared while the run goes on", "as in count(x == \"send\") > 0");
    into.add_operand(operand_of({named.word, text.word, named.at, ""}));
    if (e.word == "!=") into.add(Operation::invert);
  }

  void call(const Expression& e, Program& into) {
    const auto function = find_function(e.word);
    if (!function) return wrong(e, "there is no function `" + e.word + "`", nearest_hint(e.word, function_names()));
    if (e.arguments.size() < function->least || e.arguments.size() > function->most) {
      const bool over_run = (e.word == "max" || e.word == "min") && e.arguments.size() == 1;
      return wrong(e, "`" + e.word + "` does not take " + std::to_string(e.arguments.size()) + " values",
                   over_run ? "over a whole run it is " + std::string(e.word == "max" ? "most" : "least") + "(x)"
                            : function->example);
    }
    switch (function->kind) {
      case Function::Kind::of_values:
        return of_values(e, *function, into);
      case Function::Kind::of_things:
        return of_things(e, *function, into);
      case Function::Kind::summary:
        return gather(e, *function, into);
    }
  }

  void of_values(const Expression& e, const Function& function, Program& into) {
    build(e.arguments[0], into);
    if (e.arguments.size() == 1) return into.add(function.operation);
    for (std::size_t i = 1; i < e.arguments.size(); ++i) {
      build(e.arguments[i], into);
      into.add(function.operation);
    }
  }

  void of_things(const Expression& e, const Function& function, Program& into) {
    if (at_the_end_) {
      return wrong(e, "`" + e.word + "` changes during the run",
                   "begin with always, never, eventually or after; or summarise it, as in least(" + e.word + "(…))");
    }
    for (const Expression& thing : e.arguments) {
      if (thing.kind != Kind::name) return wrong(thing, "the name of a body is expected here", function.example);
      for (const char* axis : {".x", ".y", ".z"}) {
        into.add_operand(operand_of({thing.word + function.part + axis, std::nullopt, thing.at, thing.word}));
      }
    }
    into.add(function.operation);
  }

  void gather(const Expression& e, const Function& function, Program& into) {
    if (!at_the_end_) {
      return wrong(e, "`" + e.word + "` is known at the end of the run only",
                   "leave out always, never, eventually or after");
    }
    Gathered gathered;
    gathered.what = function.what;
    gathered.share = function.share;
    gathered.part = e;
    at_the_end_ = false;
    watch_ = &gathered.watch;
    gathered.watch.programs.push_back(program_of(e.arguments[0]));
    at_the_end_ = true;
    watch_ = nullptr;
    if (gathered.watch.operands.empty()) return wrong(e.arguments[0], "says nothing about the run", "name a number");
    gathered.truth = gives_truth(e.arguments[0]);
    if (meaning_.gathered.size() == figures_at) return wrong(e, "is one summary too many", "");
    into.add_operand(meaning_.gathered.size());
    meaning_.gathered.push_back(std::move(gathered));
  }

  /// By its form alone; a name of a truth counts as one at run time.
  static bool gives_truth(const Expression& e) {
    if (e.kind != Kind::operation) return e.kind == Kind::truth;
    return e.word != "+" && e.word != "-" && e.word != "*" && e.word != "/";
  }

  /// The values that say why: names and calls, as large as they are.
  void show(const Expression& e) {
    if (mistake_) return;
    const bool value = (e.kind == Kind::call && !is_inside_out(e)) || (e.kind == Kind::name && e.word != "time") ||
                       (e.kind == Kind::operation && e.arguments.size() == 2 && compared_text(e) != nullptr);
    if (!value) {
      for (const Expression& part : e.arguments) show(part);
      return;
    }
    if (at_the_end_) {
      meaning_.shown.push_back({e, meaning_.shown_outcomes.size()});
      meaning_.shown_outcomes.push_back(shown_at_the_end(e));
    } else {
      meaning_.shown.push_back({e, watch_->programs.size()});
      watch_->programs.push_back(program_of(e));
    }
  }
  /// At the end of the run the values are what was gathered; what is made of them is not shown.
  [[nodiscard]] bool is_inside_out(const Expression& e) const {
    const auto function = find_function(e.word);
    return at_the_end_ && function && function->kind == Function::Kind::of_values;
  }
  /// What was gathered for it is there already.
  Program shown_at_the_end(const Expression& e) {
    Program program;
    for (std::size_t i = 0; i < meaning_.gathered.size(); ++i) {
      if (meaning_.gathered[i].part.at == e.at) return program.add_operand(i), program;
    }
    return program_of(e);
  }

  Meaning& meaning_;
  Watch* watch_ = nullptr;
  bool at_the_end_ = false;
  std::optional<TextMistake> mistake_;
};

}  // namespace

Result<Meaning, TextMistake> mean_what(Sentence sentence) {
  Meaning meaning;
  meaning.sentence = std::move(sentence);
  if (const auto mistake = Builder(meaning).run()) return fail(*mistake);
  return meaning;
}

}  // namespace isochron::expect
