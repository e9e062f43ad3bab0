/** The pages are identical on both stores. */
import { describe, expect, test } from "vitest";
import type { Store } from "../../../src/service/store/contract.js";
import { openPostgresStore } from "../../../src/service/store/postgres/index.js";
import { testDatabase } from "../../support/servers/postgres.js";
import { buildWriteItems, makeWriteRequest } from "../store/store-fixture.js";
import { BrowserClient, openPagesAs, password, visibleText } from "./page-fixture.js";

const database = await testDatabase();

/** The texts of pages along a path through the site, without random values. */
async function storyOn(store?: Store): Promise<string[]> {
  const { app, owner, clock, ...site } = await openPagesAs("zo\u00eb@example.org", store ? { store } : {});
  const story: string[] = [];
  const note = (page: string) =>
    story.push(
      visibleText(page)
        .replace(/Account [\da-f]{6}/g, "Account …")
        .replace(/gf[cs]_[\w-]+/g, "gf…")
        .replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, "UUID"),
    );

  const guest = new BrowserClient(app);
  await guest.get("/sign-in");
  for (const email of [
    "ZOE\u0308@example.org",
    "unknown@example.org",
    "\u0000@example.org",
    "\ufffd",
    "x".repeat(5000),
  ]) {
    note((await guest.post("/sign-in", { email, password: "wrong password" })).body);
  }
  await guest.post("/sign-in", { email: "ZOE\u0308@example.org", password });
  note(guest.page);

  await owner.get("/profile");
  await owner.post("/profile/credentials", { name: "nightly ⛴ job" });
  note(owner.page);
  await owner.get("/maps");
  for (const name of ["places", "Ärger", "Zebra", "zebra"]) {
    await owner.get("/maps");
    await owner.post("/maps", { name, private: "yes" });
  }
  const map = (await owner.post("/maps", { name: "Lights" })).headers.location as string;
  const [account] = await site.store.accounts();
  const audit = { account: account!.id, action: "features-written", address: "192.0.2.7" };
  const all = Array.from({ length: 1000 }, (_, i) => ({
    geometry: { type: "Point", coordinates: [i / 10, 50] },
    properties: { title: `Light ${i}`, "ø ⛴": 1e21, nested: { b: 1, a: [null] } },
  }));
  for (let i = 0; i < 3; i++) {
    const request = makeWriteRequest(map.split("/").at(-1)!, "create", [], { audit, now: ++clock.now });
    await site.store.write({ ...request, items: buildWriteItems(all) });
  }
  for (const path of ["/maps", map, `${map}?page=120`, `${map}?page=121`, `${map}/delete`, `${map}/features.json`]) {
    const answer = await owner.get(path);
    note(`${answer.statusCode} ${answer.body}`);
    if (!path.endsWith("json")) continue;
    const { last } = answer.json();
    for (const after of [last, 9e14]) note((await owner.get(`${path}?after=${after}`)).body.replace(/"last":\d+/, ""));
  }
  await owner.get(`${map}/settings`);
  await owner.post(`${map}/settings`, { name: "Other lights", private: "yes" });
  note(owner.page);
  await owner.post(`${map}/delete`);
  note(owner.page);
  await owner.get("/profile");
  note(owner.page);
  return story;
}

describe.skipIf(!database)("on PostgreSQL", () => {
  test("show the same as on SQLite", async () => {
    const store = await openPostgresStore(await database!.emptySchema());
    const story = await storyOn(store);
    expect(story).toHaveLength(18);
    expect(story.join("\n")).toContain("2,976 to 3,000 of 3,000");
    expect(story).toEqual(await storyOn());
  });
});
