import { hash, parseOptions, verify } from "@node-rs/argon2";
import { describe, expect, test } from "vitest";
import { dummyHash, findPasswordProblem, hashPassword, verifyPassword } from "../../../src/service/auth/passwords.js";

describe("a password", () => {
  test("is kept as argon2id of OWASP's parameters and found right again", async () => {
    const hash = await hashPassword("a quiet harbour");
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await verifyPassword(hash, "a quiet harbour")).toBe(true);
    expect(await verifyPassword(hash, "a quiet harbor")).toBe(false);
  });

  test("is hashed as another implementation of Argon2id does, both ways", async () => {
    expect(await verify(await hashPassword("a quiet harbour"), "a quiet harbour")).toBe(true);
    const foreign = await hash("a quiet harbour", { memoryCost: 8192, timeCost: 3, parallelism: 2 });
    expect(await verifyPassword(foreign, "a quiet harbour")).toBe(true);
    expect(await verifyPassword(foreign, "a quiet harbor")).toBe(false);
  });

  test("is the same however its accents were typed", async () => {
    const hash = await hashPassword("Cr\u00eape Suzette");
    expect(await verifyPassword(hash, "Cre\u0302pe Suzette")).toBe(true);
  });

  test("of no one costs as much as that of an account, and is never right", async () => {
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
    ["aaaaaaaaaa", "more than one character"],
    ["Ada@Example.org", "must not be the email"],
    ["lovelace", "must not be the email", "lovelace@example.org"],
  ])("%s is not taken", (password, reason, email = "ada@example.org") => {
    expect(findPasswordProblem(password, email)).toContain(reason);
  });

  test("of words is taken, in any script", () => {
    expect(findPasswordProblem("a quiet harbour", "ada@example.org")).toBeNull();
    expect(findPasswordProblem("静かな港の朝の光", "ada@example.org")).toBeNull();
  });
});
