/** The service behind a proxy that forwards requests below one path to it: `https://example.org/maps`. */
import { expect, test } from "vitest";
import { BrowserClient, openPagesAs, password, stripOrigin } from "./page-fixture.js";

// The path equals that of a page, to detect wrong prefixes.
const publicUrl = "https://example.org/maps";
const open = () => openPagesAs("ada@example.org", { publicUrl });

/** URLs of the site in a page. */
const addressesIn = (page: string): string[] =>
  [...page.matchAll(/ (?:href|action|src|data-(?!name|total|label)[a-z]+)="([^"]*)"/g)].map(([, address]) => address!);

test("all URLs of all pages are below the path and lead to a page", async () => {
  const { owner } = await open();
  await owner.post("/maps/maps", { name: '/setup" href="/setup' });
  await owner.post("/maps/profile/credentials", { name: "nightly" });
  const seen = new Set<string>();
  const left = ["/maps/"];
  for (let address = left.pop(); address !== undefined; address = left.pop()) {
    if (seen.has(address)) continue;
    seen.add(address);
    const answer = await owner.get(address);
    expect(answer.statusCode, address).toBeLessThan(400);
    const { location } = answer.headers;
    const found = String(answer.headers["content-type"]).startsWith("text/html") ? addressesIn(answer.body) : [];
    for (const next of [...found, ...(location === undefined ? [] : [location])]) {
      if (next.startsWith("#")) continue;
      expect(next, `on ${address}`).toMatch(/^\/maps\//);
      // Only forms are sent there.
      if (!/\/(sign-out|name|password|credentials)$/.test(next)) left.push(next);
    }
  }
  const kinds = [...seen].map((address) =>
    address.replace(/[\da-f]{8}-[\da-f-]{27}/, "ID").replace(/-[\w-]{8,}\./, "."),
  );
  expect(kinds).toEqual(
    expect.arrayContaining([
      "/maps/maps",
      "/maps/maps/ID",
      "/maps/maps/ID/features.json",
      "/maps/maps/ID/settings",
      "/maps/maps/ID/delete",
      "/maps/profile",
      "/maps/profile/credentials/ID/revoke",
    ]),
  );
  expect(kinds.filter((address) => address.startsWith("/maps/assets/")).length).toBeGreaterThan(5);
});

test("user text is not treated as a URL", async () => {
  const { owner } = await open();
  await owner.post("/maps/maps", { name: "/setup" });
  expect(owner.page).toContain('data-name="/setup"');
});

test("signing in returns to the requested page, with cookies specific to this service", async () => {
  const { app } = await open();
  const guest = new BrowserClient(app);
  const sent = await guest.get("/maps/profile");
  expect([sent.statusCode, sent.headers.location]).toEqual([303, "/maps/sign-in?next=%2Fprofile"]);
  await guest.get(String(sent.headers.location));
  const fields = { email: "ada@example.org", password, next: guest.field("next") };
  const answer = await guest.post("/maps/sign-in", fields, { origin: "https://example.org" });
  expect([answer.statusCode, answer.headers.location]).toEqual([303, "/maps/profile"]);
  expect(guest.page).toContain("<h1>Profile</h1>");
  expect([...guest.cookies.keys()]).toEqual(["__Host-geoferry-browser!maps"]);
  expect(answer.cookies[0]).toMatchObject({ path: "/", secure: true, httpOnly: true });
});

test("URLs in API responses lead through the proxy", async () => {
  const { app, store, owner } = await open();
  await owner.post("/maps/profile/credentials", { name: "nightly" });
  const [clientId] = /gfc_[\w-]+/.exec(owner.page)!;
  const [secret] = /gfs_[\w-]+/.exec(owner.page)!;
  expect(owner.page).toContain(`GEOFERRY_URL=${publicUrl}\n`);
  const metadata = await app.inject("/.well-known/oauth-authorization-server/maps");
  expect(metadata.json()).toMatchObject({ issuer: publicUrl, token_endpoint: `${publicUrl}/token` });
  expect((await app.inject("/maps/.well-known/oauth-authorization-server")).json()).toEqual(metadata.json());
  const payload = `grant_type=client_credentials_with_user&client_id=${clientId}&client_secret=${secret}`;
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const url = stripOrigin(metadata.json().token_endpoint);
  const { access_token: token } = (await app.inject({ method: "POST", url, headers: form, payload })).json();

  const headers = { authorization: `Bearer ${token}` };
  const [server] = (await app.inject("/maps/openapi.json")).json().servers;
  const maps = stripOrigin(`${server.url}/api/v1/maps`);
  const made = await app.inject({ method: "POST", url: maps, headers, payload: { name: "Trees" } });
  const map = stripOrigin(String(made.headers.location));
  expect((await app.inject({ url: map, headers })).json()).toMatchObject({ name: "Trees" });
  const feature = { type: "Feature", geometry: null, properties: {} };
  await app.inject({ method: "POST", url: `${map}/features`, headers, payload: { features: [feature, feature] } });
  const { headers: first } = await app.inject({ url: `${map}/features?per_page=1`, headers });
  const next = /^<([^>]*)>; rel="next"$/.exec(String(first.link))![1]!;
  expect(next.startsWith(`${publicUrl}/api/v1/maps/`)).toBe(true);
  expect((await app.inject({ url: stripOrigin(next), headers })).json().features).toHaveLength(1);
  expect(await store.accounts()).toHaveLength(1);
});

test("requests that bypass the proxy, such as probes, work without the path", async () => {
  const { app } = await open();
  expect((await app.inject("/openapi.json")).statusCode).toBe(200);
  expect((await app.inject("/mapsetc")).statusCode).toBe(404);
  expect((await app.inject("/maps?x=1")).headers.location).toBe("/maps/sign-in");
});
