/** The documentation site, built and opened in a browser. */
import { spawnSync } from "node:child_process";
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, extname, join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TemporaryFolder } from "../src/testing/index.js";
import { hasChromium, startChromium } from "./service/pages/chromium.js";
import { root } from "./support/command.js";

const mediaTypes: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

describe("the documentation site", { timeout: 120_000 }, () => {
  const scratch = new TemporaryFolder();
  const folder = scratch.path("site");
  let server: Server;
  let origin: string;
  let browser: Browser | undefined;

  beforeAll(async () => {
    // It fails on a link that leads nowhere.
    const { status, stderr } = spawnSync(process.execPath, [join(root, "src/build/docs-site/build.mjs")], {
      cwd: root,
      env: { ...process.env, GEOFERRY_DOCS: folder },
      encoding: "utf8",
    });
    expect(status, stderr).toBe(0);
    server = createServer((request, response) => {
      const path = join(folder, decodeURIComponent(new URL(request.url ?? "/", "http://any").pathname));
      const file = existsSync(path) && statSync(path).isDirectory() ? join(path, "index.html") : path;
      if (!existsSync(file)) return void response.writeHead(404).end();
      response.setHeader("content-type", mediaTypes[extname(file)] ?? "application/octet-stream");
      createReadStream(file).pipe(response);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    if (hasChromium) browser = await startChromium();
  }, 600_000);

  afterAll(async () => {
    await browser?.close();
    server?.close();
    scratch.remove();
  });

  const html = (page: string) => readFileSync(join(folder, page), "utf8");

  test("the documentation site has each page of docs/ and the reference of the library", () => {
    for (const page of ["index", "converting", "crs", "service-interface", "decisions/2026-11-20-csv"])
      expect(html(`${page}.html`), page).toContain("<h1");
    expect(html("api/index/functions/convert.html")).toContain("inputs");
  });

  test("the documentation site shows the output of examples", () => {
    // samples/README.md: 27 parks.
    expect(html("index.html")).toMatch(/\$ geoferry info [\s\S]*features\s+<?[\s\S]*20/);
  });

  test("the documentation site has an index for language models, which links to Markdown pages", () => {
    const index = readFileSync(join(folder, "llms.txt"), "utf8");
    expect(index).toMatch(/^# geoferry\n\n> /);
    const links = [...index.matchAll(/\]\(([^)]+)\)/g)].map(([, path]) => path!);
    expect(links.filter((path) => !existsSync(join(folder, path)))).toEqual([]);
    // Every page of docs/ and the guide to the library; all that the API reference has is linked from its index.
    const own = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".md"),
    );
    const pages = own.map((name) => (name === "README.md" ? "overview.md" : name));
    expect([...pages, "index.md", "api/index.md"].filter((name) => !links.includes(name))).toEqual([]);
    expect(index).toContain("- [Installing](installing.md): npm, executables without Node.js, containers, platforms\n");
  });

  test("links between the Markdown pages of the site lead somewhere", () => {
    const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"));
    const broken = names.flatMap((name) =>
      [
        ...readFileSync(join(folder, name), "utf8")
          .replace(/^```[\s\S]*?^```/gm, "")
          .matchAll(/\]\(([^)#\s]+)/g),
      ]
        .map(([, to]) => to!)
        .filter((to) => !/^[a-z]+:/.test(to))
        .filter((to) => !existsSync(to.startsWith("/") ? join(folder, to) : join(folder, dirname(name), to)))
        .map((to) => `${name}: ${to}`),
    );
    expect(broken).toEqual([]);
  });

  async function openPage(path: string): Promise<{ page: Page; foreign: readonly string[] }> {
    const page = await browser!.newPage({ viewport: { width: 1280, height: 800 } });
    page.setDefaultTimeout(60_000);
    const foreign: string[] = [];
    page.on("request", (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(`${origin}/`)) foreign.push(request.url());
    });
    page.on("pageerror", (error) => foreign.push(String(error)));
    await page.goto(`${origin}${path}`);
    return { page, foreign };
  }

  /** Opens the search; the page ignores keys until its script runs. */
  async function openSearch(page: Page): Promise<void> {
    const field = page.getByPlaceholder("Search");
    for (let tries = 0; tries < 60 && !(await field.isVisible()); tries++) {
      await page.keyboard.press("Control+k");
      await page.waitForTimeout(500);
    }
  }

  test.skipIf(!hasChromium)(
    "the search of the documentation site finds a page without requests to other hosts",
    async () => {
      const { page, foreign } = await openPage("/");
      await openSearch(page);
      await page.getByPlaceholder("Search").fill("shift grids");
      await page.locator(".VPLocalSearchBox .result", { hasText: "Shift grids" }).first().waitFor();
      expect(foreign).toEqual([]);
    },
  );

  test.skipIf(!hasChromium)(
    "the search of the documentation site finds flags, commands and codes of errors",
    async () => {
      const { page } = await openPage("/");
      await openSearch(page);
      for (const [words, title] of [
        ["--where", "The language of --where"],
        ["restore", "Syncing maps"],
        ["EPSG", "Coordinate reference systems"],
        ["crs-unknown", "Errors, losses, notes and rejects"],
      ] as const) {
        await page.getByPlaceholder("Search").fill(words);
        await page.locator(".VPLocalSearchBox .result", { hasText: title }).first().waitFor();
      }
    },
  );

  test.skipIf(!hasChromium)("no page of the documentation site is wider than a phone", async () => {
    const { page } = await openPage("/");
    await page.setViewportSize({ width: 390, height: 844 });
    const names = readdirSync(folder).filter((name) => name.endsWith(".html") && name !== "404.html");
    const wide: string[] = [];
    for (const name of [...names, "api/index.html", "api/index/functions/convert.html"]) {
      await page.goto(`${origin}/${name}`);
      const width = await page.evaluate<number>("document.documentElement.scrollWidth");
      if (width > 390) wide.push(`${name}: ${width}`);
    }
    expect(wide).toEqual([]);
  });

  test.skipIf(!hasChromium)("the documentation site draws the diagram of the architecture", async () => {
    const { page, foreign } = await openPage("/architecture.html");
    await page.locator(".diagram svg").first().waitFor();
    expect(foreign).toEqual([]);
  });
});
