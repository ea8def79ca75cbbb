#include "apps/isochron/command.hpp"
#include "apps/isochron/terminal.hpp"

namespace isochron::app {
namespace {

std::string words_of(const CLI::App& app) {
  std::string words;
  for (const CLI::App* verb : app.get_subcommands({})) {
    if (!verb->get_group().empty()) words += verb->get_name() + " ";
  }
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
  }
  return words;
}

/// A bash function with the words of every verb, made from the parser itself; zsh reads it through bashcompinit.
std::string script(const CLI::App& app) {
  std::string text = "_isochron() {\n  local words\n  case ${COMP_WORDS[1]} in\n";
  for (const CLI::App* verb : app.get_subcommands({})) {
    text += "    " + verb->get_name() + ") words='" + words_of(*verb) + "' ;;\n";
  }
  text += "    *) words='" + words_of(app) + "' ;;\n  esac\n";
  text += "  if [ \"$COMP_CWORD\" -eq 1 ]; then words='" + words_of(app) + "'; fi\n";
  // Numbers of the journal on the line, wherever names are wanted; behind the last comma of a list.
  text +=
      "  local now=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} word journal=\n"
      "  for word in \"${COMP_WORDS[@]}\"; do case $word in *.mcap) journal=$word ;; esac; done\n"
      "  case \"${COMP_WORDS[1]} ${COMP_WORDS[2]} $before\" in\n"
      "    journal\\ export\\ *.mcap | *\\ --plot | *\\ --by)\n"
      "      if [ -f \"$journal\" ]; then\n"
      "        local head=; case $now in *,*) head=${now%,*}, ;; esac\n"
      "        COMPREPLY=($(compgen -P \"$head\" -W \"$(isochron journal names \"$journal\" 2>/dev/null)\" -- "
      "\"${now##*,}\"))\n"
      "        return\n"
      "      fi ;;\n"
      "  esac\n";
  text += "  COMPREPLY=($(compgen -W \"$words\" -- \"$now\"))\n}\n";
  return text + "complete -o default -F _isochron isochron\n";
}

}  // namespace

void add_completion(CLI::App& app, Action& action) {
  auto shell = std::make_shared<std::string>("bash");
  CLI::App* verb = app.add_subcommand("completion", "print shell completion: source <(isochron completion bash)");
  verb->add_option("SHELL", *shell, "bash or zsh")->check(CLI::IsMember({"bash", "zsh"}));
  verb->callback([&action, &app, shell] {
    action = [&app, shell] {
      if (*shell == "zsh") print("autoload -U +X bashcompinit && bashcompinit\n");
      print(script(app));
      return exit_fine;
    };
  });
}

}  // namespace isochron::app
