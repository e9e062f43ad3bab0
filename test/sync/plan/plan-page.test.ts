/**
 * The plan page in a real browser, opened as a file: it needs no other resources, and plan content never becomes
 * script.
 */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { collectRows } from "../../../src/cli/plan-page/collect-rows.js";
import { renderPlanPage, writePlanPage } from "../../../src/cli/plan-page/page.js";
import type { Geometry } from "../../../src/model/geometry.js";
import { hasChromium, startChromium } from "../../service/pages/chromium.js";
import { openPageFile } from "../../support/open-page-file.js";
import { type DiffScenario, type FeatureInput, planScenarioInMemory, pointFeature } from "../diff-scenario.js";

const shape = (geometry: Geometry, properties: Record<string, unknown>, id?: string): FeatureInput => ({
  geometry,
  properties,
  ...(id === undefined ? {} : { id }),
});
const square = (west: number, south: number, size: number): Geometry => ({
  type: "Polygon",
  coordinates: [
    [
      [west, south],
      [west + size, south],
      [west + size, south + size],
      [west, south + size],
      [west, south],
    ],
  ],
});
const path = (...coordinates: number[][]): Geometry => ({ type: "LineString", coordinates });

const evil = `</script><script>document.title="owned"</script><img src=x onerror="document.title='owned'">`;

const scene: DiffScenario = {
  source: [
    pointFeature(13.4, 52.5, { ref: "berlin", name: "Berlin" }),
    pointFeature(2.35, 48.85, { ref: "paris", name: evil, [evil]: 1 }),
    shape(square(-6, 38, 5), { ref: "spain", area: 2 }),
    shape(path([10, 45], [15, 47], [20, 45]), { ref: "road", name: "Road" }),
  ],
  map: [
    pointFeature(4.5, 50.5, { ref: "paris", name: "Lutetia" }, "id-paris"),
    shape(square(-4, 40, 5), { ref: "spain", area: 1 }, "id-spain"),
    pointFeature(-0.1, 51.5, { ref: "london", name: "London" }, "id-london"),
    pointFeature(24.9, 60.2, { name: "drawn by hand" }, "id-x"),
  ],
};

test("the content security policy allows only the page's script and style", async () => {
  const opened = await planScenarioInMemory(scene);
  const page = renderPlanPage(opened, await collectRows(opened));
  const [, policy] = /<meta http-equiv="Content-Security-Policy" content="([^"]+)">/.exec(page)!;
  const sha256 = (text: string) => `&#39;sha256-${createHash("sha256").update(text).digest("base64")}&#39;`;
  const scripts = [...page.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)];
  expect(scripts.map(([, attributes]) => attributes)).toEqual([
    ' type="application/json" id="plan-rows"',
    ' type="application/json" id="land"',
    ' type="application/json" id="worker"',
    ' type="module"',
  ]);
  const [, style] = /<style>([\s\S]*?)<\/style>/.exec(page)!;
  expect(policy).toBe(
    `default-src &#39;none&#39;; script-src ${sha256(scripts[3]![2]!)}; style-src ${sha256(style!)}; worker-src blob: data:; connect-src blob:; img-src data:; base-uri &#39;none&#39;; form-action &#39;none&#39;`,
  );
});

test("large plans show small classes completely and share the remaining space", async () => {
  const many = (count: number, from: number) =>
    Array.from({ length: count }, (_, i) => pointFeature(i / 100, 1, { ref: from + i }));
  const opened = await planScenarioInMemory({
    source: [...many(50, 0), pointFeature(9, 9, { ref: "moved" })],
    map: [...many(40, 1000), pointFeature(8, 8, { ref: "moved" })],
  });
  const { rows, remaining } = await collectRows(opened, { rows: 21, characters: 1e6 });
  expect(rows.map((row) => row.class).join(" ")).toBe(
    [...Array(10).fill("create"), "update", ...Array(10).fill("delete")].join(" "),
  );
  expect(remaining).toEqual({ create: 40, update: 0, delete: 30, unmanaged: 0 });
  expect(
    renderPlanPage(opened, { rows, actions: [], remaining }).includes(
      "40 of create, 30 of delete. The plan file contains all.",
    ),
  ).toBe(true);
});

