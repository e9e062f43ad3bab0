import { expect, test } from "vitest";
import { ByteBudget } from "../../src/service/byte-budget.js";

test("an account holds half of what the others leave free, and more accounts find room", () => {
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

test("what is given back is free again, however often it is given back", () => {
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

test("an account that holds nothing gets what is free, and alone even more than there is", () => {
  const budget = new ByteBudget(100);
  const large = budget.take("ann", 500)!;
  expect(budget.take("bob", 1)).toBeNull();
  large();
  expect(budget.take("bob", 1)).not.toBeNull();
  expect(budget.take("ann", 99)).not.toBeNull();
});

test("a request waits for room, and is refused with 503 where there is none in time", async () => {
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
