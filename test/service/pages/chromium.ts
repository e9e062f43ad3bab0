/** Debian's Chromium, controlled by playwright. */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const executablePath = "/usr/bin/chromium";

/** Whether browser tests can run. In CI they run, and fail without a browser. */
export const hasChromium = existsSync(executablePath) || process.env.CI !== undefined;

if (!hasChromium) {
  process.stderr.write(`\n*** ${executablePath} is not there: the pages are NOT tested in a browser. ***\n\n`);
}

export function startChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      // Software rendering of WebGL, with which the map is drawn.
      "--use-angle=swiftshader",
      "--enable-unsafe-swiftshader",
    ],
  });
}
