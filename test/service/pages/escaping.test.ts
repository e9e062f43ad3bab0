/** User text of any kind stays text on a page. */
import { expect, test } from "vitest";
import { makeWriteRequest } from "../store/store-fixture.js";
import { openPagesAs, visibleText } from "./page-fixture.js";

const scripts = [
  `<script>alert("stored")</script>`,
  `"><img src=x onerror=alert("stored")>`,
  `' onmouseover='alert("stored")`,
  `</title></textarea><svg/onload=alert("stored")>`,
  `\${alert("stored")}{{alert("stored")}}`,
];

/** The tags and attributes that a browser parses in a page. */
const tagsOf = (page: string) => page.match(/<[a-z!/][^>]*>/gi)!;

test.each(scripts)("%s stays text on all pages", async (script) => {
  const email = `${script.replaceAll(/[\s@]/g, "")}@example.org`;
  const { owner, store, clock } = await openPagesAs(email);
  const [account] = await store.accounts();
  await owner.post("/profile/credentials", { name: script });
  const secretPage = owner.page;
  await owner.get("/maps");
  const map = (await owner.post("/maps", { name: script })).headers.location!;
  const id = map.split("/").at(-1)!;
  const properties = { title: script, [script]: script, list: [script, { [script]: script }], __proto__: null };
  const audit = { account: account!.id, action: script, address: script };
  await store.write(
    makeWriteRequest(id, "create", [{ geometry: { type: "Point", coordinates: [1, 2] }, properties }], {
      audit,
      now: clock.now,
    }),
  );
  const [credential] = await store.credentials(account!.id);
  const pages = [secretPage, owner.page];
  const paths = ["/profile", "/maps", map, `${map}/settings`, `${map}/delete`];
  for (const path of [...paths, `/profile/credentials/${credential!.id}/revoke`]) {
    const answer = await owner.get(path);
    expect([path, answer.statusCode]).toEqual([path, 200]);
    pages.push(answer.body);
  }
  await owner.get(map);
  pages.push((await owner.post(`${map}/settings`, { name: `${script}\u0001` })).body);
  await owner.post("/sign-out");
  pages.push((await owner.post("/sign-in", { email: script, password: script })).body);
  pages.push((await owner.get(`/sign-in?next=${encodeURIComponent(script)}`)).body);
  pages.push((await owner.get(`/${encodeURIComponent(script)}`, { accept: "text/html" })).body);

  const places = pages.map((page) => visibleText(page).split(script).length - 1);
  expect(places.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(15);
  for (const page of pages) {
    const suspicious = tagsOf(page).filter((tag) =>
      /alert|onerror|onload|onmouseover|<svg|<img/i.test(tag.replace(/="[^"]*"/g, "")),
    );
    expect(suspicious).toEqual([]);
    expect(page.match(/<script/g) ?? []).toHaveLength(page.includes('id="map"') ? 1 : 0);
  }
});

test("features for the map's script are JSON that browsers do not interpret as a page", async () => {
  const { owner, store, clock } = await openPagesAs("ada@example.org");
  await owner.get("/maps");
  const map = (await owner.post("/maps", { name: "Places" })).headers.location!;
  const properties = { title: scripts[0] };
  await store.write(
    makeWriteRequest(map.split("/").at(-1)!, "create", [{ geometry: null, properties }], { now: clock.now }),
  );
  const answer = await owner.get(`${map}/features.json`);
  expect(answer.headers["content-type"]).toMatch(/^application\/json/);
  expect(answer.headers["x-content-type-options"]).toBe("nosniff");
  expect(answer.json().features[0].properties).toEqual(properties);
});
