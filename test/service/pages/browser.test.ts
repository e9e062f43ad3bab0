/** The pages in a real browser, from setup to the features of a map. */
import type { AddressInfo } from "node:net";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createSetupLink } from "../../../src/service/pages/account/setup.js";
import { buildWriteItems, makeWriteRequest } from "../store/store-fixture.js";
import { hasChromium, startChromium } from "./chromium.js";
import { type BrowserClient, openPages, openPagesAs, type PageFixture, password } from "./page-fixture.js";

interface Window {
  readonly page: Page;
  readonly origin: string;
  /** Requests to other hosts, and errors in the console. */
  readonly complaints: readonly string[];
}

describe.skipIf(!hasChromium)("in Chromium", { timeout: 240_000 }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startChromium();
  });
  afterAll(() => browser?.close());

  async function openWindow({ app }: PageFixture, options: BrowserContextOptions = {}): Promise<Window> {
    await app.listen({ host: "127.0.0.1", port: 0 });
    const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const complaints: string[] = [];
    page.on("request", (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(`${origin}/`))
        complaints.push(request.url());
    });
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    return { page, origin, complaints };
  }

  /** A window with a signed-in user. */
  async function openWindowOf(
    site: PageFixture & { owner: BrowserClient },
    options: BrowserContextOptions = {},
  ): Promise<Window> {
    const window = await openWindow(site, options);
    await window.page.goto(`${window.origin}/sign-in`);
    await window.page.getByLabel("Email address").fill("ada@example.org");
    await window.page.getByLabel("Password").fill(password);
    await window.page.getByRole("button", { name: "Sign in" }).click();
    await window.page.getByRole("heading", { name: "Maps", exact: true }).waitFor();
    return window;
  }

  /** Creates a map of Ada, and returns the path of its page. */
  async function addMap(
    { owner, store }: PageFixture & { owner: BrowserClient },
    features: Parameters<typeof buildWriteItems>[0],
  ) {
    await owner.get("/maps");
    const path = (await owner.post("/maps", { name: "Lights" })).headers.location as string;
    const request = makeWriteRequest(path.split("/").at(-1)!, "create", []);
    for (let at = 0; at < features.length; at += 1000) {
      await store.write({ ...request, items: buildWriteItems(features.slice(at, at + 1000)) });
    }
    return path;
  }

  const drawn = (page: Page) => page.locator("#map[aria-busy=false]").waitFor();

  test("setup, a credential, a map and 5,000 features work by keyboard alone", async () => {
    const site = await openPages({ now: Date.now });
    const { page, origin, complaints } = await openWindow(site);
    await page.goto(await createSetupLink(site.store, origin, Date.now()));

    await typeInto(page, "Email address", "ada@example.org");
    await typeInto(page, "Password", password);
    await typeInto(page, "Repeat the password", password);
    await page.keyboard.press("Enter");
    await page.getByText("The account was created, and you are signed in.").waitFor();

    await typeInto(page, "Name of a new credential", "nightly job");
    await page.keyboard.press("Enter");
    await page.getByText("Copy the secret now.").waitFor();
    const [clientId, clientSecret] = await page.locator(".notice dd").allInnerTexts();

    await tabTo(page, "Maps");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Maps", exact: true }).waitFor();
    await typeInto(page, "Name", "Lights");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Lights" }).waitFor();

    await push(page.url(), clientId!, clientSecret!, grid());
    await page.reload();
    await drawn(page);
    expect(await page.locator("#map-status").innerText()).toBe("The map shows 5,000 features.");
    await tabTo(page, "Map of Lights");
    await page.keyboard.press("Enter");
    const title = page.locator("#selection h3");
    // In Mercator projection, the center between 50° N and 54.9° N is at 52.517° N: rows 25 and 26 are nearest.
    const middle = ["Light 2549", "Light 2550", "Light 2649", "Light 2650"];
    expect(middle.slice(0, 2)).toContain(await title.innerText());
    const seen = new Set<string>();
    for (let i = 0; i < 4; i++) {
      seen.add(await title.innerText());
      await page.keyboard.press("Enter");
    }
    expect([...seen].sort()).toEqual(middle);
    await page.keyboard.press("Escape");
    expect(await page.locator("#selection").isVisible()).toBe(false);

    await tabTo(page, "Next");
    await page.keyboard.press("Enter");
    await page.getByText("26 to 50 of 5,000").waitFor();
    expect(complaints).toEqual([]);
  });

  test("a map of 5,000 features is drawn over the land, and a click shows a feature", async () => {
    const site = await openPagesAs("ada@example.org");
    const path = await addMap(site, grid());
    const { page, origin, complaints } = await openWindowOf(site, { reducedMotion: "reduce" });
    await page.goto(origin + path);
    await drawn(page);
    const pixels = await coloursOf(page);
    // Land, sea and marks in the colors of the style sheet, each on a significant part of the map.
    for (const colour of ["#e6edf0", "#fafaf5", "#0b5773"])
      expect([colour, pixels.get(colour) ?? 0]).toSatisfy(([, n]) => n > 2000);

    const scale = () => page.locator(".maplibregl-ctrl-scale").innerText();
    const ofAll = await scale();
    await page.locator(".features summary").nth(3).click();
    await page.getByRole("button", { name: "Show on the map" }).click();
    const panel = page.getByRole("region", { name: "Selected feature" });
    await panel.getByText("Light 3", { exact: true }).first().waitFor();
    await panel.getByRole("button", { name: "Close" }).click();
    expect(await panel.count()).toBe(0);
    // The selected feature is now in the center.
    const canvas = page.locator("#canvas canvas");
    const headingAfterClick = async () => {
      await canvas.click();
      return panel.getByRole("heading").innerText({ timeout: 1000 });
    };
    // Appears once the tiles of the new location are drawn.
    await expect.poll(() => headingAfterClick().catch(String), { timeout: 60_000 }).toBe("Light 3");
    const facts = await panel.locator("dl").innerText();
    expect(facts).toMatch(/note\s+<img src=x onerror="alert\(1\)">/);
    expect(facts).toMatch(/height\s+13/);
    // Light 3 is at 0.3° E, 50° N, with nothing else within the click radius.
    expect(await panel.getByText("Point at 50° N, 0.3° E").count()).toBe(1);
    expect(await scale()).not.toBe(ofAll);
    await page.getByRole("button", { name: "Show all features" }).click();
    await expect.poll(scale, { timeout: 60_000 }).toBe(ofAll);
    expect(complaints).toEqual([]);
  });

  test("lines, areas and collections are drawn and selected, also across the antimeridian", async () => {
    const site = await openPagesAs("ada@example.org");
    const ring = [
      [175, -20],
      [180, -20],
      [180, -10],
      [175, -10],
      [175, -20],
    ];
    const path = await addMap(site, [
      { geometry: { type: "Polygon", coordinates: [ring] }, properties: { name: "Box" } },
      {
        geometry: {
          type: "LineString",
          coordinates: [
            [-178, -20],
            [-170, -12],
          ],
        },
        properties: { name: "Way" },
      },
      {
        geometry: {
          type: "GeometryCollection",
          geometries: [
            { type: "Point", coordinates: [-177.5, -14] },
            {
              type: "LineString",
              coordinates: [
                [-177.5, -14],
                [-177, -12],
              ],
            },
          ],
        },
        properties: { name: "Mixed" },
      },
      { geometry: null, properties: { name: "Nowhere" } },
    ]);
    const { page, origin, complaints } = await openWindowOf(site);
    await page.goto(origin + path);
    await drawn(page);
    expect(await page.locator("#map-status").innerText()).toBe(
      "The map shows 3 features. 1 without a geometry is only in the list.",
    );
    await page.locator("#canvas canvas").focus();
    const seen: string[] = [];
    for (let i = 0; i < 3; i++) {
      await page.keyboard.press("Enter");
      seen.push(await page.locator("#selection h3").innerText());
    }
    expect(seen.sort()).toEqual(["Box", "Mixed", "Way"]);
    expect(await page.getByRole("button", { name: "Show on the map", includeHidden: true }).count()).toBe(3);
    expect(complaints).toEqual([]);
  });

  test("the map follows a change to the dark color scheme at once", async () => {
    const site = await openPagesAs("ada@example.org");
    const path = await addMap(site, grid());
    const { page, origin } = await openWindowOf(site);
    await page.goto(origin + path);
    await drawn(page);
    await page.emulateMedia({ colorScheme: "dark" });
    await expect
      .poll(async () => (await coloursOf(page)).get("#171d22") ?? 0, { timeout: 30_000 })
      .toBeGreaterThan(2000);
  });

  test("a user who was signed out sees that the features cannot be loaded", async () => {
    const site = await openPagesAs("ada@example.org");
    const path = await addMap(site, grid().slice(0, 10));
    const { page, origin } = await openWindowOf(site);
    await page.route("**/features.json*", (route) => route.fulfill({ status: 303, headers: { location: "/sign-in" } }));
    await page.goto(origin + path);
    await page.getByText("the features could not be loaded").waitFor();
    expect(await page.locator("summary", { hasText: "Light 7" }).isVisible()).toBe(true);
  });

  test.each([
    ["without a canvas", "HTMLCanvasElement.prototype.getContext = () => null"],
    ["without web workers", "globalThis.Worker = undefined"],
  ])("in a browser %s, the page shows a message and the list", async (_, script) => {
    const site = await openPagesAs("ada@example.org");
    const path = await addMap(site, grid().slice(0, 10));
    const { page, origin } = await openWindowOf(site);
    await page.addInitScript(script);
    await page.goto(origin + path);
    await page.getByText("Cannot draw the map").waitFor();
    expect(await page.locator("summary", { hasText: "Light 7" }).isVisible()).toBe(true);
    expect(await page.locator("#map[aria-busy=true]").count()).toBe(0);
  });

  test("without scripts, the page shows the list and explains the missing map", async () => {
    const site = await openPagesAs("ada@example.org");
    const path = await addMap(site, grid());
    const { page, origin } = await openWindowOf(site, { javaScriptEnabled: false });
    await page.goto(origin + path);
    expect(await page.locator("noscript").innerHTML()).toContain("The list has the same features.");
    expect(await page.locator("#map").isVisible()).toBe(false);
    await page.locator("summary", { hasText: "Light 24" }).click();
    expect(await page.locator("details[open]").innerText()).toMatch(/height\s+34/);
    await page.getByRole("link", { name: "Next" }).click();
    await page.getByText("26 to 50 of 5,000").waitFor();
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByLabel("Private").check();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The settings were saved.").waitFor();
    await page.getByText("Readable by only you").waitFor();
  });

  test("no page is wider than a phone, even with long text, and focus is always visible", async () => {
    const site = await openPagesAs("ada@example.org");
    const long = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft".repeat(2);
    const properties = { title: long, [long]: long, note: `${"word ".repeat(100)}` };
    const path = await addMap(site, [{ geometry: { type: "Point", coordinates: [1, 50] }, properties }]);
    await site.owner.get(`${path}/settings`);
    await site.owner.post(`${path}/settings`, { name: long });
    await site.owner.get("/profile");
    await site.owner.post("/profile/credentials", { name: long });
    const { page, origin } = await openWindowOf(site, { viewport: { width: 320, height: 700 } });
    for (const address of ["/maps", "/profile", path, `${path}/settings`, `${path}/delete`, "/maps/none"]) {
      await page.goto(origin + address);
      for (const summary of await page.locator("details:not(.maplibregl-ctrl) > summary").all()) await summary.click();
      if (address === path) {
        await drawn(page);
        await page.locator("#canvas canvas").focus();
        await page.keyboard.press("Enter");
      }
      expect([address, await page.evaluate("document.documentElement.scrollWidth")]).toEqual([address, 320]);
      await page.locator("main").focus();
      for (let i = 0; i < 12; i++) {
        await page.keyboard.press("Tab");
        expect([address, await page.evaluate(outlineOfFocus)]).toEqual([
          address,
          expect.stringMatching(/^solid [23]px|^none: body/),
        ]);
      }
    }
  });
});

