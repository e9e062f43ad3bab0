import { describe, expect, test } from "vitest";
import { createCsrfToken, isSameOrigin, verifyCsrfToken } from "../../../src/service/auth/csrf.js";
import { BrowserClient, openPagesAs } from "./page-fixture.js";

/** All forms of the site, and their pages. */
async function openForms() {
  const site = await openPagesAs("ada@example.org");
  const { owner, store } = site;
  await owner.get("/profile");
  await owner.post("/profile/credentials", { name: "job" });
  await owner.get("/maps");
  const map = (await owner.post("/maps", { name: "Places" })).headers.location!;
  const [account] = await store.accounts();
  const [credential] = await store.credentials(account!.id);
  const revoke = `/profile/credentials/${credential!.id}/revoke`;
  const forms: [url: string, page: string, fields: Record<string, string>][] = [
    ["/profile/password", "/profile", { current: "a quiet harbour", password: "another harbour" }],
    ["/profile/credentials", "/profile", { name: "other job" }],
    [revoke, revoke, {}],
    ["/maps", "/maps", { name: "More places" }],
    [`${map}/settings`, `${map}/settings`, { name: "Other places" }],
    [`${map}/delete`, `${map}/delete`, {}],
    ["/sign-out", "/profile", {}],
  ];
  const state = async () => [
    (await store.maps({ account: account!.id, scope: "readable" })).map(({ name }) => name),
    (await store.credentials(account!.id)).map(({ name, revoked }) => [name, revoked]),
    (await store.accounts()).map(({ passwordHash }) => passwordHash),
  ];
  return { ...site, forms, state };
}

describe("a form is rejected", () => {
  test.each<[string, (forged: BrowserClient, token: string) => Record<string, string>, Record<string, string>]>([
    ["without a token", () => ({ "token-of-form": "" }), {}],
    ["with a forged token", () => ({ "token-of-form": "A".repeat(64) }), {}],
    ["with the token of another browser", (other) => ({ "token-of-form": other.field("token-of-form") }), {}],
    ["from another site", (_, token) => ({ "token-of-form": token }), { origin: "https://evil.example" }],
    ["from another port", (_, token) => ({ "token-of-form": token }), { origin: "http://localhost:81" }],
    ["from an opaque origin", (_, token) => ({ "token-of-form": token }), { origin: "null" }],
    [
      "from another site, by its referrer",
      (_, token) => ({ "token-of-form": token }),
      { referer: "https://evil.example/" },
    ],
    [
      "across sites, as the browser says",
      (_, token) => ({ "token-of-form": token }),
      { "sec-fetch-site": "cross-site" },
    ],
  ])("a form is rejected %s", async (_, fieldsOf, headers) => {
    const { app, owner, forms, state } = await openForms();
    const other = new BrowserClient(app);
    await other.get("/sign-in");
    const before = await state();
    for (const [url, page, fields] of forms) {
      await owner.get(page);
      const forged = { ...fields, ...fieldsOf(other, owner.field("token-of-form")) };
      const answer = await owner.post(url, forged, headers);
      expect([url, answer.statusCode]).toEqual([url, 403]);
    }
    expect(await state()).toEqual(before);
    expect((await owner.get("/profile")).statusCode).toBe(200);
  });

  test("to sign in as another user, without the token of the page", async () => {
    const { app } = await openForms();
    const guest = new BrowserClient(app);
    const answer = await guest.post("/sign-in", { email: "ada@example.org", password: "a quiet harbour" });
    expect(answer.statusCode).toBe(403);
  });
});

test("all forms of all pages are accepted with their own token", async () => {
  const { owner, forms } = await openForms();
  for (const [url, page, fields] of forms) {
    await owner.get(page);
    expect(owner.page).toContain(`action="${url}"`);
    const forms = owner.page.match(/<form[\s\S]*?<\/form>/g)!;
    for (const form of forms) expect(form).toMatch(/name="token-of-form" value="[\w-]{64}"/);
    const headers = { origin: "http://localhost", "sec-fetch-site": "same-origin" };
    const answer = await owner.post(url, fields, headers);
    expect([url, answer.statusCode]).toEqual([url, 303]);
  }
});

test("only form bodies are accepted", async () => {
  const { owner } = await openForms();
  const answer = await owner.post("/maps", {}, { "content-type": "application/json" });
  expect(answer.statusCode).toBe(415);
});

test("a form above 64 KiB is rejected", async () => {
  const { owner } = await openForms();
  expect((await owner.post("/maps", { name: "x".repeat(65_536) })).statusCode).toBe(413);
});

describe("the token of a form", () => {
  test("differs each time, and is valid only for its browser", () => {
    const [one, other] = [createCsrfToken("browser one"), createCsrfToken("browser one")];
    expect(one).not.toBe(other);
    expect(verifyCsrfToken("browser one", one)).toBe(true);
    expect(verifyCsrfToken("browser one", other)).toBe(true);
    expect(verifyCsrfToken("browser two", one)).toBe(false);
  });

  test("is invalid if any byte is changed or missing", () => {
    const token = Buffer.from(createCsrfToken("browser"), "base64url");
    for (let at = 0; at < token.length; at++) {
      const changed = Buffer.from(token);
      changed[at]! ^= 1;
      expect(verifyCsrfToken("browser", changed.toString("base64url"))).toBe(false);
      expect(verifyCsrfToken("browser", token.subarray(0, at).toString("base64url"))).toBe(false);
    }
  });
});

test("without origin headers, the token of the form decides", () => {
  expect(isSameOrigin({}, "https://maps.example.org")).toBe(true);
  expect(isSameOrigin({ referer: "https://maps.example.org/maps" }, "https://maps.example.org")).toBe(true);
  expect(isSameOrigin({ referer: "no address" }, "https://maps.example.org")).toBe(false);
});
