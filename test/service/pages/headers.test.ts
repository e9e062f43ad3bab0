import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { BrowserClient, openPages, openPagesAs, password } from "./page-fixture.js";

async function everyPage() {
  const site = await openPagesAs("ada@example.org");
  const { owner } = site;
  await owner.get("/maps");
  const map = (await owner.post("/maps", { name: "Places" })).headers.location!;
  const paths = ["/", "/maps", "/profile", map, `${map}/features.json`, `${map}/settings`, `${map}/delete`, "/maps/x"];
  return { ...site, paths, map };
}

test("pages run no foreign code, cannot be framed, and are not cached or sniffed", async () => {
  const { owner, paths } = await everyPage();
  for (const path of [...paths, "/nothing/here"]) {
    const { headers } = await owner.get(path, { accept: "text/html" });
    const policy = String(headers["content-security-policy"]);
    const directives = new Map(policy.split("; ").map((one) => one.split(/ (.*)/s) as [string, string]));
    expect(directives.get("default-src"), path).toBe("'none'");
    expect(directives.get("script-src")).toBe("'self'");
    expect(directives.get("style-src")).toBe("'self'");
    expect(directives.get("worker-src")).toBe("'self'");
    expect(directives.get("connect-src")).toBe("'self'");
    expect(directives.get("form-action")).toBe("'self'");
    expect(directives.get("base-uri")).toBe("'none'");
    expect(directives.get("frame-ancestors")).toBe("'none'");
    expect(policy).not.toMatch(/unsafe|http|\*/);
    expect(headers).toMatchObject({
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "referrer-policy": "same-origin",
      "cross-origin-opener-policy": "same-origin",
    });
    expect(headers["access-control-allow-origin"]).toBeUndefined();
  }
});

