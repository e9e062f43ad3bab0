import { expect, test } from "vitest";
import { createSetupLink } from "../../../src/service/pages/account/setup.js";
import { BrowserClient, openPages, password, stripOrigin, visibleText } from "./page-fixture.js";

async function openSetup() {
  const site = await openPages();
  const link = await createSetupLink(site.store, "http://127.0.0.1:8080", site.clock.now);
  const guest = new BrowserClient(site.app);
  await guest.get(stripOrigin(link));
  return { ...site, link, guest, token: guest.field("token") };
}

const ada = { email: "ada@example.org", password, again: password };

test("the setup link creates the first account and signs in", async () => {
  const { guest, token, link, store } = await openSetup();
  expect(link).toMatch(/^http:\/\/127\.0\.0\.1:8080\/setup\?token=gfu_[\w-]{43}$/);
  const answer = await guest.post("/setup", { token, ...ada });
  expect([answer.statusCode, answer.headers.location]).toEqual([303, "/profile"]);
  expect(visibleText(guest.page)).toContain("Signed in as ada@example.org");
  const accounts = await store.accounts();
  expect(accounts.map(({ email }) => email)).toEqual(["ada@example.org"]);
  expect(JSON.stringify(accounts)).not.toContain(password);
});

test("the setup link works once", async () => {
  const { app, guest, token, link, store } = await openSetup();
  const other = new BrowserClient(app);
  await other.get(stripOrigin(link));
  await guest.post("/setup", { token, ...ada });
  const answer = await other.post("/setup", { token, ...ada, email: "eve@example.org" });
  expect(answer.statusCode).toBe(404);
  expect(visibleText(answer.body)).toContain("This link cannot be used");
  expect((await other.get(stripOrigin(link))).headers.location).toBe("/sign-in");
  expect(await store.accounts()).toHaveLength(1);
});

test.each([
  ["guessed", () => `gfu_${"A".repeat(43)}`],
  ["empty", () => ""],
])("a setup link that was %s creates no account", async (_, token) => {
  const { guest, store } = await openSetup();
  expect((await guest.post("/setup", { token: token(), ...ada })).statusCode).toBe(404);
  expect((await guest.get(`/setup?token=${token()}`)).statusCode).toBe(404);
  expect(await store.accounts()).toEqual([]);
});

test("the setup link works for a day, and until a new one is created", async () => {
  const { guest, token, clock, store, app } = await openSetup();
  const newLink = async () => stripOrigin(await createSetupLink(store, "http://localhost", clock.now));
  const [late, next] = [new BrowserClient(app), new BrowserClient(app)];
  const expiring = await newLink();
  expect((await guest.post("/setup", { token, ...ada })).statusCode).toBe(404);
  await late.get(expiring);
  clock.now += 24 * 3600 * 1000;
  expect((await late.post("/setup", { token: late.field("token"), ...ada })).statusCode).toBe(404);
  expect((await late.get(expiring)).statusCode).toBe(404);
  await next.get(await newLink());
  expect((await next.post("/setup", { token: next.field("token"), ...ada })).statusCode).toBe(303);
});

test("errors are shown at their fields, input except passwords is kept, and the link stays valid", async () => {
  const { guest, token } = await openSetup();
  const answer = await guest.post("/setup", { token, email: "ada at home", password: "short", again: "short" });
  expect(answer.statusCode).toBe(422);
  expect(answer.body).toContain("<title>Error: Set up · geoferry</title>");
  expect(answer.body).toContain('<a href="#email">');
  expect(answer.body).toContain('<a href="#password">');
  expect(answer.body).toMatch(/<input id="email"[^>]* value="ada at home"[^>]* aria-describedby="email-error"/);
  expect(answer.body).toMatch(
    /<input id="password"[^>]* aria-describedby="password-hint password-error" aria-invalid="true"/,
  );
  expect(answer.body).not.toContain('"short"');
  const differing = await guest.post("/setup", { token, ...ada, again: "another harbour" });
  expect(visibleText(differing.body)).toContain("Enter the same password in both fields");
  expect((await guest.post("/setup", { token, ...ada })).statusCode).toBe(303);
});
