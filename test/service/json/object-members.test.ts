import fc from "fast-check";
import { expect, test } from "vitest";
import { readMember } from "../../../src/service/json/object-members.js";
import { mergeProperties } from "../../../src/service/store/merge-properties.js";

const name = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("a", "b", "7", "10", "4294967294", "4294967295", "007", "__proto__"),
);
const properties = fc.dictionary(name, fc.jsonValue({ maxDepth: 2 }), { noNullPrototype: true });

/** Merges parsed objects; uses a `Map`, since `__proto__` is an ordinary name. */
function merged(stored: string, change: string): string {
  const members = new Map<string, unknown>(Object.entries(JSON.parse(stored)));
  for (const [one, value] of Object.entries(JSON.parse(change))) {
    if (value === null) members.delete(one);
    else members.set(one, value);
  }
  return JSON.stringify(Object.fromEntries(members));
}

test("merging texts equals merging parsed objects, including the order", () => {
  fc.assert(
    fc.property(properties, properties, (one, other) => {
      const [stored, change] = [JSON.stringify(one), JSON.stringify(other)];
      expect(mergeProperties(stored, change)).toBe(merged(stored, change));
    }),
    { numRuns: 1000 },
  );
});

test("a member is found by its exact name only", () => {
  const text = JSON.stringify({
    a: { ref: 1 },
    'b"ref': '"ref":2',
    list: ["ref", 3],
    ref: "it",
    'q"': 'say "x"',
    last: -4.5,
  });
  expect(readMember(text, "ref")).toBe("it");
  expect(readMember(text, 'q"')).toBe('say "x"');
  expect(readMember(text, "last")).toBe(-4.5);
  expect(readMember(text, "a")).toEqual({ ref: 1 });
  expect(readMember('{"a":{"ref":1}}', "ref")).toBe(undefined);
  expect(readMember("{}", "ref")).toBe(undefined);
  fc.assert(
    fc.property(properties, name, (all, one) => {
      const found = Object.hasOwn(all, one) ? JSON.parse(JSON.stringify(all))[one] : undefined;
      if (one !== "__proto__") expect(readMember(JSON.stringify(all), one)).toEqual(found);
    }),
  );
});
