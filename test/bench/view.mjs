/**
 * What a view of many points costs: the scan, memory, the first paint in Chromium, and the frames of a drag.
 *
 *   npm run bench:view -- [--features 5000000] [--seconds 5] [--chromium /usr/bin/chromium]
 *
 * The drag is compared with an empty map in the same browser, since other programs of the machine slow down both.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { main } from "./service-process.mjs";

const { values: flags } = parseArgs({
  options: {
    features: { type: "string", default: "5000000" },
    seconds: { type: "string", default: "5" },
    chromium: { type: "string", default: "/usr/bin/chromium" },
  },
});
const count = Number(flags.features);
const seconds = Number(flags.seconds);
const folder = mkdtempSync(join(tmpdir(), "geoferry-view-bench-"));

/** Points around four hundred centers, the first ones with most of them. */
async function writePoints(path) {
  let seed = 12_345;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const centers = Array.from({ length: 400 }, () => [random() * 340 - 170, random() * 130 - 60, 0.3 + random() * 4]);
  const out = createWriteStream(path);
  out.write("lon,lat,height,kind\n");
  let text = "";
  for (let i = 0; i < count; i++) {
    const [x, y, spread] = centers[Math.floor(random() * random() * centers.length)];
    const angle = random() * 2 * Math.PI;
    const distance = Math.sqrt(-2 * Math.log(random() + 1e-9)) * spread;
    const longitude = Math.max(-180, Math.min(180, x + Math.cos(angle) * distance));
    const latitude = Math.max(-84, Math.min(84, y + Math.sin(angle) * distance * 0.6));
    text += `${longitude.toFixed(6)},${latitude.toFixed(6)},${(random() * 3000).toFixed(1)},${"abcdefg"[Math.floor(random() * random() * 7)]}\n`;
    if (text.length < 1 << 16) continue;
    if (!out.write(text)) await once(out, "drain");
    text = "";
  }
  out.end(text);
  await once(out, "finish");
}

const peakOf = (pid) => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;

/** Starts a view. @returns its address, the seconds until it was there, and the process */
async function startView(path) {
  const started = performance.now();
  const child = spawn(process.execPath, [main, "view", path, "--no-open", "--json"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  for await (const chunk of child.stdout) {
    text += chunk;
    const line = text.split("\n").find((one) => one.includes('"type":"view"'));
    if (line) return { child, url: JSON.parse(line).url, scan: (performance.now() - started) / 1000 };
  }
  throw new Error("the view ended");
}

/** Frames of a drag to and fro. Runs in the page. */
function drag(milliseconds) {
  const canvas = document.querySelector("#map canvas");
  const box = canvas.getBoundingClientRect();
  const send = (type, x, y) =>
    canvas.dispatchEvent(
      new PointerEvent(type, { pointerId: 1, button: 0, bubbles: true, clientX: box.x + x, clientY: box.y + y }),
    );
  canvas.setPointerCapture = () => {};
  send("pointerdown", 400, 200);
  return new Promise((resolve) => {
    const started = performance.now();
    const gaps = [];
    let last = started;
    const next = (now) => {
      if (gaps.length > 0 || now > started) gaps.push(now - last);
      last = now;
      const phase = (now - started) / 1000;
      send("pointermove", 400 + 300 * Math.sin(phase * 2), 200 + 120 * Math.sin(phase * 1.3));
      if (now - started < milliseconds) requestAnimationFrame(next);
      else {
        send("pointerup", 400, 200);
        gaps.sort((a, b) => a - b);
        resolve({ frames: (1000 * gaps.length) / (last - started), slow: gaps[Math.floor(gaps.length * 0.95)] });
      }
    };
    requestAnimationFrame(next);
  });
}

/** First paint in milliseconds, and frames of a drag at three zooms. */
async function measurePage(browser, url) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
  const started = performance.now();
  await page.goto(url);
  await page.locator("body[data-map=drawn]").waitFor({ timeout: 120_000 });
  const paint = performance.now() - started;
  const drags = [];
  for (let zoom = 0; zoom < 3; zoom++) {
    drags.push(await page.evaluate(drag, 1000 * seconds));
    for (let step = 0; step < 2; step++) await page.locator("#zoom-in").click();
    await page.locator("body[data-map=drawn]").waitFor({ timeout: 120_000 });
  }
  await page.close();
  return { paint, drags };
}

try {
  const [points, empty] = [join(folder, "points.csv"), join(folder, "one.csv")];
  await writePoints(points);
  writeFileSync(empty, "lon,lat\n0,0\n");
  const browser = await chromium.launch({
    executablePath: flags.chromium,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
    ],
  });
  const results = {};
  for (const [name, path] of [
    ["one point", empty],
    [`${count.toLocaleString("en")} points`, points],
  ]) {
    const { child, url, scan } = await startView(path);
    results[name] = await measurePage(browser, url);
    const { paint, drags } = results[name];
    console.log(
      `${name}: scan ${scan.toFixed(1)} s, first paint ${Math.round(paint)} ms, peak memory ${Math.round(peakOf(child.pid))} MB`,
    );
    for (const [at, { frames, slow }] of drags.entries())
      console.log(
        `  drag at zoom +${2 * at}: ${frames.toFixed(0)} frames a second, 95 % of them within ${slow.toFixed(0)} ms`,
      );
    child.kill("SIGTERM");
    await once(child, "exit");
  }
  const [one, many] = Object.values(results);
  const ratios = many.drags.map(({ frames }, at) => (frames / one.drags[at].frames).toFixed(2));
  console.log(`frames of many points, as a share of those of one: ${ratios.join(", ")}`);
  await browser.close();
} finally {
  rmSync(folder, { recursive: true });
}
