/** What importing the library loads: formats, jobs and clients of databases come when they are needed. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/command.js";

/** Files and packages that a built module imports, and those that these import, and so on; not those on demand. */
function loadedBy(entry: string): { readonly files: Set<string>; readonly packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const visit = (path: string) => {
    if (files.has(path)) return;
    files.add(path);
    for (const [, target] of readFileSync(path, "utf8").matchAll(/^(?:import|export)\b[^;]*?from\s*"([^"]+)"/gm))
      if (target!.startsWith(".")) visit(join(dirname(path), target!));
      else if (!target!.startsWith("node:")) packages.add(target!);
  };
  visit(join(root, entry));
  return { files, packages };
}

test("importing the library loads no code of a format and no large package", () => {
  const { files, packages } = loadedBy("dist/src/index.js");
  expect(files.size).toBeGreaterThan(3);
  expect([...packages].sort()).toEqual(["p-limit", "uuid"].filter((name) => packages.has(name)));
  expect([...files].filter((path) => /plugins\/\w+\/(reader|writer)/.test(path))).toEqual([]);
});
