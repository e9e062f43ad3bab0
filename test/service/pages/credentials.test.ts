import { expect, test } from "vitest";
import { hashPassword } from "../../../src/service/auth/passwords.js";
import { BrowserClient, openPagesAs, password, visibleText } from "./page-fixture.js";

const secretOn = (page: string) => /gfs_[\w-]{43}/.exec(page)?.[0];

async function openCredential() {
  const site = await openPagesAs("ada@example.org");
  await site.owner.get("/profile");
  const answer = await site.owner.post("/profile/credentials", { name: " nightly job " });
  const [account] = await site.store.accounts();
  const [credential] = await site.store.credentials(account!.id);
  return { ...site, answer, account: account!, credential: credential! };
}

const tokenRequest = (clientId: string, clientSecret: string) =>
  ({
    method: "POST",
    url: "/token",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    payload: new URLSearchParams({
      grant_type: "client_credentials_with_user",
      client_id: clientId,
      client_secret: clientSecret,
    }).toString(),
  }) as const;

test("a new secret is shown once, and gets a token", async () => {
  const { app, owner, answer, credential } = await openCredential();
  expect([answer.statusCode, answer.headers.location]).toEqual([303, "/profile"]);
  const secret = secretOn(owner.page)!;
  expect(visibleText(owner.page)).toContain("New credential: nightly job");
  expect(owner.page).toContain(`export GEOFERRY_CLIENT_SECRET=${secret}`);
  expect(secretOn((await owner.get("/profile")).body)).toBeUndefined();

  const token = await app.inject(tokenRequest(credential.clientId, secret));
  expect(token.json()).toMatchObject({ token_type: "Bearer", expires_in: 3600 });
  expect(visibleText((await owner.get("/profile")).body)).toMatch(/nightly job .* 21 Nov 2026, 12:00 UTC .* Revoke/);
});

test("an unused credential is shown as such", async () => {
  const { owner } = await openCredential();
  expect(owner.page).toContain('<td data-label="Last used">never</td>');
});

test("the secret is transferred to its page encrypted", async () => {
  const { owner, answer } = await openCredential();
  const cookie = answer.cookies.find(({ name }) => name.includes("notice"))!;
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Lax", path: "/" });
  const secret = secretOn(owner.page)!;
  expect(cookie.value).not.toContain(secret);
  expect(Buffer.from(cookie.value, "base64url").toString("latin1")).not.toContain(secret);
});

test("a notice of another browser, or a modified one, is not shown", async () => {
  const { app, answer } = await openCredential();
  const cookie = answer.cookies.find(({ name }) => name.includes("notice"))!;
  const other = new BrowserClient(app);
  for (const value of [cookie.value, cookie.value.slice(1), "x", ""]) {
    await other.get("/sign-in");
    other.cookies.set(cookie.name, value);
    const page = await other.get("/sign-in");
    expect(page.statusCode).toBe(200);
    expect(page.body).not.toContain('class="notice"');
  }
});

test("a revoked credential gets no token, and its tokens are rejected at once", async () => {
  const { app, owner, credential } = await openCredential();
  const secret = secretOn(owner.page)!;
  const { access_token } = (await app.inject(tokenRequest(credential.clientId, secret))).json();
  const maps = { url: "/api/v1/maps", headers: { authorization: `Bearer ${access_token}` } };
  expect((await app.inject(maps)).statusCode).toBe(200);

  const revoke = `/profile/credentials/${credential.id}/revoke`;
  const question = await owner.get(revoke);
  expect(visibleText(question.body)).toContain("Revoke nightly job?");
  await owner.post(revoke);
  expect(visibleText(owner.page)).toContain("The credential nightly job was revoked.");
  expect(visibleText(owner.page)).toContain("Revoked (1)");
  expect((await app.inject(maps)).statusCode).toBe(401);
  expect((await app.inject(tokenRequest(credential.clientId, secret))).statusCode).toBe(401);
  expect((await owner.get(revoke)).statusCode).toBe(404);
});

