// Looks at a served run in a real browser: node view_check.mjs recorded|live|programs|deadlines|radio|stalled ADDRESS [SCREENSHOT]
import { createHash } from "node:crypto";
import { expect, openBrowser, openPage, until } from "./browser.mjs";

const [kind, address, shot] = process.argv.slice(2);
const browser = await openBrowser();

const data = (page, name) => page.evaluate((key) => document.body.dataset[key], name);
const picture = async (page) => createHash("sha256").update(await page.locator("#view3d").screenshot()).digest("hex");

async function wrongTokenIsRefused() {
  const home = new URL(address);
  for (const path of ["/", `/${"0".repeat(32)}/`, `${home.pathname.slice(0, -2)}/`, `/${"0".repeat(32)}/api/about`]) {
    const response = await fetch(new URL(path, home.origin));
    expect(response.status === 403, `${path.slice(0, 12)}… is refused`);
  }
}

async function everythingHasAName(page) {
  const nameless = await page.evaluate(() =>
    [...document.querySelectorAll("button, select, input, canvas, svg, output")]
      .filter((e) => (e.checkVisibility?.() ?? true) && !e.closest("[aria-hidden=true]"))
      .filter((e) => !(e.getAttribute("aria-label") || e.textContent?.trim() || e.labels?.length || e.id === "clock" || e.tagName === "OUTPUT"))
      .map((e) => e.outerHTML.slice(0, 80)),
  );
  expect(nameless.length === 0, `every control has a name ${nameless}`);
}

async function recorded(page) {
  await page.waitForSelector("body[data-ready='1']");
  await until(() => data(page, "posed"), "bodies are placed");
  for (const id of ["view3d", "play", "scrub", "speed", "follow", "progress", "plots", "facts", "theme"])
    expect(await page.locator(`#${id}`).isVisible(), `#${id} is there`);
  expect((await page.locator(".participant").count()) > 0, "participants have progress bars");
  expect((await page.locator("#facts").innerText()).includes("digest"), "the digest is shown");
  await everythingHasAName(page);

  const first = await picture(page);
  await page.click("#play");
  await until(async () => Number(await data(page, "time")) > 0.2, "playing moves the time");
  await page.click("#play");
  await page.waitForTimeout(200);
  const played = await picture(page);
  expect(played !== first, "playing changes the picture");

  await page.locator("#scrub").evaluate((e) => { e.value = String(Number(e.max) * 0.7); e.dispatchEvent(new Event("input")); });
  await until(async () => (await picture(page)) !== played, "scrubbing changes the picture");
  const at = Number(await data(page, "time"));
  await page.locator("#view3d").focus();
  await page.keyboard.press("ArrowRight");
  await until(async () => Number(await data(page, "time")) > at, "the right arrow steps forward");
  await page.keyboard.press("Home");
  await until(async () => Number(await data(page, "time")) === 0, "Home goes to the start");

  await until(async () => (await page.locator("#plot-fields option").count()) > 5, "the page knows the numbers by their names");
  const names = await page.locator("#plot-fields option").evaluateAll((all) => all.map((one) => one.value));
  const before_plot = await page.locator("#plot-list figure").count();
  await page.fill("#plot-field", names.find((name) => name.endsWith(".position.x")) ?? names[0]);
  await page.click("#add-plot button");
  await until(async () => (await page.locator("#plot-list figure").count()) > before_plot, "a variable is plotted by its name");
  await page.selectOption("#plot-topic", { index: 1 });
  await page.selectOption("#plot-topic", "");
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  const before = await theme();
  await page.locator("#view3d").focus();
  await page.keyboard.press("d");
  expect((await theme()) !== before, "D switches between dark and light");
  await page.keyboard.press("d");
  await page.selectOption("#follow", { index: 2 });
  await page.locator("#scrub").evaluate((e) => { e.value = String(Number(e.max) * 0.45); e.dispatchEvent(new Event("input")); });
  await page.waitForTimeout(800);
}

async function live(page) {
  await page.waitForSelector("body[data-ready='1']");
  await until(async () => Number(await data(page, "frames")) > 5, "frames arrive");
  expect(await page.locator("#steer").isVisible(), "the run can be steered");
  const a = await picture(page);
  await until(async () => (await picture(page)) !== a, "the picture moves by itself");
  await page.fill("#plot-field", "prey.position.x");
  await page.click("#add-plot button");
  await page.click("#run-pause");
  await until(async () => (await data(page, "runPaused")) === "true", "the run pauses");
  const stopped = Number(await data(page, "runTime"));
  await page.waitForTimeout(500);
  expect(Number(await data(page, "runTime")) - stopped < 0.05, "a paused run stands still");
  await page.click("#run-step");
  await until(async () => Number(await data(page, "runTime")) > stopped, "a step steps");
  await page.fill("#marker-text", "look here");
  await page.click("#marker");
  await page.selectOption("#push-body", { index: 0 });
  await page.click("#push");
  await page.selectOption("#fault", "cut prey");
  await page.fill("#fault-seconds", "0.3");
  await page.click("#inject");
  await page.click("#run-pause");
  await until(async () => (await data(page, "runPaused")) === "false", "and goes on");
  await until(async () => Number(await data(page, "runTime")) > stopped + 0.3, "time passes again");
}

async function programs(page) {
  await page.waitForSelector("body[data-ready='1']");
  const bars = async () => Number((await page.locator("#lanes").getAttribute("data-bars")) ?? 0);
  await until(async () => (await page.locator("#schedule").isVisible()) && (await bars()) > 3, "what programs do is shown while they do it");
  const lanes = async () => createHash("sha256").update(await page.locator("#lanes").screenshot()).digest("hex");
  const before = await lanes();
  await until(async () => (await lanes()) !== before, "and goes on");
}

async function deadlines(page) {
  await page.waitForSelector("body[data-ready='1']");
  await until(async () => /missed deadlines \d+.*late .* p99/s.test(await page.locator("#facts").innerText()), "missed deadlines and lateness are shown live");
}

async function radio(page) {
  await page.waitForSelector("body[data-ready='1']");
  await until(() => data(page, "posed"), "bodies are placed");
  await page.click("#play");
  await until(async () => Number(await data(page, "flashes")) > 3, "messages on the air are flashes");
}

async function stalled(page) {
  await page.waitForSelector("body[data-ready='1']");
  await page.click("#run-pause"); // it waits for the page
  await until(async () => (await page.locator("#graph line").count()) > 0, "who waits for whom is seen while all move");
  expect((await page.locator("#graph .node.culprit").count()) === 0, "and nobody is blamed");
  await until(async () => (await page.locator("#culprit.stalled").count()) === 1, "the stall is seen", 90);
  const text = await page.locator("#culprit").innerText();
  expect(text.includes(process.env.CULPRIT), `the culprit is named: ${text}`);
  expect((await page.locator("#graph .node.culprit").textContent()).includes(process.env.CULPRIT), "and marked in the graph");
}

let code = 0;
try {
  await wrongTokenIsRefused();
  const { page, troubles } = await openPage(browser, address, { scheme: process.env.SCHEME ?? "dark" });
  try {
    await { recorded, live, programs, deadlines, radio, stalled }[kind](page);
  } finally {
    if (shot) await page.screenshot({ path: shot });
  }
  expect(troubles.length === 0, `no console error, no request to another host ${troubles.join("; ")}`);
} catch (error) {
  console.error(error.message);
  code = 1;
}
await browser.close();
process.exit(code);
