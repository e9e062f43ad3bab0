import { describe, expect, test } from "vitest";
import { hashPassword } from "../../../src/service/auth/passwords.js";
import { buildWriteItems, makeWriteRequest } from "../store/store-fixture.js";
import { BrowserClient, openPagesAs, password, visibleText } from "./page-fixture.js";

/** Ada's map, and another signed-in user, Eve. */
async function openMap(fields: Record<string, string> = {}) {
  const site = await openPagesAs("ada@example.org");
  const { app, owner, store, clock } = site;
  await owner.get("/maps");
  const map = (await owner.post("/maps", { name: "Places", ...fields })).headers.location as string;
  const passwordHash = await hashPassword(password);
  const id = "0190a0e0-0000-7000-8000-00000000000e";
  await store.addAccount({ id, email: "eve@example.org", name: "", passwordHash, created: clock.now });
  const eve = new BrowserClient(app);
  await eve.get("/sign-in");
  await eve.post("/sign-in", { email: "eve@example.org", password });
  return { ...site, map, id: map.split("/").at(-1)!, eve };
}

const point = (x: number, properties: object = {}) => ({
  geometry: { type: "Point", coordinates: [x, 50.25] },
  properties,
});

test("a map is created, and its page opens", async () => {
  const { owner, map, store, id } = await openMap();
  expect(map).toMatch(/^\/maps\/[\da-f-]{36}$/);
  expect(owner.page).toContain("<h1><bdi>Places</bdi></h1>");
  expect(visibleText(owner.page)).toContain("0 features. Readable by every account.");
  expect(await store.map(id)).toMatchObject({ name: "Places", private: false, ownerEmail: "ada@example.org" });
});

test("name and privacy can be changed", async () => {
  const { owner, map, store, id } = await openMap();
  await owner.get(`${map}/settings`);
  await owner.post(`${map}/settings`, { name: "Other places", private: "yes" });
  expect(await store.map(id)).toMatchObject({ name: "Other places", private: true });
  const settings = await owner.get(`${map}/settings`);
  expect(settings.body).toMatch(/id="private"[^>]* checked/);
  await owner.post(`${map}/settings`, { name: "Other places" });
  expect(await store.map(id)).toMatchObject({ private: false });
  // Unchanged values are not recorded.
  await owner.post(`${map}/settings`, { name: "Other places" });
  const log = (await store.auditEntries({ map: id, limit: 10 })).map(({ action, detail }) => [action, detail]);
  expect(log).toEqual([
    ["map-changed", { private: false }],
    ["map-changed", { name: "Other places", private: true }],
    ["map-created", { name: "Places", private: false }],
  ]);
});

test("a map is deleted with all its features after a confirmation", async () => {
  const { owner, map, store, id } = await openMap();
  await store.write(makeWriteRequest(id, "create", [point(1), point(2)]));
  const question = await owner.get(`${map}/delete`);
  expect(visibleText(question.body)).toContain("The map with 2 features is deleted immediately.");
  expect(await store.map(id)).not.toBeNull();
  await owner.post(`${map}/delete`);
  expect(visibleText(owner.page)).toContain("The map Places was deleted.");
  expect(await store.map(id)).toBeNull();
  expect((await owner.get(map)).statusCode).toBe(404);
  const [deletion] = await store.auditEntries({ map: id, limit: 1 });
  expect(deletion).toMatchObject({ action: "map-deleted", detail: { name: "Places", features: 2 } });
});

test.each(["", "   ", "x".repeat(201), "a\u0000b"])("the name %j is rejected", async (name) => {
  const { owner, map, store, id } = await openMap();
  await owner.get("/maps");
  expect((await owner.post("/maps", { name })).statusCode).toBe(422);
  await owner.get(`${map}/settings`);
  expect((await owner.post(`${map}/settings`, { name })).statusCode).toBe(422);
  expect(await store.map(id)).toMatchObject({ name: "Places" });
});

