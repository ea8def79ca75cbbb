// The pictures of the documentation: runs what they show and photographs the page. Usage: screenshots.mjs ISOCHRON FOLDER
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBrowser, openPage, until } from "./browser.mjs";

const [isochron, out] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "isochron-pictures-"));

// name: of the picture; run: what `isochron run` gets; at: the moment; follow, closer: whom the camera stays with, and how near
const PICTURES = [
  { name: "view", run: ["experiments/predator_prey/predator_prey.yaml", "--duration", "10s"], at: "4.52s" },
  { name: "crossing", run: ["experiments/intersection/intersection.yaml", "--duration", "12s"], at: "8s", follow: "car21", closer: 38, scheme: "light" },
  { name: "uav", run: ["examples/aircraft/hover.yaml", "--duration", "6s"], at: "5s", follow: "uav", closer: 2, scheme: "light" },
];

/** An address once the page is served, and how to end that. */
function serve(journal, at) {
  const server = spawn(isochron, ["view", journal, "--at", at]);
  return new Promise((done, fail) => {
    let said = "";
    const look = (data) => {
      said += data;
      const address = /http:\/\/\S+/.exec(said);
      if (address) done({ address: address[0], end: () => server.kill("SIGINT") });
    };
    server.stdout.on("data", look);
    server.stderr.on("data", look);
    server.on("exit", () => fail(new Error(said)));
  });
}

const browser = await openBrowser();
for (const { name, run, at, follow, closer = 0, scheme = "dark" } of PICTURES) {
  const journal = join(folder, `${name}.mcap`);
  execFileSync(isochron, ["run", ...run, "--quiet", "--journal", journal], { stdio: "ignore" });
  const { address, end } = await serve(journal, at);
  const { page } = await openPage(browser, address, { width: 1360, height: 850, scheme });
  await until(() => page.evaluate(() => document.body.dataset.posed === "1" && Number(document.body.dataset.drawn) > 0), `${name} is drawn`);
  if (follow) await page.selectOption("#follow", { label: follow });
  for (let i = 0; i < closer; ++i) await page.dispatchEvent("#view3d", "wheel", { deltaY: -100 });
  await page.waitForTimeout(2000); // signals and sensors are looked up, and a picture that stays is drawn in full
  await page.screenshot({ path: join(out, `${name}.png`) });
  await page.close();
  end();
}
await browser.close();
rmSync(folder, { recursive: true });
