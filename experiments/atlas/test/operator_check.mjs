// The operator's page in a real browser: node operator_check.mjs ADDRESS [SCREENSHOT]
import { expect, openBrowser, openPage, until } from "../../../tools/npm/browser.mjs";

const [address, shot] = process.argv.slice(2);
const browser = await openBrowser();

try {
  const home = new URL(address);
  for (const path of ["/", `/${"0".repeat(32)}/`, `/${"0".repeat(32)}/stream`])
    expect((await fetch(new URL(path, home.origin))).status === 403, `${path.slice(0, 12)}… is refused`);

  const { page, troubles } = await openPage(browser, address, { width: 1280, height: 900 });
  const data = (name) => page.evaluate((key) => document.body.dataset[key], name);
  const number = async (name) => Number(await data(name));
  await until(async () => (await data("ready")) === "1", "the state comes");
  await until(async () => (await number("points")) > 200, "a scan comes with a burst");
  await until(async () => (await number("picture")) > 0, "and a picture");
  const colours = await page.evaluate(() => {
    const canvas = document.getElementById("camera");
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const seen = new Set();
    for (let i = 0; i < pixels.length; i += 4) seen.add((pixels[i] >> 4) * 256 + (pixels[i + 1] >> 4) * 16 + (pixels[i + 2] >> 4));
    return seen.size;
  });
  expect(colours > 5, `the picture shows something (${colours} colours)`);

  await page.click("#map", { position: { x: 10, y: 10 } });
  expect((await number("placed")) === 0, "a footstep out of reach is not placed");
  expect((await page.locator("#advice").innerText()).includes("cannot stand there"), "and the page says why");
  await page.click("#ahead");
  expect((await number("placed")) === 4, "four steps ahead are placed");
  await page.click("#undo");
  expect((await number("placed")) === 3, "the last one is taken back");
  const walkTo = await number("x");
  if (shot) await page.screenshot({ path: `${shot}_placed.png` });
  await page.click("#walk");
  await until(async () => (await data("doing")) === "walking", "it walks");
  if (shot) await page.screenshot({ path: `${shot}_walking.png` });
  await until(async () => (await data("doing")) === "standing" && (await number("obeyed")) === 1, "it stands again");
  expect((await number("x")) > walkTo + 0.2, "it is farther ahead");

  await page.click("#freeze");
  await until(async () => (await data("doing")) === "frozen", "it is frozen");
  await until(async () => (await data("doing")) === "standing" && (await number("obeyed")) === 2, "and goes on");
  const nameless = await page.evaluate(() => [...document.querySelectorAll("button, canvas, output")]
    .filter((e) => !(e.getAttribute("aria-label") || e.textContent?.trim())).map((e) => e.outerHTML.slice(0, 80)));
  expect(nameless.length === 0, `every control has a name ${nameless}`);
  expect(troubles.length === 0, `no errors and no request elsewhere ${troubles}`);
  if (shot) await page.screenshot({ path: `${shot}.png` });
} finally {
  await browser.close();
}