describe("another user", () => {
  test("reads a public map, without its log", async () => {
    const { eve, map, store, id } = await openMap();
    await store.write(makeWriteRequest(id, "create", [point(1, { title: "Here" })]));
    await eve.get("/maps");
    expect(visibleText(eve.page)).toContain("Maps of others");
    const page = await eve.get(map);
    expect(visibleText(page.body)).toMatch(/Belongs to Account [\da-f]{6}\./);
    expect(eve.page + page.body).not.toContain("ada@example.org");
    expect(visibleText(page.body)).toContain("Here Point at 50.25° N, 1° E");
    expect(visibleText(page.body)).not.toContain("Last writes");
    expect(page.body).not.toContain(`${map}/settings`);
    expect(visibleText(page.body)).toContain(`geoferry pull places.gpkg --map ${id}`);
    expect(visibleText(page.body)).not.toContain("geoferry push");
    expect((await eve.get(`${map}/features.json`)).json().features).toHaveLength(1);
  });

  test("sees the display name that the owner has set on the profile page", async () => {
    const { owner, eve, map } = await openMap();
    await owner.get("/profile");
    expect((await owner.post("/profile/name", { "display-name": "\u0007" })).statusCode).toBe(422);
    await owner.get("/profile");
    await owner.post("/profile/name", { "display-name": "Ada, Parks" });
    expect(visibleText(owner.page)).toContain("The display name was saved.");
    expect(owner.page).toContain('value="Ada, Parks"');
    expect(visibleText((await eve.get(map)).body)).toContain("Belongs to Ada, Parks.");
  });

  test("cannot change a map", async () => {
    const { eve, map, store, id } = await openMap();
    for (const path of ["settings", "delete"]) {
      await eve.get("/maps");
      expect((await eve.get(`${map}/${path}`)).statusCode).toBe(403);
      await eve.get("/maps");
      expect((await eve.post(`${map}/${path}`, { name: "Eve's" })).statusCode).toBe(403);
    }
    expect(await store.map(id)).toMatchObject({ name: "Places" });
  });

  test("cannot detect a private map", async () => {
    const { eve, map, store, id } = await openMap({ private: "yes" });
    expect(visibleText((await eve.get("/maps")).body)).not.toContain("Places");
    const nothing = map.replace(id, "0190a0e0-0000-7000-8000-0000000000ff");
    for (const path of ["", "/settings", "/delete", "/features.json"]) {
      const [there, notThere] = [await eve.get(map + path), await eve.get(nothing + path)];
      expect([path, there.statusCode]).toEqual([path, 404]);
      expect(visibleText(there.body)).toBe(visibleText(notThere.body));
    }
    expect((await store.map(id))!.name).toBe("Places");
  });
});

test("users who are not signed in are redirected to the sign-in page, also from the script's URL", async () => {
  const { app, map } = await openMap();
  const guest = new BrowserClient(app);
  for (const path of ["/", "/maps", "/profile", map, `${map}/features.json`, `${map}/settings`, `${map}/delete`]) {
    const answer = await guest.get(path);
    expect([path, answer.statusCode]).toEqual([path, 303]);
    expect(answer.headers.location).toMatch(/^\/sign-in/);
    expect(answer.body).toBe("");
  }
});

test.each(["/maps/x", "/maps/0190a0e0", "/maps/%00", "/maps/..%2f..%2fetc", "/maps/%F0%9F%9A%A2"])(
  "%s returns 404",
  async (path) => {
    const { owner } = await openMap();
    expect((await owner.get(path, { accept: "text/html" })).statusCode).toBe(404);
  },
);

describe("the list of features", () => {
  test("shows all features, 25 per page, by creation time", async () => {
    const { owner, map, store, id } = await openMap();
    const all = Array.from({ length: 60 }, (_, i) => point(i, { title: `Light ${i}` }));
    await store.write(makeWriteRequest(id, "create", all));
    const seen: string[] = [];
    for (const [page, note] of [
      ["", "1 to 25 of 60"],
      ["?page=2", "26 to 50 of 60"],
      ["?page=3", "51 to 60 of 60"],
    ] as const) {
      const { body } = await owner.get(map + page);
      expect(visibleText(body)).toContain(note);
      seen.push(...[...body.matchAll(/<bdi>(Light \d+)<\/bdi> </g)].map((match) => match[1]!));
    }
    expect(seen).toEqual(all.map(({ properties }) => (properties as { title: string }).title));
    expect(owner.page).toContain('href="?page=2#features"');
    expect(owner.page).not.toContain('rel="next"');
    for (const page of ["4", "0", "-1", "1.5", "x", "1e9", "99999999999999999999"]) {
      expect((await owner.get(`${map}?page=${page}`)).statusCode).toBe(404);
    }
  });

  test("shows all properties of all types, and features without geometry or title", async () => {
    const { owner, map, store, id } = await openMap();
    const properties = JSON.parse(
      '{"title": "", "height": 12.5, "lit": true, "note": null, "tags": ["a", {"b": 1}], "__proto__": "ordinary", "constructor": 7}',
    );
    await store.write(
      makeWriteRequest(id, "create", [
        { geometry: null, properties },
        { geometry: { type: "Point", coordinates: [-0.1234567, -89.5, 12] }, properties: { name: 42 } },
        { geometry: { type: "GeometryCollection", geometries: [] }, properties: {} },
      ]),
    );
    const text = visibleText((await owner.get(map)).body);
    expect(text).toMatch(
      /Feature [\da-f]{8} no place title height 12\.5 lit true note null tags \["a",\{"b":1\}\] __proto__ ordinary constructor 7 id/,
    );
    expect(text).toContain("42 Point at 89.5° S, 0.123457° W");
    expect(text).toMatch(/Feature [\da-f]{8} Collection id/);
  });

  test("truncates long values and marks them", async () => {
    const { owner, map, store, id } = await openMap();
    const many = Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`field ${i}`, i]));
    await store.write(makeWriteRequest(id, "create", [point(1, { title: "x".repeat(1e6) }), point(2, many)]));
    const page = await owner.get(map);
    expect(page.body.length).toBeLessThan(100_000);
    expect(visibleText(page.body)).toContain("… (1000000 characters)");
    expect(visibleText(page.body)).toContain("and 50 more");
  });
});

