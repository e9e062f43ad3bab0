/**
 * The page of a diff in a real browser, opened as a file: it needs no other resources, and names and values never become
 * markup or script.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium, startChromium } from "../service/pages/chromium.js";
import { geoferry } from "../support/command.js";
import { openPageFile } from "../support/open-page-file.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const evil = `</script><script>document.title="owned"</script><img src=x onerror="document.title='owned'">`;
const square = (west: number, south: number) => [
  [
    [west, south],
    [west + 3, south],
    [west + 3, south + 3],
    [west, south + 3],
    [west, south],
  ],
];

function writeVersion(name: string, features: readonly (readonly [object | null, Record<string, unknown>])[]): void {
  const collection = features.map(([geometry, properties]) => ({ type: "Feature", geometry, properties }));
  writeFileSync(scratch.path(name), JSON.stringify({ type: "FeatureCollection", features: collection }));
}
const point = (...coordinates: number[]) => ({ type: "Point", coordinates });

beforeAll(() => {
  writeVersion("old.geojson", [
    [point(13.4, 52.5), { ref: "berlin", people: 3_600_000 }],
    [point(2.35, 48.85), { ref: "paris", [evil]: evil }],
    [{ type: "Polygon", coordinates: square(-6, 38) }, { ref: "spain" }],
    [point(-0.1, 51.5), { ref: "london" }],
    [null, { ref: "nowhere", people: 1 }],
  ]);
  writeVersion("new.geojson", [
    [point(13.4, 52.5), { ref: "berlin", people: 3_700_000 }],
    [point(2.35, 48.85), { ref: "paris", [evil]: `${evil}2` }],
    [{ type: "Polygon", coordinates: square(-4, 38) }, { ref: "spain" }],
    [point(24.9, 60.2), { ref: evil }],
    [null, { ref: "nowhere", people: 2 }],
  ]);
});

/** @returns the path of the page */
function makePage(old: string, recent: string): string {
  const args = ["diff", old, recent, "--html", "page.html", "--overwrite"];
  const { status, stderr } = geoferry(args, { cwd: scratch.folder });
  expect([status, stderr.includes("saved a page with both versions in page.html")]).toEqual([0, true]);
  return scratch.path("page.html");
}

test("the page contains values only as text and JSON", () => {
  const page = readFileSync(makePage("old.geojson", "new.geojson"), "utf8");
  expect(page).not.toContain("<img src=x");
  expect([...page.matchAll(/<script([^>]*)>/g)].map(([, attributes]) => attributes)).toEqual([
    ' type="application/json" id="plan-rows"',
    ' type="application/json" id="land"',
    ' type="application/json" id="worker"',
    ' type="module"',
  ]);
});

test("an existing page is not replaced unless asked", () => {
  makePage("old.geojson", "new.geojson");
  const { status, stderr } = geoferry(["diff", "old.geojson", "new.geojson", "--html", "page.html"], {
    cwd: scratch.folder,
  });
  expect([status, stderr]).toEqual([2, "geoferry: page.html: exists already; use --overwrite to replace it\n"]);
});

describe.skipIf(!hasChromium)("in Chromium", { timeout: 240_000 }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startChromium();
  });
  afterAll(() => browser?.close());

  const open = (file: string, options?: BrowserContextOptions) => openPageFile(browser, file, options);
  const drawn = (page: Page) => page.locator("#map[aria-busy=false]").waitFor();
  const names = (page: Page) => page.locator("[data-row]:visible th").allInnerTexts();
  const shot = async (page: Page, name: string) => {
    const { PLAN_PAGE_SHOTS } = process.env;
    if (PLAN_PAGE_SHOTS) await page.screenshot({ path: join(PLAN_PAGE_SHOTS, `diff-${name}.png`), fullPage: true });
  };

  test("shows both versions, a chosen feature by keyboard, and runs nothing of the data", async () => {
    const { page, complaints } = await open(makePage("old.geojson", "new.geojson"));
    await drawn(page);
    await shot(page, "light");
    expect(await page.title()).toBe("Differences: old.geojson → new.geojson");
    expect(await names(page)).toEqual([`${evil.slice(0, 59)}…`, "london", "berlin", "paris", "nowhere", "spain"]);
    await page.getByRole("button", { name: "berlin" }).focus();
    await page.keyboard.press("Enter");
    const panel = page.getByRole("region", { name: "Selected feature" });
    await panel.waitFor();
    expect(await panel.getByRole("row").allInnerTexts()).toEqual([
      "\tbefore\tafter",
      "place\tPoint at 52.5° N, 13.4° E\tPoint at 52.5° N, 13.4° E",
      "ref\tberlin\tberlin",
      "people\t3600000\t3700000",
    ]);
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "hidden" });
    expect(await page.locator("#map-status").innerText()).toBe("1 without geometry is in the table only.");
    expect([await page.title(), complaints]).toEqual(["Differences: old.geojson → new.geojson", []]);
  });

  test("a switch shows the map before or after, and boxes choose the kinds of changes, in dark colors", async () => {
    const { page, complaints } = await open(makePage("old.geojson", "new.geojson"), { colorScheme: "dark" });
    await drawn(page);
    await shot(page, "dark");
    const picture = () => page.locator("canvas").screenshot();
    const both = await picture();
    await page.getByLabel("before", { exact: true }).check();
    await expect.poll(async () => (await picture()).equals(both)).toBe(false);
    const before = await picture();
    await page.getByLabel("after", { exact: true }).check();
    await expect.poll(async () => (await picture()).equals(before)).toBe(false);
    await page.getByLabel("changed").uncheck();
    await page.getByLabel("added").uncheck();
    expect(await names(page)).toEqual(["london", "spain"]);
    expect(complaints).toEqual([]);
  });

  test("it fits a phone, and the table is complete without scripts", async () => {
    const file = makePage("old.geojson", "new.geojson");
    const { page, complaints } = await open(file, { viewport: { width: 390, height: 844 } });
    await drawn(page);
    await shot(page, "phone");
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    const { page: plain } = await open(file, { javaScriptEnabled: false });
    const rows = await plain.locator("[data-row]").allInnerTexts();
    expect(rows).toContain("changed\tberlin\t\npeople: 3600000 → 3700000");
    expect(rows).toContain("moved\tspain\t\nmoved 176 km");
    expect(complaints).toEqual([]);
  });

  test("versions without differences have an empty page that says so", async () => {
    const { page, complaints } = await open(makePage("old.geojson", "old.geojson"));
    await drawn(page);
    expect(await page.getByText("There are no differences from old.geojson to old.geojson.").count()).toBe(1);
    expect(await page.getByText("All features are the same.").count()).toBe(1);
    expect(complaints).toEqual([]);
  });
});
