import { expect, test } from "vitest";
import { BrowserClient, openPagesAs, password, visibleText } from "./page-fixture.js";

const hour = 3600 * 1000;
const cookieName = "geoferry-browser-80";

test("an idle session ends after eight hours", async () => {
  const { owner, clock } = await openPagesAs("ada@example.org");
  clock.now += 8 * hour - 1;
  expect((await owner.get("/profile")).statusCode).toBe(200);
  clock.now += 8 * hour;
  const answer = await owner.get("/profile");
  expect(answer.statusCode).toBe(303);
  expect(answer.headers.location).toBe("/sign-in?next=%2Fprofile");
});

test("an active session ends after seven days", async () => {
  const { owner, clock } = await openPagesAs("ada@example.org");
  const start = clock.now;
  while (clock.now + 7 * hour < start + 7 * 24 * hour) {
    clock.now += 7 * hour;
    expect((await owner.get("/maps")).statusCode).toBe(200);
  }
  clock.now = start + 7 * 24 * hour;
  expect((await owner.get("/maps")).statusCode).toBe(303);
});

test("a session that a clock ahead of time started ends once the clock is corrected", async () => {
  const { owner, clock } = await openPagesAs("ada@example.org");
  expect((await owner.get("/maps")).statusCode).toBe(200);
  clock.now -= 365 * 24 * hour;
  expect((await owner.get("/maps")).statusCode).toBe(303);
});

test("session lifetimes can be configured", async () => {
  const settings = { sessionIdleSeconds: 60, sessionSeconds: 90 };
  const { owner, clock } = await openPagesAs("ada@example.org", { settings });
  clock.now += 59_000;
  expect((await owner.get("/maps")).statusCode).toBe(200);
  clock.now += 32_000;
  expect((await owner.get("/maps")).statusCode).toBe(303);
});

test("signing in creates a new session token, and a planted one is worthless", async () => {
  const { app } = await openPagesAs("ada@example.org");
  const planted = new BrowserClient(app);
  await planted.get("/sign-in");
  const before = planted.cookies.get(cookieName)!;
  const victim = new BrowserClient(app);
  victim.cookies.set(cookieName, before);
  await victim.get("/sign-in");
  expect(victim.cookies.get(cookieName)).toBe(before);
  await victim.post("/sign-in", { email: "ada@example.org", password });
  expect(victim.cookies.get(cookieName)).not.toBe(before);
  expect((await victim.get("/profile")).statusCode).toBe(200);
  expect((await planted.get("/profile")).statusCode).toBe(303);
});

test("signing in again ends the previous session", async () => {
  const { app, owner } = await openPagesAs("ada@example.org");
  const old = new BrowserClient(app);
  for (const [name, value] of owner.cookies) old.cookies.set(name, value);
  await owner.get("/profile");
  await owner.post("/profile/password", { current: password, password: "another harbour" });
  expect(visibleText(owner.page)).toContain("The password was changed");
  expect((await old.get("/profile")).statusCode).toBe(303);
});

test("after signing out, the session token is worthless", async () => {
  const { app, owner } = await openPagesAs("ada@example.org");
  const thief = new BrowserClient(app);
  for (const [name, value] of owner.cookies) thief.cookies.set(name, value);
  expect((await thief.get("/profile")).statusCode).toBe(200);
  await owner.post("/sign-out");
  expect(visibleText(owner.page)).toContain("You are signed out.");
  expect((await thief.get("/profile")).statusCode).toBe(303);
});

test("a forged session token is rejected", async () => {
  const { app } = await openPagesAs("ada@example.org");
  const guest = new BrowserClient(app);
  for (const value of ["", "x", `gfn_${"A".repeat(43)}`, "gfn_'; drop table sessions --"]) {
    guest.cookies.set(cookieName, encodeURIComponent(value));
    expect((await guest.get("/profile")).statusCode).toBe(303);
  }
});
