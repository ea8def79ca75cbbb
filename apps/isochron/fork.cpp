// `isochron fork`: what if? A recorded run goes on in another way from a time on.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/isochron/branches.hpp"
#include "apps/isochron/command.hpp"
#include "apps/isochron/terminal.hpp"
#include "apps/isochron/trust.hpp"
#include "core/foreign_text.hpp"
#include "core/time_text.hpp"

namespace isochron::app {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  BranchPlan plan;
  std::string at, until;
  std::vector<std::string> sets, branches;
  std::size_t jobs = 0;
  bool json = false;
};

SimSpan time_from(const std::string& flag, const std::string& text) {
  const auto ns = parse_ns(text);
  if (!ns.ok()) throw InputError({flag + " " + text, 0, 0}, ns.error(), "as in " + flag + " 12.3s");
  return SimSpan::from_ns(*ns);
}

std::vector<Branch> branches_of(const Flags& flags) {
  std::vector<Branch> all;
  for (const std::string& text : flags.branches) {
    all.push_back(branch_from(text));
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      if (all[i].name == all.back().name) throw InputError({"--branch " + text, 0, 0}, "has a name that is taken", "");
    }
  }
  if (all.empty()) all.push_back({"fork", {}});
  for (Branch& branch : all) branch.changes.insert(branch.changes.begin(), flags.sets.begin(), flags.sets.end());
  return all;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "; ") + word;
  return text.empty() ? "nothing" : text;
}

std::string verdict_of(const BranchResult& result) {
  const Json report = Json::parse(result.report, nullptr, false);
  if (!report.is_object()) return "failed";
  std::size_t held = 0, all = 0;
  for (const Json& one : report.value("expectations", Json::array())) {
    ++all;
    held += one.value("verdict", "") == "held" ? 1 : 0;
  }
  return all == 0 ? "-" : std::to_string(held) + " of " + std::to_string(all);
}

Json json_of(const BranchResult& result) {
  Json json{{"branch", result.branch.name},
            {"changes", result.branch.changes},
            {"end", result.end()},
            {"journal", result.journal}};
  const Json report = Json::parse(result.report, nullptr, false);
  if (report.is_object()) {
    json["digest"] = report.value("digest", "");
    json["held"] = result.held();
    json["report"] = report;
  }
  if (!result.why.empty()) json["why"] = result.why;
  if (result.first_different) json["first_difference_s"] = result.first_different->since_zero().seconds();
  return json;
}

void print_text(const Flags& flags, const BranchRun& run) {
  std::vector<std::vector<std::string>> rows{{"branch", "change", "end", "held", "differs from", "digest", "journal"}};
  for (const BranchResult& result : run.branches) {
    const Json report = Json::parse(result.report, nullptr, false);
    rows.push_back({result.branch.name, joined(result.branch.changes), result.end(), verdict_of(result),
                    result.first_different ? to_string(*result.first_different) : "nowhere",
                    report.is_object() ? report.value("digest", "").substr(0, 12) : result.why, result.journal});
  }
  print(table(rows) + "\n" +
        (run.shared ? "one replay to " + flags.at + " for all, in " + format_ns_short(run.way.ns()) +
                          ", the same as recorded; forked within " + format_ns_short(run.began_after.ns()) + "\n"
                    : "each branch was replayed to " + flags.at + ", the same as recorded: " + run.why_alone + "\n"));
}

int fork_run(Flags& flags) {
  if (flags.json) keep_output_for_reports();
  flags.plan.at = SimTime::zero() + time_from("--at", flags.at);
  if (!flags.until.empty()) flags.plan.until = time_from("--until", flags.until);
  flags.plan.jobs = flags.jobs > 0 ? flags.jobs : std::max(1U, std::thread::hardware_concurrency());
  if (flags.plan.output.empty()) {
    flags.plan.output = "runs/fork_" + std::filesystem::path(flags.plan.journal).stem().string();
  }
  const BranchRun run = run_branches(flags.plan, branches_of(flags));
  if (!run.not_same.empty()) {
    say("isochron: " + run.not_same + "\n");
    return exit_failed;
  }
  bool failed = false, held = true;
  Json all = Json::array();
  for (const BranchResult& result : run.branches) {
    failed = failed || result.end() == "failed";
    held = held && result.held();
    all.push_back(json_of(result));
  }
  if (flags.json) {
    print(json_text(Json{{"at_s", flags.plan.at.since_zero().seconds()},
                         {"shared", run.shared},
                         {"why_not_shared", run.why_alone},
                         {"way_s", run.way.seconds()},
                         {"began_after_s", run.began_after.seconds()},
                         {"branches", all}}) +
          "\n");
  } else {
    print_text(flags, run);
  }
  if (failed) return exit_failed;
  return held ? exit_fine : exit_no;
}

}  // namespace

void add_fork(CLI::App& app, Action& action) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand(
      "fork", "what if: replay a journal to a time, prove that it is the same so far, and go on with a change");
  verb->add_option("JOURNAL", flags->plan.journal, "what `isochron run` left")->required();
  verb->add_option("--at", flags->at, "the time at which it is changed")->required()->type_name("TIME");
  verb->add_option("--set", flags->sets,
                   "the change: KEY=VALUE, or an entry of a fault timeline without its time, as in '{push: prey, "
                   "force: [0, 0, 9], for: 1s}'; for all branches")
      ->type_name("CHANGE")
      ->allow_extra_args(false);
  verb->add_option("--branch", flags->branches,
                   "several at once, each with its changes: 'NAME: CHANGE; CHANGE'; a name alone changes nothing")
      ->type_name("BRANCH")
      ->allow_extra_args(false);
  verb->add_option("--until", flags->until, "when the branches end; the scenario's duration if left out")
      ->type_name("TIME");
  verb->add_option("--folder", flags->plan.folder, "where the scenario's files are now, if they were moved")
      ->type_name("FOLDER");
  verb->add_option("-o,--output", flags->plan.output, "folder of the branches' journals; runs/fork_NAME if left out")
      ->type_name("FOLDER");
  verb->add_option("--jobs", flags->jobs, "branches at the same time; as many as there are cores if left out")
      ->type_name("N");
  verb->add_flag("--json", flags->json, "one JSON object instead of the table");
  add_trust_flag(*verb, flags->plan.trust);
  verb->callback([&action, flags] { action = [flags] { return fork_run(*flags); }; });
}

}  // namespace isochron::app
