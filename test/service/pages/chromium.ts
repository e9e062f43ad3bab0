/** Debian's Chromium, driven by playwright. */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const executablePath = "/usr/bin/chromium";

/** Whether the tests that need a browser can run. Where everything must hold (CI), they run and fail without one. */
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
      // The map is drawn by WebGL, here in software.
      "--use-angle=swiftshader",
      "--enable-unsafe-swiftshader",
    ],
  });
}