/** Points in 100 columns and 50 rows, from 0° E 50° N; the note must never be executed. */
function grid(): { geometry: object; properties: object }[] {
  return Array.from({ length: 5000 }, (_, i) => ({
    geometry: { type: "Point", coordinates: [(i % 100) / 10, 50 + Math.floor(i / 100) / 10] },
    properties: { title: `Light ${i}`, height: 10 + i, note: '<img src=x onerror="alert(1)">' },
  }));
}

/**
 * Creates features like a program: requests a token with the credential, then sends a thousand features per request.
 */
async function push(mapPage: string, clientId: string, clientSecret: string, features: readonly object[]) {
  const { origin, pathname } = new URL(mapPage);
  const form = { grant_type: "client_credentials_with_user", client_id: clientId, client_secret: clientSecret };
  const token = await fetch(`${origin}/token`, { method: "POST", body: new URLSearchParams(form) });
  const { access_token } = (await token.json()) as { access_token: string };
  const headers = { authorization: `Bearer ${access_token}`, "content-type": "application/json" };
  for (let at = 0; at < features.length; at += 1000) {
    const body = JSON.stringify({
      features: features.slice(at, at + 1000).map((one) => ({ type: "Feature", ...one })),
    });
    const answer = await fetch(`${origin}/api/v1${pathname}/features`, { method: "POST", headers, body });
    expect(answer.status).toBe(201);
  }
}

