// Drives one real Chromium. Reads a command as one line of JSON, answers it with one line of JSON; knows nothing of what it looks at.
//
//   {"do": "open", "url", "width", "height", "dark"}    a new page; the one before is closed. With "prelude", a
//                                                      script, every frame runs it before its own; with "trace", tasks are noted
//   {"do": "tasks"}                                     the tasks of the main thread since then, which ends the noting
//   {"do": "evaluate", "script"}                        the value of an expression in the plugin's frame
//   {"do": "wait", "script", "seconds"}                 until an expression in the plugin's frame is true
//   {"do": "press", "key", "as_is"}                     a key, with the plugin's frame focused first unless as_is
//   {"do": "click", "selector"}   {"do": "move", "x", "y"}   the pointer, in the window's pixels
//   {"do": "resize", "width", "height", "dark"}
//   {"do": "picture", "path"}                           a PNG of the window
//   {"do": "complaints"}                                what the page's console, scripts and requests complained about
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(new URL("../../frontend/package.json", import.meta.url));
const { chromium } = require("playwright-core");

const [executablePath, profile] = process.argv.slice(2);
const args = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--force-color-profile=srgb",
];
const context = await chromium.launchPersistentContext(profile, { executablePath, headless: true, args, viewport: null });
const PATIENCE = 60_000; // a busy machine is no failure
context.setDefaultTimeout(PATIENCE);

let page = null;
let complaints = [];
let trace = null;

async function open({ url, width, height, dark, prelude, trace: isTraced }) {
  const before = page;
  page = await context.newPage();
  await before?.close();
  complaints = [];
  const complain = (kind, text) => complaints.push(`${kind}: ${text}`);
  if (prelude) await page.addInitScript(prelude);
  page.on("console", (message) => {
    if (message.type() === "error" || /policy/i.test(message.text())) complain(message.type(), `${message.text()} (${message.location().url})`);
  });
  page.on("pageerror", (error) => complain("exception", error.message));
  page.on("response", (response) => { if (response.status() >= 400) complain("answer", `${response.status()} ${response.url()}`); });
  page.on("requestfailed", (request) => {
    if (request.failure()?.errorText !== "net::ERR_ABORTED") complain("request", `${request.failure()?.errorText} ${request.url()}`);
  });
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
  if (isTraced) await startTrace();
  await page.goto(url, { waitUntil: "commit" });
}

async function startTrace() {
  const session = await context.newCDPSession(page);
  trace = { session, events: [] };
  session.on("Tracing.dataCollected", ({ value }) => trace.events.push(...value));
  const traceConfig = { includedCategories: ["toplevel", "devtools.timeline", "__metadata"], excludedCategories: ["*"] };
  await session.send("Tracing.start", { transferMode: "ReportEvents", traceConfig });
}

// Of each task its milliseconds by the clock and of the processor, and which scripts ran in it.
async function tasks() {
  const ended = new Promise((resolve) => trace.session.once("Tracing.tracingComplete", resolve));
  await trace.session.send("Tracing.end");
  await ended;
  const isMain = new Set(trace.events.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain").map(({ pid, tid }) => `${pid} ${tid}`));
  const events = trace.events.filter(({ ph, pid, tid }) => ph === "X" && isMain.has(`${pid} ${tid}`));
  const scripts = events.filter(({ args }) => args?.data?.url);
  return events.filter(({ name, dur }) => name.endsWith("RunTask") && dur > 20_000).map(({ ts, dur, tdur, pid, tid }) => {
    const ran = scripts.filter((each) => each.pid === pid && each.tid === tid && each.ts >= ts && each.ts < ts + dur).map(({ args }) => args.data.url);
    return { clock: dur / 1000, processor: (tdur ?? dur) / 1000, scripts: [...new Set(ran)] };
  });
}

async function frame() {
  const until = Date.now() + PATIENCE;
  for (;;) {
    const found = page.frames().find((each) => each.url().includes("name=layerflow"));
    if (found) return found;
    if (Date.now() > until) throw new Error("TensorBoard shows no LayerFlow tab.");
    await page.waitForTimeout(25);
  }
}

const commands = {
  open,
  tasks,
  evaluate: async ({ script }) => (await frame()).evaluate(script),
  wait: async ({ script, seconds }) => { await (await frame()).waitForFunction(script, undefined, { timeout: seconds * 1000, polling: 30 }); },
  press: async ({ key, as_is: asIs }) => {
    if (!asIs) await (await frame()).evaluate(() => window.focus());
    await page.keyboard.press(key);
  },
  move: async ({ x, y }) => { await page.mouse.move(x, y); },
  click: async ({ selector }) => { await (await frame()).click(selector); },
  resize: async ({ width, height, dark }) => {
    await page.setViewportSize({ width, height });
    await page.evaluate((isDark) => document.body.classList.toggle("dark-mode", isDark), dark);
    await page.waitForTimeout(250); // lines are broken anew in a worker
  },
  picture: async ({ path }) => { await page.screenshot({ path }); },
  complaints: () => complaints,
};

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  try {
    process.stdout.write(`${JSON.stringify({ value: (await commands[command.do](command)) ?? null })}\n`);
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ error: String(error.message ?? error) })}\n`);
  }
}
await context.close();
