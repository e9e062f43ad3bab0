import { describe, expect, test } from "vitest";
import { BrowserClient, openPages, openPagesAs, password, visibleText } from "./page-fixture.js";

async function openSignIn(dependencies = {}) {
  const site = await openPagesAs("ada@example.org", dependencies);
  const guest = new BrowserClient(site.app);
  await guest.get("/sign-in");
  return { ...site, guest };
}

/** A page without the parts that differ each time. */
const withoutVariableParts = (page: string) => page.replace(/name="token-of-form" value="[^"]*"/g, "");

test("the right password signs in, with the email address in any letter case", async () => {
  const { guest, store } = await openSignIn();
  const answer = await guest.post("/sign-in", { email: " Ada@EXAMPLE.org ", password });
  expect([answer.statusCode, answer.headers.location]).toEqual([303, "/maps"]);
  expect(guest.page).toContain("<h1>Maps</h1>");
  const [account] = await store.accounts();
  const entries = await store.auditEntries({ account: account!.id, limit: 10 });
  expect(entries[0]).toMatchObject({ action: "login", address: "127.0.0.1" });
});

test("a wrong password and an unknown email address get the same response", async () => {
  const { guest, store } = await openSignIn();
  const wrong = await guest.post("/sign-in", { email: "ada@example.org", password: "wrong password" });
  const unknown = await guest.post("/sign-in", { email: "eve@example.org", password: "wrong password" });
  expect(wrong.statusCode).toBe(403);
  expect(unknown.statusCode).toBe(403);
  expect(withoutVariableParts(unknown.body)).toBe(
    withoutVariableParts(wrong.body).replace("ada@example.org", "eve@example.org"),
  );
  expect(visibleText(wrong.body)).toContain("The email address or the password is wrong.");
  expect(wrong.body).not.toContain("wrong password");
  const failures = (await store.auditEntries({ limit: 10 })).filter(({ action }) => action === "login-failed");
  expect(failures.map(({ account }) => account === null)).toEqual([true, false]);
});

test("a password that changes while it is checked does not sign in", async () => {
  const { guest, store } = await openSignIn();
  const [account] = await store.accounts();
  const audit = store.audit.bind(store);
  store.audit = async (entry) => {
    // Between the check and the session.
    if (entry.action === "login") await store.setPassword({ account: account!.id, passwordHash: "$argon2id$another" });
    return audit(entry);
  };
  const answer = await guest.post("/sign-in", { email: "ada@example.org", password });
  expect(answer.statusCode).toBe(403);
  const profile = await guest.get("/profile");
  expect(profile.headers.location).toBe("/sign-in?next=%2Fprofile");
});

describe("after ten wrong passwords", () => {
  async function tenTimes(email: string) {
    const visit = await openSignIn();
    for (let i = 0; i < 10; i++) {
      const answer = await visit.guest.post("/sign-in", { email, password: `wrong ${i}` });
      expect(answer.statusCode).toBe(403);
    }
    return visit;
  }

  test("even the right one is rejected for 15 minutes", async () => {
    const { guest, clock } = await tenTimes("ada@example.org");
    const answer = await guest.post("/sign-in", { email: "ADA@example.org", password });
    expect(answer.statusCode).toBe(429);
    expect(Number(answer.headers["retry-after"])).toBe(900);
    expect(visibleText(answer.body)).toContain("Try again in 15 minutes.");
    clock.now += 900_000;
    expect((await guest.post("/sign-in", { email: "ada@example.org", password })).statusCode).toBe(303);
  });

  test("an unknown email address is rejected as well", async () => {
    const { guest } = await tenTimes("eve@example.org");
    const answer = await guest.post("/sign-in", { email: "eve@example.org", password });
    expect(answer.statusCode).toBe(429);
    expect(visibleText(answer.body)).toContain("Try again in 15 minutes.");
  });

  test("clients at other addresses can sign in", async () => {
    const { app } = await tenTimes("ada@example.org");
    const elsewhere = new BrowserClient(app, { remoteAddress: "192.0.2.7" });
    await elsewhere.get("/sign-in");
    expect((await elsewhere.post("/sign-in", { email: "ada@example.org", password })).statusCode).toBe(303);
  });
});

