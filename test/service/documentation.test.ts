/**
 * Compares docs/service.md with the code. `npx vitest run test/service/documentation.test.ts -u` updates its tables.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { problems } from "../../src/service/http/problems.js";
import { defaultSettings } from "../../src/service/settings.js";
import { root } from "../support/command.js";
import { fillSections, table } from "../support/markdown.js";

const read = (...path: readonly string[]): string => readFileSync(join(root, ...path), "utf8");

/** Tests whose name starts with a section of the specification. */
const specified = readdirSync(join(root, "test", "service", "interface"))
  .filter((file) => file.endsWith(".test.ts"))
  .flatMap((file) => {
    const found = read("test", "service", "interface", file).matchAll(/\(\s*"(\d(?:\.\d)?) ((?:[^"\\]|\\.)*)",/g);
    return [...found].map(([, section, name]) => ({ section: section!, name: name!, file }));
  })
  .sort((a, b) => a.section.localeCompare(b.section) || a.file.localeCompare(b.file));

function specification(): string {
  const rows = specified.map(({ section, name }) => [section, name]);
  return table(["section", "test"], rows);
}

/** The message of an error, with the names of its details as placeholders. */
function problemTable(): string {
  const details = new Proxy({}, { get: (_, name) => `*${String(name)}*` });
  const rows = Object.entries(problems).map(([code, { status, message }]) => [
    `\`${code}\``,
    String(status),
    (message as (details: object) => string)(details),
  ]);
  return table(["code", "status", "message"], rows);
}

function settingTable(): string {
  const meanings = [...read("src", "service", "settings.ts").matchAll(/\/\*\* ([^/]*?) \*\/\s+readonly (\w+):/g)];
  const rows = meanings.map(([, meaning, name]) => [
    `\`${name}\``,
    String(defaultSettings[name as keyof typeof defaultSettings]),
    meaning!.replace(/\s*\n\s*\*\s*/g, " "),
  ]);
  expect(rows.map(([name]) => name)).toEqual(Object.keys(defaultSettings).map((name) => `\`${name}\``));
  return table(["setting", "default", ""], rows);
}

describe("docs/service.md", () => {
  test("lists all errors, limits and tests", async () => {
    const parts = { problems: problemTable(), settings: settingTable(), specification: specification() };
    await expect(fillSections(read("docs", "service.md"), parts)).toMatchFileSnapshot("../../docs/service.md");
  });

  test("each normative section of the specification has a test", () => {
    const sections = [
      "1",
      "2.1",
      "2.2",
      "2.3",
      "2.4",
      "2.5",
      "4.1",
      "4.2",
      "4.3",
      "4.4",
      "4.5",
      "4.6",
      "5",
      "7",
      "8",
      "9",
    ];
    expect([...new Set(specified.map(({ section }) => section))]).toEqual(sections);
  });
});
