// A headless Chromium for tests: pages with WebGL, and every console error and foreign request counted.
import { chromium } from "playwright-core";

export async function openBrowser() {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--disable-gpu-compositing", "--disable-dev-shm-usage"],
  });
  return browser;
}

export async function openPage(browser, address, { width = 1440, height = 900, scheme = "dark" } = {}) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme });
  page.setDefaultTimeout(120000);
  const troubles = [];
  page.on("console", (message) => message.type() === "error" && troubles.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => troubles.push(`error: ${error.message}`));
  const home = new URL(address);
  page.on("request", (request) => {
    const to = new URL(request.url());
    if (!["data:", "blob:"].includes(to.protocol) && to.host !== home.host) troubles.push(`request to ${to.host}`);
  });
  await page.goto(address, { timeout: 120000 });
  return { page, troubles };
}

/** One assertion: prints what holds, ends the test with what does not. */
export function expect(condition, what) {
  if (!condition) throw new Error(`not so: ${what}`);
  console.log(`  ${what}`);
}

/** Waits until f() is true. */
export async function until(f, what, seconds = 90) {
  const end = Date.now() + seconds * 1000;
  while (Date.now() < end) {
    if (await f()) return console.log(`  ${what}`);
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`not so after ${seconds} s: ${what}`);
}
