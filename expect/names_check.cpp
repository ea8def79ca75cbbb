// Whether the names of a sentence exist and its units fit together.

#include <set>

#include "core/nearest_name.hpp"
#include "expect/functions.hpp"
#include "expect/meaning.hpp"

namespace isochron::expect {
namespace {

using Kind = Expression::Kind;

const char* word_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::number:
      return "a number";
    case Quantity::time:
      return "a time";
    case Quantity::truth:
      return "true or false";
    case Quantity::text:
      return "text";
  }
  return "";
}

/// Gives every expression its quantity and says where that cannot be.
class Checker {
 public:
  Checker(const Sentence& sentence, const Vocabulary& known) : sentence_(sentence), known_(known) {}

  std::vector<TextMistake> run() {
    at_the_end_ = sentence_.form == Sentence::Form::summary;
    demand_truth(sentence_.condition);
    if (sentence_.then) demand_truth(*sentence_.then);
    return std::move(mistakes_);
  }

  /// Nothing: it is not known, and why was said.
  std::optional<Quantity> quantity(const Expression& e) {
    switch (e.kind) {
      case Kind::number:
        return Quantity::number;
      case Kind::time:
        return Quantity::time;
      case Kind::truth:
        return Quantity::truth;
      case Kind::text:
        return Quantity::text;
      case Kind::name:
        return of_name(e);
      case Kind::call:
        return of_call(e);
      case Kind::operation:
        return of_operation(e);
    }
    return std::nullopt;
  }

 private:
  using Found = std::optional<Quantity>;

  Found wrong(const Expression& e, std::string what, std::string hint = "") {
    mistakes_.push_back({e.at, std::move(what), std::move(hint)});
    return std::nullopt;
  }
  [[nodiscard]] std::string quoted(const Expression& e) const { return "`" + sentence_.text_of(e) + "`"; }

  void demand_truth(const Expression& e) {
    const Found found = quantity(e);
    if (!found || *found == Quantity::truth) return;
    wrong(e, quoted(e) + " is " + word_of(*found) + ", and says nothing that holds or does not",
          "compare it, as in " + sentence_.text_of(e) + (*found == Quantity::time ? " < 20ms" : " < 5"));
  }

  Found of_name(const Expression& e) {
    if (e.word == "time") return Quantity::time;
    const auto number = known_.names.find(e.word);
    const auto figure = known_.figures.find(e.word);
    if (at_the_end_) {
      if (figure != known_.figures.end()) return figure->second;
      if (number) {
        return wrong(e, quoted(e) + " changes during the run",
                     "begin with always, or summarise it, as in most(" + e.word + ")");
      }
    } else {
      if (number && number->quantity == Quantity::text) {
        return wrong(e, quoted(e) + " is text", "compare it, as in " + e.word + " == \"send\"");
      }
      if (number) return number->quantity;
      if (figure != known_.figures.end()) {
        return wrong(e, quoted(e) + " is known at the end of the run only",
                     "leave out always, as in " + e.word + " == 0");
      }
    }
    return unknown(e);
  }

  Found unknown(const Expression& e) {
    if (!known_.complete) return std::nullopt;
    if (known_.names.find(e.word + ".position.x")) {
      return wrong(e, quoted(e) + " is not one number", "as in " + e.word + ".position.x");
    }
    std::vector<std::string> names = known_.names.all();
    for (const auto& [name, quantity] : known_.figures) names.push_back(name);
    std::string hint = nearest_hint(e.word, names);
    if (e.word.find_first_of("-/") != std::string::npos && hint.starts_with("known")) {
      hint = "to subtract or divide, put spaces around the sign";
    }
    return wrong(e, "there is no number called " + quoted(e), std::move(hint));
  }

  Found of_call(const Expression& e) {
    const auto function = find_function(e.word);
    if (!function) return std::nullopt;  // said before
    if (function->kind == Function::Kind::of_things) return of_things(e, *function);
    const bool was = std::exchange(at_the_end_, at_the_end_ && function->kind != Function::Kind::summary);
    const Found found = of_arguments(e, *function);
    at_the_end_ = was;
    return found;
  }

  Found of_things(const Expression& e, const Function& function) {
    std::set<std::string> things;
    const std::string ending = function.part + std::string(".x");
    for (const Expression& thing : e.arguments) {
      if (!known_.complete || known_.names.find(thing.word + ending)) continue;
      if (things.empty()) {
        for (const std::string& name : known_.names.all()) {
          if (name.ends_with(ending)) things.insert(name.substr(0, name.size() - ending.size()));
        }
      }
      wrong(thing, "there is no body " + quoted(thing), nearest_hint(thing.word, {things.begin(), things.end()}));
    }
    return Quantity::number;
  }