test("the last writes show the action, the account and the address", async () => {
  const { owner, map, store, id, clock } = await openMap();
  const [account] = await store.accounts();
  const audit = { account: account!.id, action: "features-written", address: "192.0.2.7" };
  await store.write(makeWriteRequest(id, "create", [point(1), point(2)], { audit, now: clock.now }));
  const text = visibleText((await owner.get(map)).body);
  expect(text).toMatch(/21 Nov 2026, 12:00 UTC Features written [^.]*created 2[^.]* ada@example\.org 192\.0\.2\.7/);
});

describe("the features for the map's script", () => {
  test("are those of the API, in its order", async () => {
    const { owner, map, store, id } = await openMap();
    const all = Array.from({ length: 2500 }, (_, i) => point(i % 180, { n: i, text: "ø\u2028🚢" }));
    for (let at = 0; at < all.length; at += 1000) {
      const request = makeWriteRequest(id, "create", []);
      await store.write({ ...request, items: buildWriteItems(all.slice(at, at + 1000)) });
    }
    const seen: { properties: object }[] = [];
    let address: string | null = `${map}/features.json`;
    let requests = 0;
    while (address !== null) {
      const page: { features: { properties: object }[]; last: number; more: boolean } = (
        await owner.get(address)
      ).json();
      seen.push(...page.features);
      requests++;
      address = page.more ? `${map}/features.json?after=${page.last}` : null;
    }
    expect(requests).toBe(3);
    expect(seen.map(({ properties }) => properties)).toEqual(all.map(({ properties }) => properties));
  });

  test("are an empty collection for an empty map", async () => {
    const { owner, map } = await openMap();
    expect((await owner.get(`${map}/features.json`)).json()).toEqual({
      type: "FeatureCollection",
      features: [],
      last: null,
      more: false,
    });
  });

  test.each(["x", "-1", "1.5", "99999999999999999999"])("are not returned for after=%s", async (after) => {
    const { owner, map } = await openMap();
    expect((await owner.get(`${map}/features.json?after=${after}`)).statusCode).toBe(400);
  });

  test("are read-only", async () => {
    const { app, owner, map } = await openMap();
    await owner.get("/maps");
    const cookie = [...owner.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    for (const method of ["POST", "PUT", "PATCH", "DELETE"] as const) {
      const answer = await app.inject({ method, url: `${map}/features.json`, headers: { cookie } });
      expect(answer.statusCode).toBe(405);
    }
  });

  test("require a session, and a session gives no access to the API", async () => {
    const { owner, id } = await openMap();
    expect((await owner.get(`/api/v1/maps/${id}/features`)).statusCode).toBe(401);
  });
});

test("the list shows 200 maps at a time, however many others have made", async () => {
  const { owner, eve, store } = await openMap();
  const [ada, stranger] = ["ada@example.org", "eve@example.org"].map(async (email) => {
    const accounts = await store.accounts();
    return accounts.find((account) => account.email === email)!.id;
  });
  const uuid = (n: number) => `0190a0e0-0000-7000-9000-${String(n).padStart(12, "0")}`;
  for (let n = 0; n < 450; n++) {
    const isOwn = n % 2 === 0;
    const map = { name: `Map ${String(n).padStart(3, "0")}`, private: isOwn, created: 0 };
    await store.addMap({ id: uuid(n), owner: (await (isOwn ? ada : stranger))!, ...map });
  }
  const rows = (page: string) =>
    [...page.matchAll(/<th scope="row"><a href="(\/maps\/[\da-f-]{36})"/g)].map(([, at]) => at!);
  const seen: string[] = [];
  let page = (await owner.get("/maps")).body;
  for (const what of ["your maps", "maps of others", "nothing"]) {
    for (;;) {
      expect(rows(page).length).toBeLessThanOrEqual(400);
      seen.push(...rows(page));
      const next = new RegExp(`<a href="([^"]+)">More of ${what}</a>`).exec(page)?.[1];
      if (next === undefined) break;
      page = (await owner.get(next.replaceAll("&amp;", "&"))).body;
    }
  }
  expect(new Set(seen).size).toBe(451);
  // A text that is not a cursor counts as none: one map of Ada, and 200 of Eve.
  expect(rows((await eve.get("/maps?own=AAAA")).body).length).toBe(201);
});
