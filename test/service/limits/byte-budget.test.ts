import { expect, test } from "vitest";
import { ByteBudget } from "../../../src/service/limits/byte-budget.js";

test("an account may hold half of what the others leave free, so that further accounts find room", () => {
  const budget = new ByteBudget(1000);
  const takes = (account: string) => {
    let count = 0;
    while (budget.take(account, 10)) count++;
    return count;
  };
  expect(takes("ann")).toBe(50);
  expect(takes("bob")).toBe(25);
  expect(takes("cy")).toBe(12);
  expect(budget.used).toBe(870);
});

test("released bytes are free again, even if released twice", () => {
  const budget = new ByteBudget(100);
  const first = budget.take("ann", 30)!;
  const second = budget.take("ann", 20)!;
  expect(budget.take("ann", 20)).toBeNull();
  first();
  first();
  expect(budget.used).toBe(20);
  expect(budget.take("ann", 20)).not.toBeNull();
  second();
});

test("a part of the bytes can be returned early", () => {
  const budget = new ByteBudget(100);
  const release = budget.take("ann", 80)!;
  release(30);
  expect(budget.used).toBe(30);
  release(50);
  expect(budget.used).toBe(30);
  release();
  release();
  expect(budget.used).toBe(0);
});

test("an account that holds nothing may take all free bytes, and more than the budget if it is alone", () => {
  const budget = new ByteBudget(100);
  const large = budget.take("ann", 500)!;
  expect(budget.take("bob", 1)).toBeNull();
  large();
  expect(budget.take("bob", 1)).not.toBeNull();
  expect(budget.take("ann", 99)).not.toBeNull();
});

test("a request waits for room, and is rejected with 503 after the time limit", async () => {
  const budget = new ByteBudget(100);
  let refused = 0;
  budget.onRefused = () => refused++;
  const release = budget.take("ann", 90)!;
  await expect(budget.wait("bob", 50, 0)).rejects.toMatchObject({ code: "overloaded", statusCode: 503 });
  expect(refused).toBe(1);
  const waiting = budget.wait("bob", 50, 60_000);
  release();
  (await waiting)();
  expect(budget.used).toBe(0);
});

test("requests of an account are admitted in order, and other accounts are not blocked by a large request", async () => {
  const budget = new ByteBudget(100);
  const all = budget.take("ann", 100)!;
  const got: string[] = [];
  const releases: (() => void)[] = [];
  const wait = (account: string, bytes: number) =>
    budget.wait(account, bytes, 60_000).then((release) => {
      got.push(`${account} ${bytes}`);
      releases.push(release);
    });
  const waiting = [wait("ann", 90), wait("ann", 5), wait("bob", 20)];
  all();
  await Promise.all([waiting[0]]);
  expect(got).toEqual(["ann 90"]);
  releases[0]!();
  await Promise.all(waiting);
  expect(got).toEqual(["ann 90", "ann 5", "bob 20"]);
});

test("a cancelled request makes room for those behind", async () => {
  const budget = new ByteBudget(100);
  const held = budget.take("bob", 60)!;
  let leave = () => {};
  const large = budget.wait("ann", 90, 60_000, (give) => {
    leave = give;
  });
  const small = budget.wait("ann", 10, 60_000);
  leave();
  await expect(large).rejects.toMatchObject({ code: "overloaded" });
  (await small)();
  held();
  expect(budget.used).toBe(0);
});

test("at most 256 requests of an account wait", async () => {
  const budget = new ByteBudget(100);
  const held = budget.take("ann", 100)!;
  const waiting = Array.from({ length: 256 }, () => budget.wait("ann", 1, 60_000));
  await expect(budget.wait("ann", 1, 60_000)).rejects.toMatchObject({ code: "overloaded" });
  const other = budget.wait("bob", 1, 60_000);
  held();
  for (const release of await Promise.all([...waiting.slice(0, 1), other])) release();
});