  Found of_arguments(const Expression& e, const Function& function) {
    Found first;
    for (const Expression& argument : e.arguments) {
      const Found found = quantity(argument);
      if (!found) return std::nullopt;
      const bool counts = function.what == Gathered::What::count && function.kind == Function::Kind::summary;
      if (*found == Quantity::truth && !counts) {
        return wrong(argument, quoted(argument) + " is true or false, not a number", "");
      }
      if (first && *first != *found) return differ(e, argument, *first, *found);
      if (!first) first = found;
    }
    if (function.kind == Function::Kind::summary && function.what == Gathered::What::count) return Quantity::number;
    return first;
  }

  Found differ(const Expression& whole, const Expression& part, Quantity a, Quantity b) {
    const bool time = a == Quantity::time || b == Quantity::time;
    return wrong(part, "in " + quoted(whole) + " one side is " + word_of(a) + " and the other " + word_of(b),
                 time && (a == Quantity::number || b == Quantity::number) ? "times have a unit, as in 20ms" : "");
  }

  Found of_operation(const Expression& e) {
    if (e.arguments.size() == 1) return of_one(e);
    const Expression &left = e.arguments[0], &right = e.arguments[1];
    if (left.kind == Kind::text || right.kind == Kind::text) return of_text(e);
    const Found a = quantity(left), b = quantity(right);
    if (e.word == "and" || e.word == "or") {
      demand(left, a), demand(right, b);
      return Quantity::truth;
    }
    if (!a || !b) return is_comparison(e.word) ? Found(Quantity::truth) : std::nullopt;
    if (e.word == "*" || e.word == "/") return of_product(e, *a, *b);
    if (*a != *b && !is_zero(left) && !is_zero(right)) return differ(e, right, *a, *b);
    const Quantity both = is_zero(left) ? *b : *a;
    if (is_comparison(e.word)) {
      if (both == Quantity::truth && e.word != "==" && e.word != "!=") {
        return wrong(e, "true and false have no order", "compare them with == or !=, or use and, or, not");
      }
      return Quantity::truth;
    }
    if (both == Quantity::truth) return wrong(e, "true and false cannot be added", "");
    return both;
  }

  void demand(const Expression& e, const Found& found) {
    if (found && *found != Quantity::truth) {
      wrong(e, quoted(e) + " is " + word_of(*found) + ", and says nothing that holds or does not", "compare it");
    }
  }
  Found of_one(const Expression& e) {
    const Found found = quantity(e.arguments[0]);
    if (e.word == "not") return demand(e.arguments[0], found), Quantity::truth;
    if (found == Quantity::truth) return wrong(e, "true and false have no sign", "to turn it around, write not");
    return found;
  }
  Found of_text(const Expression& e) {
    const Expression& name = e.arguments[0].kind == Kind::text ? e.arguments[1] : e.arguments[0];
    const auto found = known_.names.find(name.word);
    if (!found) return unknown(name), Quantity::truth;
    if (found->quantity != Quantity::text) wrong(name, quoted(name) + " is " + word_of(found->quantity) + ", not text");
    return Quantity::truth;
  }
  Found of_product(const Expression& e, Quantity a, Quantity b) {
    if (a == Quantity::truth || b == Quantity::truth) return wrong(e, "true and false cannot be multiplied", "");
    if (a == Quantity::time && b == Quantity::time) {
      return e.word == "/" ? Found(Quantity::number) : wrong(e, "a time times a time means nothing here", "");
    }
    if (e.word == "/" && b == Quantity::time) return wrong(e, "a number cannot be divided by a time here", "");
    return a == Quantity::time ? a : b;
  }

  static bool is_comparison(const std::string& word) {
    return word[0] == '<' || word[0] == '>' || word == "==" || word == "!=";
  }
  static bool is_zero(const Expression& e) { return e.kind == Kind::number && e.value == 0; }

  const Sentence& sentence_;
  const Vocabulary& known_;
  bool at_the_end_ = false;
  std::vector<TextMistake> mistakes_;
};

}  // namespace

std::vector<TextMistake> check_names(const Meaning& meaning, const Vocabulary& known) {
  return Checker(meaning.sentence, known).run();
}

Quantity quantity_of(const Expression& part, const Vocabulary& known) {
  Sentence sentence;
  sentence.form = Sentence::Form::summary;
  const Vocabulary lenient{known.names, known.figures, false};
  Checker checker(sentence, lenient);
  const auto number = part.kind == Kind::name ? known.names.find(part.word) : std::nullopt;
  if (number) return number->quantity;
  return checker.quantity(part).value_or(Quantity::number);
}

}  // namespace isochron::expect
