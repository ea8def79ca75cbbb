// Builds the documentation site: node docs_site.mjs SOURCE OUTPUT ISOCHRON
// Every page of docs/ and the README becomes a static HTML page; the command reference is made from --help itself, the
// API pages from the headers and docstrings.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import markdownIt from "markdown-it";
import anchor from "markdown-it-anchor";

const [source, output, isochron] = process.argv.slice(2);
const SOURCE_TREE = relative(output, source); // from a page to the files that it speaks of

// The order in which one reads; a page that is not named here comes at the end of its own accord.
const CHAPTERS = [
  ["Start", ["README", "install", "index", "quick_start", "concepts", "glossary"]],
  ["Guides", ["world", "sensors", "programs", "coordinator", "flows", "realtime", "hil", "agents", "v2x", "links", "expectations", "predator_prey"]],
  ["See it", ["view", "report", "journal", "python"]],
  ["Reference", ["commands", "scenario", "api_cpp", "api_c", "api_python", "architecture", "testing", "security", "troubleshooting", "compare"]],
];

const markdown = markdownIt({ html: false, linkify: false }).use(anchor, { permalink: anchor.permalink.headerLink() });
const help = (...verbs) => execFileSync(isochron, [...verbs, "--help"], { encoding: "utf8" }).trim();

function verbsIn(text) {
  const list = text.split(/^Subcommands:\s*$/m)[1] ?? "";
  return [...list.matchAll(/^ {2}([a-z0-9]+) /gm)].map((match) => match[1]);
}

function commandReference() {
  let text = `# Commands\n\nMade from \`--help\` of this version.\n\n\`\`\`text\n${help()}\n\`\`\`\n`;
  for (const verb of verbsIn(help())) {
    const own = help(verb);
    text += `\n## isochron ${verb}\n\n\`\`\`text\n${own}\n\`\`\`\n`;
    for (const inner of verbsIn(own)) text += `\n### isochron ${verb} ${inner}\n\n\`\`\`text\n${help(verb, inner)}\n\`\`\`\n`;
  }
  return text;
}

function pages() {
  const found = new Map();
  for (const name of ["README", "CHANGELOG", "CONTRIBUTING"]) found.set(name, readFileSync(join(source, `${name}.md`), "utf8"));
  for (const file of readdirSync(join(source, "docs")).filter((f) => f.endsWith(".md")).sort())
    found.set(file.slice(0, -3), readFileSync(join(source, "docs", file), "utf8"));
  found.set("commands", commandReference());
  const made = join(output, "made"); // from the headers and docstrings
  execFileSync("/usr/bin/python3", [join(source, "tools", "api_pages.py"), made]);
  for (const name of ["api_cpp", "api_c", "api_python"]) found.set(name, readFileSync(join(made, `${name}.md`), "utf8"));
  return found;
}

const titleOf = (name, text) => (name === "README" ? "Isochron" : (/^# (.*)$/m.exec(text)?.[1] ?? name).replaceAll("`", ""));
const fileOf = (name) => (name === "README" ? "index.html" : name === "index" ? "contents.html" : `${name}.html`);

function chaptersOf(all) {
  const named = new Set(CHAPTERS.flatMap(([, names]) => names));
  const rest = [...all.keys()].filter((name) => !named.has(name));
  return [...CHAPTERS, ["More", rest]].map(([title, names]) => [title, names.filter((n) => all.has(n))]).filter(([, names]) => names.length);
}

/** Links between pages become links between HTML pages; those into the source tree go there. */
function withLinks(html, all) {
  return html.replace(/(href|src)="(?:\.\/)?(?:docs\/)?([^":#]*?)(\.md)?(#[^"]*)?"/g, (whole, what, path, md, hash = "") => {
    if (path === "") return whole;
    const page = path.replace(/^(\.\.\/)+/, "");
    if (md && all.has(page)) return `${what}="${fileOf(page)}${hash}"`;
    if (what === "src" || path.endsWith(".json")) return `${what}="${path}"`;
    return `${what}="${SOURCE_TREE}/${page}${md ?? ""}${hash}"`;
  });
}

function pageOf(name, text, all) {
  const title = titleOf(name, text);
  const menu = chaptersOf(all)
    .map(([chapter, names]) => `<h2>${chapter}</h2><ul>${names.map((n) => `<li><a href="${fileOf(n)}"${n === name ? ' aria-current="page"' : ""}>${markdown.utils.escapeHtml(titleOf(n, all.get(n)))}</a></li>`).join("")}</ul>`)
    .join("");
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${markdown.utils.escapeHtml(title)}${name === "README" ? "" : " · Isochron"}</title><link rel="icon" href="data:,"><link rel="stylesheet" href="style.css"></head>
<body><nav aria-label="Pages"><a class="brand" href="index.html">Isochron</a>${menu}</nav><main>${withLinks(markdown.render(text), all)}</main></body></html>
`;
}

/** Links to pages or pictures that are not there. */
function deadLinks(all) {
  const dead = [];
  const anchors = new Map();
  for (const [name, text] of all) anchors.set(fileOf(name), markdown.render(text));
  for (const [name, text] of all) {
    for (const [, path, hash] of withLinks(markdown.render(text), all).matchAll(/href="([^":#]*\.html)(#[^"]*)?"/g)) {
      if (!anchors.has(path)) dead.push(`${name}: ${path}`);
      else if (hash && !anchors.get(path).includes(`id="${decodeURIComponent(hash.slice(1))}"`)) dead.push(`${name}: ${path}${hash}`);
    }
  }
  return dead;
}

const all = pages();
mkdirSync(output, { recursive: true });
for (const [name, text] of all) writeFileSync(join(output, fileOf(name)), pageOf(name, text, all));
cpSync(join(source, "docs", "images"), join(output, "images"), { recursive: true });
cpSync(join(source, "docs", "scenario.schema.json"), join(output, "scenario.schema.json"));
cpSync(join(source, "tools", "npm", "docs_site.css"), join(output, "style.css"));
const dead = deadLinks(all);
if (dead.length) {
  console.error(`links that lead nowhere:\n  ${dead.join("\n  ")}`);
  process.exit(1);
}
console.log(`${all.size} pages in ${output}; begin with ${join(output, "index.html")}`);
