// A browser for `isochron bench view`: one request a line on stdin, one number a line on stdout.
//   first ADDRESS    milliseconds from asking for the page until its first picture is drawn with every body in its place
//   open ADDRESS     opens the page of a running simulation; frames that it was given
//   frames SECONDS   pictures drawn for each second, from now on
//   away             leaves the page
import { createInterface } from "node:readline";
import { openBrowser, openPage, until } from "./browser.mjs";

const quiet = console.log;
console.log = () => {}; // stdout is for answers
const browser = await openBrowser();
let page = null;
await (await browser.newPage()).goto("about:blank"); // the browser itself has started

const data = (name) => page.evaluate((key) => Number(document.body.dataset[key] ?? 0), name);

async function open(address) {
  page = (await openPage(browser, address)).page;
}

const answers = {
  async first(address) {
    const before = performance.now();
    await open(address);
    await page.waitForFunction(() => document.body.dataset.posed === "1" && Number(document.body.dataset.drawn) > 0, null, { polling: 5 });
    return performance.now() - before;
  },
  async open(address) {
    await open(address);
    await until(async () => (await data("frames")) > 20, "frames arrive");
    return data("frames");
  },
  async frames(seconds) {
    const [from, at] = [await data("drawn"), performance.now()];
    await new Promise((done) => setTimeout(done, Number(seconds) * 1000));
    return ((await data("drawn")) - from) / ((performance.now() - at) / 1000);
  },
  async away() {
    await page.close();
    return 0;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [what, ...rest] = line.trim().split(" ");
  quiet(String(await answers[what](...rest).catch((error) => (process.stderr.write(`${error}\n`), -1))));
}
await browser.close();