describe.skipIf(!hasChromium)("in Chromium", { timeout: 240_000 }, () => {
  let browser: Browser;
  let folder: string;
  beforeAll(async () => {
    browser = await startChromium();
    folder = mkdtempSync(join(tmpdir(), "geoferry-page-"));
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(
    asked: DiffScenario,
    options: BrowserContextOptions = {},
  ): Promise<{ page: Page; complaints: string[] }> {
    const file = join(folder, "plan.html");
    await writePlanPage(await planScenarioInMemory(asked), file, true);
    return openPageFile(browser, file, options);
  }
  const drawn = (page: Page) => page.locator("#map[aria-busy=false]").waitFor();
  const shot = async (page: Page, name: string) => {
    const { PLAN_PAGE_SHOTS } = process.env;
    if (PLAN_PAGE_SHOTS) await page.screenshot({ path: join(PLAN_PAGE_SHOTS, `${name}.png`) });
  };

  test("the plan page draws the plan and shows the selection, also by keyboard", async () => {
    const { page, complaints } = await open(scene);
    await drawn(page);
    await shot(page, "light");
    expect(await page.title()).toBe("Plan for map 6f1d7a52-3c1e-4b7f-9f0a-2d8f0c6c1a11");
    await page.getByRole("button", { name: "paris" }).focus();
    await page.keyboard.press("Enter");
    const panel = page.getByRole("region", { name: "Selected feature" });
    await panel.waitFor();
    expect(await panel.getByRole("row").allInnerTexts()).toEqual([
      "\tbefore\tafter",
      "place\tPoint at 50.5° N, 4.5° E\tPoint at 48.85° N, 2.35° E",
      "ref\tparis\tparis",
      `name\tLutetia\t${evil}`,
      `${evil}\t\t1`,
    ]);
    await page.waitForTimeout(500);
    await shot(page, "chosen");
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "hidden" });
    expect(complaints).toEqual([]);
  });

  test("the plan page filters classes in the table and on the map", async () => {
    const { page, complaints } = await open(scene, { colorScheme: "dark" });
    await drawn(page);
    await shot(page, "dark");
    const names = () => page.locator("[data-row]:visible th").allInnerTexts();
    expect(await names()).toEqual(["berlin", "road", "paris", "spain", "london", "id-x"]);
    const before = await page.locator("canvas").screenshot();
    await page.getByLabel("update").uncheck();
    expect(await names()).toEqual(["berlin", "road", "london", "id-x"]);
    await expect.poll(async () => (await page.locator("canvas").screenshot()).equals(before)).toBe(false);
    await page.getByLabel("after", { exact: true }).check();
    await page.waitForTimeout(500);
    await shot(page, "after");
    expect(complaints).toEqual([]);
  });

  test("the changes fit the page width on a phone", async () => {
    const { page, complaints } = await open(scene, { viewport: { width: 390, height: 844 } });
    await drawn(page);
    await shot(page, "phone");
    const changes = page.locator(".rows tr.update td:last-child").first();
    expect((await changes.boundingBox())!.width).toBeGreaterThan(300);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    await page.getByLabel("update").uncheck();
    await changes.waitFor({ state: "hidden" });
    expect(complaints).toEqual([]);
  });

  test("the table is complete without scripts", async () => {
    const { page, complaints } = await open(scene, { javaScriptEnabled: false });
    await shot(page, "plain");
    expect(await page.locator("[data-row]").allInnerTexts()).toEqual([
      "create\tberlin\tBerlin",
      "create\troad\tRoad",
      expect.stringMatching(
        /^update\tparis\t\ngeometry: Point at 50\.5° N, 4\.5° E → Point at 48\.85° N, 2\.35° E\nname: "Lutetia" → /,
      ),
      "update\tspain\t\ngeometry: Polygon → Polygon, other coordinates\narea: 1 → 2",
      "delete\tlondon\tLondon",
      "unmanaged\tid-x\tdrawn by hand",
    ]);
    expect(await page.getByRole("note").innerText()).toContain("--keep-unmanaged");
    expect(complaints).toEqual([]);
  });

  test("the plan page supports 10,000 features", async () => {
    const many = Array.from({ length: 10_000 }, (_, i) =>
      pointFeature((i % 360) - 180, (i % 170) - 85, { ref: `n${i}` }),
    );
    const { page, complaints } = await open({ source: many, map: [] });
    await drawn(page);
    await shot(page, "many");
    expect(await page.locator("[data-row]").count()).toBe(10_000);
    await page.getByRole("button", { name: "n9999", exact: true }).click();
    await page.getByRole("region", { name: "Selected feature" }).waitFor();
    expect(complaints).toEqual([]);
  });

  test("an empty plan says that there is nothing to do", async () => {
    const same = [pointFeature(1, 1, { ref: "a" })];
    const { page, complaints } = await open({ source: same, map: same });
    await drawn(page);
    expect(await page.getByText("The plan contains no changes.").count()).toBe(1);
    expect(complaints).toEqual([]);
  });
});