test("concurrent attempts count, too", async () => {
  const { guest, store } = await openSignIn();
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, i) => guest.post("/sign-in", { email: "ada@example.org", password: `wrong ${i}` })),
  );
  const refused = answers.filter(({ statusCode }) => statusCode === 429).length;
  expect(refused).toBeGreaterThanOrEqual(29);
  const failures = (await store.auditEntries({ limit: 100 })).filter(({ action }) => action === "login-failed");
  expect(failures.length).toBe(40 - refused);
});

test("an address that fails with many email addresses is rejected for all of them", async () => {
  const { guest } = await openSignIn({ settings: { attemptsPerAddress: 5 } });
  for (let i = 0; i < 5; i++) await guest.post("/sign-in", { email: `${i}@example.org`, password: "wrong password" });
  expect((await guest.post("/sign-in", { email: "ada@example.org", password })).statusCode).toBe(429);
});

test("failures are forgotten after the right password", async () => {
  const { guest, app } = await openSignIn();
  for (let i = 0; i < 9; i++) await guest.post("/sign-in", { email: "ada@example.org", password: "wrong password" });
  expect((await guest.post("/sign-in", { email: "ada@example.org", password })).statusCode).toBe(303);
  const again = new BrowserClient(app);
  await again.get("/sign-in");
  for (let i = 0; i < 9; i++) await again.post("/sign-in", { email: "ada@example.org", password: "wrong password" });
  expect((await again.post("/sign-in", { email: "ada@example.org", password })).statusCode).toBe(303);
});

test("signing in returns to the requested page", async () => {
  const { guest } = await openSignIn();
  const answer = await guest.get("/profile");
  expect(answer.headers.location).toBe("/sign-in?next=%2Fprofile");
  await guest.get("/sign-in?next=%2Fprofile");
  const next = guest.field("next");
  const signedIn = await guest.post("/sign-in", { email: "ada@example.org", password, next });
  expect(signedIn.headers.location).toBe("/profile");
});

test.each([
  "https://evil.example/",
  "//evil.example/maps",
  "/\\evil.example",
  "/maps//evil.example:x@",
  "javascript:alert(1)",
  "/maps/\r\nSet-Cookie: a=b",
])("signing in does not redirect to %j", async (next) => {
  const { guest } = await openSignIn();
  await guest.get(`/sign-in?next=${encodeURIComponent(next)}`);
  const answer = await guest.post("/sign-in", { email: "ada@example.org", password, next });
  const { location } = answer.headers;
  expect(new URL(String(location), "http://localhost").origin).toBe("http://localhost");
});

test("a form that is submitted after the session ended changes nothing and shows a notice", async () => {
  const { owner, clock, store } = await openPagesAs("ada@example.org");
  await owner.get("/maps");
  clock.now += 24 * 3600 * 1000;
  const answer = await owner.post("/maps", { name: "Places" });
  expect(answer.headers.location).toBe("/sign-in");
  expect(visibleText(owner.page)).toContain("You were signed out, and nothing was changed.");
  const [account] = await store.accounts();
  expect(await store.maps({ account: account!.id, scope: "readable" })).toEqual([]);
});

test("without an account, the page says where to find the setup link", async () => {
  const { app } = await openPages();
  const guest = new BrowserClient(app);
  await guest.get("/");
  await guest.get("/sign-in");
  expect(visibleText(guest.page)).toContain("There is no account yet.");
});

test("other spellings of an email address allow no further attempts", async () => {
  const { app } = await openPagesAs("zo\u00eb@example.org");
  const guest = new BrowserClient(app);
  await guest.get("/sign-in");
  const spellings = ["zo\u00eb@example.org", "zoe\u0308@example.org", "ZO\u00cb@example.org", " zo\u00eb@EXAMPLE.org "];
  for (let i = 0; i < 10; i++) await guest.post("/sign-in", { email: spellings[i % 4]!, password: "wrong password" });
  for (const email of spellings) expect((await guest.post("/sign-in", { email, password })).statusCode).toBe(429);
});