/** Name of the focused element: the text of its label, or its own. */
const nameOfFocus = `(() => {
  const { activeElement: one } = document;
  return one.getAttribute("aria-label") ?? one.labels?.[0]?.innerText ?? one.innerText;
})()`;

/** The outline of the focused element, or of the map's frame around it. */
const outlineOfFocus = `(() => {
  const { activeElement: one } = document;
  if (one === document.body) return "none: body";
  const { outlineStyle, outlineWidth } = getComputedStyle(one.tagName === "CANVAS" ? one.closest(".frame") : one);
  return outlineStyle + " " + outlineWidth + " " + one.outerHTML.slice(0, 80);
})()`;

async function tabTo(page: Page, name: string): Promise<void> {
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    if ((await page.evaluate(nameOfFocus)) === name) return;
  }
  throw new Error(`${name} is not to be reached by the key Tab`);
}

async function typeInto(page: Page, label: string, text: string): Promise<void> {
  await tabTo(page, label);
  await page.keyboard.type(text);
}

/** Number of pixels of the map by color. */
async function coloursOf(page: Page): Promise<ReadonlyMap<string, number>> {
  const png = await page.locator("#canvas").screenshot();
  const blank = await page.context().newPage();
  const counts = await blank.evaluate(`(async () => {
    const bytes = Uint8Array.from(atob("${png.toString("base64")}"), (one) => one.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const sheet = new OffscreenCanvas(image.width, image.height).getContext("2d");
    sheet.drawImage(image, 0, 0);
    const { data } = sheet.getImageData(0, 0, image.width, image.height);
    const counts = {};
    for (let at = 0; at < data.length; at += 4) {
      const colour = "#" + [0, 1, 2].map((i) => data[at + i].toString(16).padStart(2, "0")).join("");
      counts[colour] = (counts[colour] ?? 0) + 1;
    }
    return counts;
  })()`);
  await blank.close();
  return new Map(Object.entries(counts as Record<string, number>));
}
