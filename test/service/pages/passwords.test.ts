import { hash, parseOptions, verify } from "@node-rs/argon2";
import { describe, expect, test } from "vitest";
import { dummyHash, findPasswordProblem, hashPassword, verifyPassword } from "../../../src/service/auth/passwords.js";

describe("a password", () => {
  test("is stored as Argon2id with the parameters of OWASP, and verified", async () => {
    const hash = await hashPassword("a quiet harbour");
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await verifyPassword(hash, "a quiet harbour")).toBe(true);
    expect(await verifyPassword(hash, "a quiet harbor")).toBe(false);
  });

  test("has the same hash as with another implementation of Argon2id, in both directions", async () => {
    expect(await verify(await hashPassword("a quiet harbour"), "a quiet harbour")).toBe(true);
    const foreign = await hash("a quiet harbour", { memoryCost: 8192, timeCost: 3, parallelism: 2 });
    expect(await verifyPassword(foreign, "a quiet harbour")).toBe(true);
    expect(await verifyPassword(foreign, "a quiet harbor")).toBe(false);
  });

  test("is the same with composed and decomposed accents", async () => {
    const hash = await hashPassword("Cr\u00eape Suzette");
    expect(await verifyPassword(hash, "Cre\u0302pe Suzette")).toBe(true);
  });

  test("of an unknown account costs as much as of a known one, and never matches", async () => {
    expect(parseOptions(dummyHash)).toEqual(parseOptions(await hashPassword("a quiet harbour")));
    expect(await verifyPassword(null, "a quiet harbour")).toBe(false);
    expect(await verifyPassword(null, "")).toBe(false);
  });

  test("of any length is compared", async () => {
    expect(await verifyPassword(await hashPassword("a quiet harbour"), "a".repeat(60_000))).toBe(false);
    const longest = "\u{1f6a2}".repeat(256);
    expect(await verifyPassword(await hashPassword(longest), longest)).toBe(true);
  });

  test.each([
    ["seven77", "needs at least 8"],
    ["x".repeat(257), "at most 256"],
    ["aaaaaaaaaa", "must not repeat a single character"],
    ["Ada@Example.org", "must not be the email"],
    ["lovelace", "must not be the email", "lovelace@example.org"],
  ])("%s is rejected", (password, reason, email = "ada@example.org") => {
    expect(findPasswordProblem(password, email)).toContain(reason);
  });

  test("with words of any script is accepted", () => {
    expect(findPasswordProblem("a quiet harbour", "ada@example.org")).toBeNull();
    expect(findPasswordProblem("静かな港の朝の光", "ada@example.org")).toBeNull();
  });
});
