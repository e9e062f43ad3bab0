import { pathToFileURL } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { onTestFinished } from "vitest";

/**
 * Opens a self-contained page from a file; it is closed after the test.
 * @returns the page, and its complaints: requests for anything but the file, errors and warnings
 */
export async function openPageFile(
  browser: Browser,
  file: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const complaints: string[] = [];
  page.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url()) && request.url() !== pathToFileURL(file).href)
      complaints.push(request.url());
  });
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(pathToFileURL(file).href);
  return { page, complaints };
}
