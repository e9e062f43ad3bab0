import fc from "fast-check";
import { expect, test } from "vitest";
import { nearestName } from "../src/nearest-name.js";

const known = ["name", "population", "country", "pop_max", "overwrite", "update"];

test.each([
  ["nmae", "name"],
  ["nam", "name"],
  ["names", "name"],
  ["NAME", "name"],
  ["popluation", "population"],
  ["popultion", "population"],
  ["contry", "country"],
  ["overwite", "overwrite"],
  ["updaet", "update"],
])("the nearest name to %s is %s", (typed, name) => {
  expect(nearestName(typed, known)).toBe(name);
});

test.each(["", "x", "elevation", "pop", "mean", "n".repeat(10_000)])("%s has no near name", (typed) => {
  expect(nearestName(typed, known)).toBeNull();
});

test("the nearest of several names is found, or the first of equally near ones", () => {
  expect(nearestName("street2", ["street_11", "street1", "street3"])).toBe("street1");
  expect(nearestName("id", ["ids", "ID"])).toBe("ID");
});

test("one wrong letter in a name of three letters or more is recognized", () => {
  const names = fc.string({ unit: fc.constantFrom(..."abcdefgh"), minLength: 4, maxLength: 30 });
  fc.assert(
    fc.property(names, fc.nat(), fc.constantFrom("left out", "doubled", "exchanged"), (name, at, slip) => {
      const i = at % (name.length - 1);
      const middle =
        slip === "left out"
          ? name[i + 1]!
          : slip === "doubled"
            ? name[i]!.repeat(2) + name[i + 1]
            : name[i + 1]! + name[i];
      expect(nearestName(name.slice(0, i) + middle + name.slice(i + 2), ["0123456789", name])).toBe(name);
    }),
  );
});
