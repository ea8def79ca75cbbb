// Opens a report in a real browser: node report_check.mjs REPORT.html [SCREENSHOT]
import { createHash } from "node:crypto";
import { pathToFileURL } from "node:url";
import { expect, openBrowser, openPage } from "./browser.mjs";

const [file, shot] = process.argv.slice(2);
const browser = await openBrowser();
let code = 0;
try {
  const before = performance.now();
  const { page, troubles } = await openPage(browser, pathToFileURL(file).href);
  const verdict = await page.locator("main").innerText();
  expect(/finished/.test(verdict) && /digest/i.test(verdict), "the verdict and the digest are there");
  console.log(`  opened in ${Math.round(performance.now() - before)} ms`);
  const schedule = page.locator("#schedule");
  if (await schedule.count()) {
    const picture = async () => createHash("sha256").update(await schedule.screenshot()).digest("hex");
    await schedule.scrollIntoViewIfNeeded();
    const all = await picture();
    // As long as a busy machine takes to draw, up to ten seconds.
    const next = async (before) => {
      for (let i = 0; i < 100 && (await picture()) === before; i++) await page.waitForTimeout(100);
      return picture();
    };
    await page.click("#zoom-in");
    const near = await next(all);
    expect(near !== all, "the schedule zooms in");
    await schedule.focus();
    await page.keyboard.press("ArrowRight");
    const moved = await next(near);
    expect(moved !== near, "and moves with the arrow keys");
    await page.click("#zoom-all");
    expect((await next(moved)) !== moved, "and shows all again");
  } else {
    console.log("  this report has no schedule");
    if (process.env.NEEDS_SCHEDULE) throw new Error("not so: the report has a schedule");
  }
  if (shot) await page.screenshot({ path: shot });
  expect(troubles.length === 0, `no console error, no request to another host ${troubles.join("; ")}`);
} catch (error) {
  console.error(error.message);
  code = 1;
}
await browser.close();
process.exit(code);
