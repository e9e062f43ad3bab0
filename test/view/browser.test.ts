/** The page of a view in a real browser. Set VIEW_SHOTS to a folder for pictures of it. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { hasChromium } from "../service/pages/chromium.js";
import { geoferry } from "../support/command.js";
import { openPageFile } from "../support/open-page-file.js";
import { TemporaryFolder } from "../support/read-layers.js";
import { area, boxRing, feature, point } from "./layer.js";
import { startView } from "./running-view.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const evil = `</script><script>document.title="owned"</script><img src=x onerror="document.title='owned'">`;

function writeGeoJson(name: string, features: readonly object[]): void {
  writeFileSync(scratch.path(name), JSON.stringify({ type: "FeatureCollection", features }));
}

function convert(...args: string[]): void {
  const { status, stderr } = geoferry(["convert", ...args], { cwd: scratch.folder });
  if (status !== 0) throw new Error(stderr);
}

const kinds = ["cafe", "school", "park"];
const bowtie = [
  [10, 60],
  [10.2, 60.2],
  [10.2, 60],
  [10, 60.2],
  [10, 60],
];

beforeAll(() => {
  writeGeoJson(
    "places.geojson",
    Array.from({ length: 90 }, (_, k) =>
      feature(point(10 + (k % 10) / 20, 59.5 + Math.floor(k / 10) / 20), {
        name: `Place ${k}`,
        kind: kinds[k % 3],
        visitors: (k * 37) % 100,
        note: k % 2 === 0 ? null : "by the water",
      }),
    ),
  );
  writeGeoJson("districts.geojson", [
    feature(area(boxRing(10, 59.5, 10.2, 59.7)), { name: "West", households: 1200 }),
    feature(area(boxRing(10.25, 59.5, 10.45, 59.7)), { name: "East", households: 3400 }),
    feature(area(bowtie), { name: "Bowtie", households: 1 }),
  ]);
  writeGeoJson("roads.geojson", [
    feature(
      {
        type: "LineString",
        coordinates: [
          [10, 59.5],
          [10.5, 60],
        ],
      },
      { class: "primary" },
    ),
  ]);
  writeGeoJson("stops.geojson", [
    feature(
      {
        type: "MultiPoint",
        coordinates: [
          [10.1, 59.9],
          [10.3, 59.9],
        ],
      },
      { line: 7 },
    ),
  ]);
  writeGeoJson("notes.geojson", [feature(null, { text: "no place" })]);
  convert("places.geojson", "districts.geojson", "roads.geojson", "stops.geojson", "notes.geojson", "five.gpkg");
  convert("districts.geojson", "utm.shp", "--target-crs", "EPSG:25832");
  writeFileSync(scratch.path("bad.csv"), "name,lon,lat\nGood,10,50\nBeyond,10,95\nWord,ten,50\n");
  mkdirSync(scratch.path("kmz"));
  const style = (id: string, color: string) =>
    `<Style id="${id}"><IconStyle><color>${color}</color></IconStyle><LineStyle><color>${color}</color></LineStyle></Style>`;
  writeFileSync(
    scratch.path("kmz/doc.kml"),
    `<kml xmlns="http://www.opengis.net/kml/2.2"><Document><name>Trails</name>${style("red", "ff0000ff")}${style("blue", "ffff0000")}
<Placemark><name>Hut</name><styleUrl>#red</styleUrl><Point><coordinates>7.5,46.3</coordinates></Point></Placemark>
<Placemark><name>Path</name><styleUrl>#blue</styleUrl><LineString><coordinates>7,46 8,46.5</coordinates></LineString></Placemark>
</Document></kml>`,
  );
  execFileSync("zip", ["-q", "../styles.kmz", "doc.kml"], { cwd: scratch.path("kmz") });
  writeGeoJson("evil.geojson", [
    feature(point(10, 50), { [evil]: evil, name: evil, n: 1 }),
    feature(point(11, 51), { [evil]: `${evil}2`, name: "=HYPERLINK()", n: 2 }),
  ]);
});

describe.skipIf(!hasChromium)("in Chromium", { timeout: 240_000 }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: "/usr/bin/chromium",
      args: [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    });
  });
  afterAll(() => browser?.close());

  const shot = async (page: Page, name: string) => {
    const { VIEW_SHOTS } = process.env;
    if (VIEW_SHOTS) await page.screenshot({ path: join(VIEW_SHOTS, `${name}.png`) });
  };

  const drawn = (page: Page) => page.locator("body[data-map=drawn]").waitFor();
  const analyzed = (page: Page) => page.locator("body[data-analysis=done]").waitFor();

  /** Opens a running view. @returns the page, and requests to others, errors and warnings */
  async function open(args: readonly string[], options: BrowserContextOptions = {}) {
    const view = await startView(args, { cwd: scratch.folder });
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const complaints: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(view.url)) complaints.push(request.url());
    });
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    await page.goto(view.url);
    await drawn(page);
    await analyzed(page);
    return { page, complaints, view };
  }

  const layerNames = (page: Page) => page.locator(".layer-name").allInnerTexts();
  const cells = (page: Page, column: number) =>
    page.locator(`.grid-body [role=gridcell][aria-colindex="${column}"]`).allInnerTexts();
  const picture = (page: Page) => page.locator("#map canvas").screenshot();

  /** Clicks on the map at a place. */
  async function clickAt(page: Page, longitude: number, latitude: number): Promise<void> {
    const box = (await page.locator("#map").boundingBox())!;
    // By the readout of the pointer: the place is found as a user would find it.
    const readout = async (x: number, y: number) => {
      await page.mouse.move(box.x + x, box.y + y);
      const text = await page.locator("#cursor").innerText();
      const [, lat, lon] = /([\d.]+)° [NS], ([\d.]+)° [EW]/.exec(text.replaceAll("\u00a0", " "))!;
      return [Number(lon), Number(lat)] as const;
    };
    const [west, north] = await readout(60, 160);
    const [east, south] = await readout(box.width - 60, box.height - 60);
    const x = 60 + ((longitude - west) / (east - west)) * (box.width - 120);
    const mercator = (degrees: number) => Math.asinh(Math.tan((degrees * Math.PI) / 180));
    const y = 160 + ((mercator(north) - mercator(latitude)) / (mercator(north) - mercator(south))) * (box.height - 220);
    await page.mouse.click(box.x + x, box.y + y);
  }

  test("five layers of a GeoPackage are on the map and in the table, linked both ways", async () => {
    const { page, complaints } = await open(["five.gpkg"]);
    await shot(page, "five-light");
    expect(await layerNames(page)).toEqual(["places", "districts", "roads", "stops", "notes", "Problems"]);
    expect(await page.locator(".layer .layer-row .count").allInnerTexts()).toEqual(["90", "3", "1", "1", "1", "1"]);
    expect(await page.getByLabel("Show notes on the map").isDisabled()).toBe(true);
    // From the map to the table:
    await clickAt(page, 10.35, 59.67);
    const panel = page.getByRole("complementary");
    await panel.getByRole("heading", { name: "East" }).waitFor();
    expect(await panel.locator("dd").allInnerTexts()).toEqual(["2", "East", "3400"]);
    expect(await page.locator(".layer-name[aria-current=true]").innerText()).toBe("districts");
    await expect
      .poll(() => page.locator(".grid-row[aria-selected=true]").allInnerTexts())
      .toEqual([expect.stringContaining("East")]);
    // From the table to the map:
    const before = await picture(page);
    await page.locator(".grid-body .grid-row").first().click();
    await panel.getByRole("heading", { name: "West" }).waitFor();
    expect(before.equals(await picture(page))).toBe(false);
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "hidden" });
    expect(complaints).toEqual([]);
  });

  test("the table is filtered and sorted, and the map with it", async () => {
    const { page, complaints } = await open(["five.gpkg"]);
    const before = await picture(page);
    await page.keyboard.press("/");
    await page.keyboard.type("kind = 'park' and visitors >= 50");
    await page.keyboard.press("Enter");
    // k = 2, 5, 8, … 89 have the kind; (37 k) mod 100 ≥ 50 holds for 17 of these 30, counted with awk.
    await expect.poll(() => page.locator("#table-status").innerText()).toBe("17 features of 90");
    await drawn(page);
    expect(before.equals(await picture(page))).toBe(false);
    await page.getByRole("columnheader", { name: "visitors" }).click();
    expect(await page.getByRole("columnheader", { name: "visitors" }).getAttribute("aria-sort")).toBe("ascending");
    // The values of these 17 features in ascending order, of which the table shows at least ten: counted with awk.
    await expect
      .poll(async () => (await cells(page, 5)).slice(0, 10).map(Number))
      .toEqual([50, 51, 60, 61, 62, 71, 72, 73, 74, 82]);
    await page.getByRole("columnheader", { name: "visitors" }).click();
    await expect.poll(async () => Number((await cells(page, 5))[0])).toBe(96);
    await page.locator("#filter").fill("visitrs > 3");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").filter({ hasText: 'did you mean "visitors"?' }).waitFor();
    expect(await page.locator("#filter").getAttribute("aria-invalid")).toBe("true");
    await page.getByRole("button", { name: "Clear" }).click();
    await expect.poll(() => page.locator("#table-status").innerText()).toBe("90 features");
    await page.locator("#filter").fill("visitors > 1000");
    await page.keyboard.press("Enter");
    await page.getByText("No feature meets the condition.").waitFor();
    // A refused request is in the console of the browser, too.
    expect(complaints.filter((text) => !text.includes("400 (Bad Request)"))).toEqual([]);
  });

  test("fields have statistics, and colors with a legend", async () => {
    const { page, complaints } = await open(["five.gpkg"]);
    const before = await picture(page);
    await page.getByRole("tab", { name: "Fields" }).click();
    const card = page.locator(".field-card").filter({ has: page.getByRole("heading", { name: "note" }) });
    expect((await card.locator("dl").innerText()).replaceAll(/\s+/g, " ")).toContain(
      "Values 45, 45 null (50 %) Distinct 1",
    );
    await page.getByRole("button", { name: "Color by kind" }).click();
    const legend = page.getByRole("list", { name: "Legend: kind" });
    await legend.waitFor();
    expect((await legend.innerText()).split("\n").filter(Boolean)).toEqual([
      "cafe",
      "30",
      "park",
      "30",
      "school",
      "30",
    ]);
    await drawn(page);
    expect(before.equals(await picture(page))).toBe(false);
    await page.getByLabel("Color", { exact: true }).selectOption({ label: "visitors" });
    await page.getByLabel("Classes").selectOption({ label: "equal ranges" });
    const ranges = page.getByRole("list", { name: "Legend: visitors" });
    // From 0 to 99: ranges of 19.8.
    await expect.poll(async () => (await ranges.innerText()).split("\n")[0]).toBe("0 to below 19.8");
    await shot(page, "fields");
    await page.getByRole("tab", { name: "Report" }).click();
    await page.getByText("1 feature with an invalid geometry").waitFor();
    await page.getByRole("button", { name: "Show" }).click();
    await expect.poll(() => cells(page, 2)).toEqual([expect.stringContaining("elf")]);
    expect(complaints).toEqual([]);
  });

  test("everything is done by keyboard", async () => {
    const { page, complaints } = await open(["five.gpkg"]);
    await page.locator("#grid").focus();
    for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
    expect(await page.locator("#grid").getAttribute("aria-activedescendant")).toBe("cell-3-1");
    await expect.poll(() => page.locator("#feature-title").innerText()).toBe("Place 2");
    expect(await page.locator("#announcer").innerText()).toContain("Selected: Place 2");
    await page.keyboard.press("Control+End");
    await expect.poll(() => page.locator("#feature-title").innerText()).toBe("Place 89");
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    expect(await page.locator('[aria-sort="ascending"]').innerText()).toContain("id");
    await page.keyboard.press("Escape");
    await page.locator("#map canvas").focus();
    const before = await picture(page);
    await page.keyboard.press("+");
    await page.keyboard.press("ArrowLeft");
    await drawn(page);
    expect(before.equals(await picture(page))).toBe(false);
    await page.locator("#tab-table").focus();
    await page.keyboard.press("ArrowRight");
    expect(await page.getByRole("tab", { name: "Fields" }).getAttribute("aria-selected")).toBe("true");
    expect(complaints).toEqual([]);
  });

  test("a Shapefile in UTM has its coordinates under the pointer", async () => {
    const { page, complaints } = await open(["utm.shp"]);
    expect(await page.locator(".layer-about").first().innerText()).toContain("EPSG:25832");
    const box = (await page.locator("#map").boundingBox())!;
    const before = await page.locator("#cursor").innerText();
    await page.mouse.move(box.x + 500, box.y + 200);
    await expect.poll(() => page.locator("#cursor").innerText()).not.toBe(before);
    await expect
      .poll(async () => (await page.locator("#cursor").innerText()).replaceAll("\u00a0", " "))
      .toMatch(/N, .* E\s+EPSG:25832 [\d,]+\.\d, 6,[\d,]+\.\d$/);
    const text = (await page.locator("#cursor").innerText()).replaceAll("\u00a0", " ");
    const [, latitude, longitude, x, y] = /([\d.]+)° N, ([\d.]+)° E\s+EPSG:25832 ([\d,.]+), ([\d,.]+)/.exec(text)!;
    const [east, north] = execFileSync("cs2cs", ["-f", "%.1f", "EPSG:4326", "EPSG:25832"], {
      input: `${latitude} ${longitude}\n`,
      encoding: "utf8",
    })
      .split(/\s+/)
      .map(Number);
    // The readout of degrees is rounded to 0.0001.
    expect(Math.abs(Number(x!.replaceAll(",", "")) - east!)).toBeLessThan(15);
    expect(Math.abs(Number(y!.replaceAll(",", "")) - north!)).toBeLessThan(15);
    expect(complaints).toEqual([]);
  });

  test("a KMZ has the colors of its styles", async () => {
    const { page, complaints } = await open(["styles.kmz"]);
    const legend = page.getByRole("list", { name: "Legend" });
    expect((await legend.innerText()).split("\n").filter(Boolean)).toEqual(["#0000ff", "1", "#ff0000", "1"]);
    // In the page, whose types the tests do not have.
    const image = (await page.evaluate(`(() => {
      const canvas = document.querySelector("#map canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const counts = { red: 0, blue: 0 };
      for (let k = 0; k < data.length; k += 4) {
        if (data[k] > 240 && data[k + 1] < 20 && data[k + 2] < 20) counts.red++;
        if (data[k] < 20 && data[k + 1] < 20 && data[k + 2] > 240) counts.blue++;
      }
      return counts;
    })()`)) as { red: number; blue: number };
    expect([image.red > 10, image.blue > 100]).toEqual([true, true]);
    expect(complaints).toEqual([]);
  });

  test("bad rows of a CSV file are a layer with the reasons", async () => {
    const { page, complaints } = await open(["bad.csv", "--source-crs", "EPSG:4326"]);
    await shot(page, "bad-rows");
    expect(await layerNames(page)).toEqual(["bad", "Rejects"]);
    await page.getByRole("button", { name: "Rejects" }).click();
    await expect.poll(() => cells(page, 2)).toEqual([expect.stringContaining("ten"), expect.stringContaining("95")]);
    expect(await cells(page, 3)).toEqual([
      expect.stringMatching(/line 4|record 3/),
      expect.stringMatching(/line 3|record 2/),
    ]);
    expect(complaints).toEqual([]);
  });

  test("a base map comes from the server that the user names, which does not get the secret", async () => {
    // A green pixel.
    const tile = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNg+M8AAAICAQB7CYF4AAAAAElFTkSuQmCC",
      "base64",
    );
    const requests: { url: string; referer: string | undefined }[] = [];
    const server = createServer((request, response) => {
      requests.push({ url: request.url!, referer: request.headers.referer });
      response.setHeader("content-type", "image/png").end(tile);
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const origin = `http://127.0.0.1:${port}`;
    const { page, complaints } = await open(["five.gpkg", "--basemap", `${origin}/{z}/{x}/{y}.png`]);
    await expect.poll(() => requests.length).toBeGreaterThan(3);
    expect(requests.filter(({ url, referer }) => !/^\/\d+\/\d+\/\d+\.png$/.test(url) || referer !== undefined)).toEqual(
      [],
    );
    expect(complaints.filter((url) => !url.startsWith(origin))).toEqual([]);
    expect(await page.locator("#credit").innerText()).toBe(`127.0.0.1:${port}`);
  });

  test("names and values are text and nothing else", async () => {
    const { page, complaints } = await open(["evil.geojson"]);
    await page.getByLabel("Color", { exact: true }).selectOption({ index: 1 });
    await page.getByRole("list", { name: /^Legend/ }).waitFor();
    for (const tab of ["Fields", "Report", "Table"]) await page.getByRole("tab", { name: tab }).click();
    await page.locator(".grid-body .grid-row").first().click();
    await page.locator("#feature-title").waitFor();
    expect(await page.locator("#feature-title").innerText()).toBe(evil);
    expect(await page.locator("img, script:not([src])").count()).toBe(0);
    expect([await page.title(), complaints]).toEqual(["evil.geojson", []]);
  });

  test("the page is dark, or narrow, if its reader wants it so", async () => {
    const { page, complaints } = await open(["five.gpkg"], { colorScheme: "dark" });
    await shot(page, "five-dark");
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(20, 24, 27)");
    const phone = await open(["five.gpkg"], { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    await shot(phone.page, "phone");
    expect(await phone.page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    await phone.page.getByText("Layers").tap();
    await phone.page.getByRole("button", { name: "districts" }).tap();
    await expect.poll(() => phone.page.locator("#table-status").innerText()).toBe("3 features");
    expect([complaints, phone.complaints]).toEqual([[], []]);
  });

  test("a page without a server has the same map and table, and asks for nothing", async () => {
    const { status, stderr } = geoferry(["view", "five.gpkg", "-o", "page.html"], { cwd: scratch.folder });
    expect([status, stderr]).toEqual([0, expect.stringContaining("saved a page with 6 layers in page.html")]);
    const { page, complaints } = await openPageFile(browser, scratch.path("page.html"));
    await drawn(page);
    await shot(page, "file");
    expect(await layerNames(page)).toEqual(["places", "districts", "roads", "stops", "notes", "Problems"]);
    await page.locator("#filter").fill("name like '%é%' or kind in ('park') and visitors < 10");
    await page.keyboard.press("Enter");
    // Of k = 2, 5, 8, … 89, (37 k) mod 100 < 10 holds for 3, counted with awk.
    await expect.poll(() => page.locator("#table-status").innerText()).toBe("3 features of 90");
    await page.getByRole("button", { name: "districts" }).click();
    await page.locator(".grid-body .grid-row").nth(1).click();
    await expect.poll(() => page.locator("#feature-title").innerText()).toBe("East");
    expect([complaints, await page.locator("#note").isHidden()]).toEqual([[], true]);
  });

  test("a page that would be too large says what it leaves out", async () => {
    const rows = Array.from(
      { length: 60_000 },
      (_, k) => `${Math.sin(k) * 170},${Math.cos(k * 3) * 80},Name ${Math.sin(k * k)}`,
    );
    writeFileSync(scratch.path("large.csv"), `lon,lat,name\n${rows.join("\n")}\n`);
    const { status, stderr } = geoferry(["view", "large.csv", "-o", "large.html", "--max-size", "0.9"], {
      cwd: scratch.folder,
    });
    expect([status, statSync(scratch.path("large.html")).size < 900_000]).toEqual([0, true]);
    const [, kept] = /This page has ([\d,]+) of 60,000 features/.exec(stderr)!;
    const { page, complaints } = await openPageFile(browser, scratch.path("large.html"));
    await drawn(page);
    await shot(page, "file-reduced");
    expect(await page.getByRole("note").innerText()).toContain(`This page has ${kept} of 60,000 features`);
    expect(await page.locator("#table-status").innerText()).toBe(`${kept} features`);
    expect(complaints).toEqual([]);
  });

  test("a page of a hostile file runs nothing", async () => {
    geoferry(["view", "evil.geojson", "-o", "evil.html"], { cwd: scratch.folder });
    const text = readFileSync(scratch.path("evil.html"), "utf8");
    expect(text).not.toContain("<img src=x");
    expect([...text.matchAll(/<script([^>]*)>/g)].map(([, attributes]) => attributes)).toEqual([
      ' type="application/json" id="view"',
      ' type="application/json" id="analysis"',
      ' type="application/json" id="land"',
      ' type="application/octet-stream" id="data"',
      ' type="module"',
    ]);
    const { page, complaints } = await openPageFile(browser, scratch.path("evil.html"));
    await drawn(page);
    await page.locator(".grid-body .grid-row").first().click();
    await expect.poll(() => page.locator("#feature-title").innerText()).toBe(evil);
    expect([await page.title(), complaints]).toEqual(["evil.geojson", []]);
  });

  test("two hundred thousand points are counted on the map, and the table reaches the last one", async () => {
    const rows = Array.from(
      { length: 200_000 },
      (_, k) => `${((k * 7919) % 3600) / 10 - 180},${((k * 104_729) % 1600) / 10 - 80},${k}`,
    );
    writeFileSync(scratch.path("many.csv"), `lon,lat,n\n${rows.join("\n")}\n`);
    const { page, complaints } = await open(["many.csv"]);
    await shot(page, "many");
    await expect.poll(() => page.locator("#drawn").innerText()).toMatch(/^200,000 features drawn as [\d,]+$/);
    await page.locator("#grid").focus();
    await page.keyboard.press("Control+End");
    await expect.poll(async () => (await cells(page, 2)).at(-1)).toBe("199999");
    expect(complaints).toEqual([]);
  });
});