test("pages refer to no other hosts, and have a language, a title and one heading", async () => {
  const { owner, paths } = await everyPage();
  const titles = new Set<string>();
  for (const path of paths.filter((one) => !/^\/$|json$/.test(one))) {
    const { body } = await owner.get(path, { accept: "text/html" });
    const addresses = [...body.matchAll(/(?:href|src|action|data-[a-z]+)="([^"]*)"/g)].map((match) => match[1]!);
    expect(addresses.filter((address) => /^[a-z]*:?\/\//.test(address))).toEqual([]);
    expect(body).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(body.match(/<h1/g)).toHaveLength(1);
    expect(body.match(/<main /g)).toHaveLength(1);
    titles.add(/<title>(.*)<\/title>/.exec(body)![1]!);
    for (const [, id] of body.matchAll(/<label for="([^"]*)"/g)) expect(body).toContain(` id="${id}"`);
    const ids = [...body.matchAll(/ id="([^"]*)"/g)].map((match) => match[1]!);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, named] of body.matchAll(/aria-(?:labelledby|describedby)="([^"]*)"/g)) {
      for (const id of named!.split(" ")) expect(ids).toContain(id);
    }
  }
  expect(titles.size).toBe(6);
});

describe("the session cookie", () => {
  async function cookieOf(dependencies: object, headers: Record<string, string> = {}) {
    const { app } = await openPages(dependencies);
    const guest = new BrowserClient(app);
    return (await guest.get("/sign-in", headers)).headers["set-cookie"];
  }
  const plain = /^geoferry-browser-80=gfn_[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/;
  const secure = /^__Host-geoferry-browser=gfn_[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/;

  test("is not Secure over http", async () => {
    expect(String(await cookieOf({}))).toMatch(plain);
  });

  test("is bound to the host and to https if the service is reached over https", async () => {
    expect(String(await cookieOf({ publicUrl: "https://maps.example.org" }))).toMatch(secure);
  });

  test("is Secure behind a trusted proxy, and not if an untrusted client claims https", async () => {
    const forwarded = { "x-forwarded-proto": "https" };
    expect(String(await cookieOf({ trustProxy: true }, forwarded))).toMatch(secure);
    expect(String(await cookieOf({}, forwarded))).toMatch(plain);
  });

  test("has the port in its name, since services on one machine share cookies", async () => {
    expect(String(await cookieOf({}, { host: "127.0.0.1:8123" }))).toMatch(/^geoferry-browser-8123=/);
  });
});

test("forms are accepted behind a proxy, with the public origin", async () => {
  const { app } = await openPagesAs("ada@example.org", { trustProxy: true });
  const guest = new BrowserClient(app, {
    headers: { "x-forwarded-proto": "https", "x-forwarded-host": "maps.example.org" },
  });
  await guest.get("/sign-in");
  const origin = { origin: "https://maps.example.org" };
  const fields = { email: "ada@example.org", password };
  expect((await guest.post("/sign-in", fields, { origin: "http://localhost" })).statusCode).toBe(403);
  await guest.get("/sign-in");
  expect((await guest.post("/sign-in", fields, origin)).statusCode).toBe(303);
});

test("a request without a Host header gets a response", async () => {
  const { app } = await openPages();
  const answer = await app.inject({ url: "/sign-in", headers: { host: "no host at all" } });
  expect(answer.statusCode).toBe(200);
});

describe("assets", () => {
  async function assets() {
    const { owner, map, app } = await everyPage();
    await owner.get(map);
    const addresses = [...owner.page.matchAll(/"(\/assets\/[^"]*)"/g)].map((match) => match[1]!);
    return { app, addresses: [...new Set(addresses)] };
  }

  test("are all files that pages refer to, cached forever under a content hash", async () => {
    const { app, addresses } = await assets();
    expect(addresses.map((address) => address.replace(/-[\da-f]{12}\./, "."))).toEqual([
      "/assets/icon.svg",
      "/assets/maplibre-gl.css",
      "/assets/maplibre-gl.js",
      "/assets/map.js",
      "/assets/pages.css",
      "/assets/maplibre-gl-worker.js",
      "/assets/land.json",
      "/assets/licences.txt",
    ]);
    for (const url of addresses) {
      const answer = await app.inject({ url });
      expect([url, answer.statusCode]).toEqual([url, 200]);
      expect(answer.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
      expect(answer.headers["x-content-type-options"]).toBe("nosniff");
      const packed = await app.inject({ url, headers: { "accept-encoding": "br, gzip" } });
      expect(packed.headers["content-encoding"]).toBe("gzip");
      expect(gunzipSync(packed.rawPayload).equals(answer.rawPayload)).toBe(true);
    }
  });

  test("refer to no source map, which is not served", async () => {
    const { app, addresses } = await assets();
    for (const url of addresses.filter((address) => address.endsWith(".js"))) {
      expect((await app.inject({ url })).body).not.toMatch(/^\/\/# sourceMappingURL=/m);
    }
  });

  test("other than these return 404", async () => {
    const { app } = await assets();
    for (const url of [
      "/assets/manifest.json",
      "/assets/../package.json",
      "/assets/%2e%2e%2fmanifest.json",
      "/assets/",
      "/assets",
    ]) {
      expect((await app.inject({ url })).statusCode).toBe(404);
    }
  });

  test("include the licenses of third parties", async () => {
    const { app, addresses } = await assets();
    const text = (await app.inject({ url: addresses.find((one) => one.includes("licences"))! })).body;
    expect(text).toContain("MapLibre contributors");
    expect(text).toContain("Mike Bostock");
  });
});

describe("unknown paths", () => {
  test("return a page to browsers, and a problem to programs", async () => {
    const { owner, app } = await openPagesAs("ada@example.org");
    const page = await owner.get("/nothing", { accept: "text/html,*/*" });
    expect([page.statusCode, page.headers["content-type"]]).toEqual([404, "text/html; charset=utf-8"]);
    expect(page.body).toContain("<h1>Page not found</h1>");
    const program = await app.inject({ url: "/nothing" });
    expect([program.statusCode, program.headers["content-type"]]).toEqual([
      404,
      expect.stringContaining("application/problem+json"),
    ]);
  });

  test("return a problem below the API in any case", async () => {
    const { app } = await openPages();
    const answer = await app.inject({ url: "/api/v2/maps", headers: { accept: "text/html" } });
    expect([answer.statusCode, answer.headers["content-type"]]).toEqual([
      404,
      expect.stringContaining("application/problem+json"),
    ]);
  });
});

test("pages report an unavailable database, with the request id of the log", async () => {
  const { app, owner, store } = await openPagesAs("ada@example.org");
  await store[Symbol.asyncDispose]();
  const answer = await owner.get("/maps");
  expect(answer.statusCode).toBe(503);
  expect(answer.body).toContain("<h1>Service unavailable</h1>");
  expect(answer.body).toContain(String(answer.headers["x-request-id"]));
  await app.close();
});
