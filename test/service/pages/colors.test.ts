/** Contrast of the pages' colors by WCAG 2.2: at least 4.5 for text (1.4.3), and 3 for controls (1.4.11). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { categories, others, problems, sequence } from "../../../src/cli/view-page/palette-colors.js";
import { root } from "../../support/command.js";

const [sheet, rest] = ["base", "pages"].map((name) =>
  readFileSync(join(root, `src/service/pages/${name}.css`), "utf8"),
) as [string, string];

function coloursIn(text: string): ReadonlyMap<string, string> {
  return new Map([...text.matchAll(/--([\w-]+): (#[\da-f]{6});/g)].map((match) => [match[1]!, match[2]!]));
}

/** Relative luminance (WCAG 2.2, "relative luminance"). */
function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

test("contrast is computed as in WCAG", () => {
  expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 10);
  // The lightest gray that passes on white.
  expect(contrast("#767676", "#ffffff")).toBeCloseTo(4.54, 2);
});

const grounds = ["ground", "raised", "notice", "problem"];
const pairs: [ink: string, ground: string, least: number][] = [
  ...grounds.flatMap((ground): [string, string, number][] => [
    ["ink", ground, 4.5],
    ["quiet", ground, 4.5],
  ]),
  ["accent", "ground", 4.5],
  ["accent", "raised", 4.5],
  ["danger", "ground", 4.5],
  ["danger", "problem", 4.5],
  ["on-accent", "accent", 4.5],
  ["on-danger", "danger", 4.5],
  ["control", "raised", 3],
  ["control", "ground", 3],
  ["mark", "sea", 3],
  ["mark", "land", 3],
  ["chosen", "sea", 3],
  ["chosen", "land", 3],
];

const dark = sheet.indexOf("@media (prefers-color-scheme: dark)");

describe.each([
  ["light", coloursIn(sheet.slice(0, dark))],
  ["dark", coloursIn(sheet.slice(dark))],
])("in %s", (_, colours) => {
  test.each(pairs)("%s on %s has at least the required contrast", (ink, ground, least) => {
    expect(contrast(colours.get(ink)!, colours.get(ground)!)).toBeGreaterThanOrEqual(least);
  });
});

test("all colors are covered", () => {
  const names = new Set([...`${sheet}${rest}`.matchAll(/var\(--([\w-]+)\)/g)].map((match) => match[1]!));
  const found = [...names].filter((name) => !coloursIn(sheet).has(name));
  expect(found.sort()).toEqual(["measure", "mono", "sans"]);
});

test.each(["light", "dark"] as const)("colors of layers and classes of a view are visible in %s", (scheme) => {
  const colours = coloursIn(scheme === "light" ? sheet.slice(0, dark) : sheet.slice(dark));
  const own = [...categories[scheme], ...sequence[scheme], ...others[scheme], problems[scheme]];
  const weak = own.flatMap((colour) =>
    ["sea", "land"].flatMap((ground) => {
      const found = contrast(colour, colours.get(ground)!);
      return found < 3 ? [`${colour} on ${ground}: ${found.toFixed(2)}`] : [];
    }),
  );
  expect(weak).toEqual([]);
});