test("credentials of other accounts cannot be seen or revoked", async () => {
  const { app, store, clock, credential } = await openCredential();
  const id = "0190a0e0-0000-7000-8000-00000000000e";
  await store.addAccount({
    id,
    email: "eve@example.org",
    name: "",
    passwordHash: await hashPassword(password),
    created: clock.now,
  });
  const eve = new BrowserClient(app);
  await eve.get("/sign-in");
  await eve.post("/sign-in", { email: "eve@example.org", password });
  await eve.get("/profile");
  expect(eve.page).not.toContain(credential.clientId);
  const answer = await eve.post(`/profile/credentials/${credential.id}/revoke`);
  expect(answer.statusCode).toBe(404);
  expect((await store.credentials(credential.account))[0]!.revoked).toBeNull();
});

test.each([
  ["", "Enter a name for the credential"],
  ["x".repeat(201), "Use at most 200 characters"],
  ["tab\there", "Remove line breaks and control characters"],
])("the name %j is rejected", async (name, reason) => {
  const { owner, store, account } = await openCredential();
  await owner.get("/profile");
  const answer = await owner.post("/profile/credentials", { name });
  expect(answer.statusCode).toBe(422);
  expect(visibleText(answer.body)).toContain(reason);
  expect(await store.credentials(account.id)).toHaveLength(1);
});

test("changing the password requires the current password", async () => {
  const { app, owner } = await openCredential();
  await owner.get("/profile");
  const wrong = await owner.post("/profile/password", { current: "wrong password", password: "another harbour" });
  expect(wrong.statusCode).toBe(422);
  expect(visibleText(wrong.body)).toContain("Enter your current password");
  const short = await owner.post("/profile/password", { current: password, password: "short" });
  expect(visibleText(short.body)).toContain("The password needs at least 8 characters");
  expect((await owner.post("/profile/password", { current: password, password: "another harbour" })).statusCode).toBe(
    303,
  );

  const guest = new BrowserClient(app);
  await guest.get("/sign-in");
  expect((await guest.post("/sign-in", { email: "ada@example.org", password })).statusCode).toBe(403);
  expect((await guest.post("/sign-in", { email: "ada@example.org", password: "another harbour" })).statusCode).toBe(
    303,
  );
});

test("guessing the current password on the profile page is limited like signing in", async () => {
  const { owner } = await openCredential();
  await owner.get("/profile");
  const guess = () => owner.post("/profile/password", { current: "wrong password", password: "another harbour" });
  for (let i = 0; i < 10; i++) expect((await guess()).statusCode).toBe(422);
  const answer = await owner.post("/profile/password", { current: password, password: "another harbour" });
  expect(answer.statusCode).toBe(429);
  expect(answer.headers["retry-after"]).toBe("900");
});

test("an account has 200 credentials at most, and the profile shows 50 revoked ones", async () => {
  const { owner, store, account, credential, clock } = await openCredential();
  const add = (n: number, revoked: number | null) => {
    const id = `0190a0e0-0000-7000-9000-${String(n).padStart(12, "0")}`;
    const facts = { id, name: `number ${n}`, clientId: `gfc_${n}`, created: clock.now - n, lastUsed: null, revoked };
    return store.addCredential({ ...credential, ...facts, secretHash: new Uint8Array(32) });
  };
  for (let n = 1; n < 200; n++) await add(n, null);
  for (let n = 200; n < 300; n++) {
    await add(n, null);
    await store.revokeCredential({
      account: account.id,
      credential: `0190a0e0-0000-7000-9000-${String(n).padStart(12, "0")}`,
      now: clock.now,
    });
  }
  await owner.get("/profile");
  expect(owner.page.match(/<li><bdi>number \d+<\/bdi> <code>/g)?.length).toBe(50);
  const refused = await owner.post("/profile/credentials", { name: "one more" });
  expect(refused.statusCode).toBe(422);
  expect(visibleText(refused.body)).toContain("There are 200 credentials: revoke one that is not needed any more");
});
