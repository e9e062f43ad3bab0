/** The package is built again from a copy of the checkout at another path. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { TemporaryFolder } from "../src/testing/index.js";
import { root } from "./support/command.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

/** The checksum of each file in a folder. */
function checksums(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
  return Object.fromEntries(
    names.sort().map((name) => [
      name,
      createHash("sha256")
        .update(readFileSync(join(folder, name)))
        .digest("hex"),
    ]),
  );
}

test("a build at another path gives the same bytes", () => {
  const copy = scratch.path("copy");
  for (const name of ["package.json", "tsconfig.json", "src", "plugins", "samples", "docs", "LICENSE", "README.md"])
    cpSync(join(root, name), join(copy, name), {
      recursive: true,
      filter: (path) => !/[\\/](node_modules|pages)$/.test(path.slice(root.length)) || path.includes("service/pages"),
    });
  // Hard links where the disk allows them: the packages are large.
  const packages = ["-a", join(root, "node_modules"), join(copy, "node_modules")];
  try {
    execFileSync("cp", ["-l", ...packages], { stdio: "pipe" });
  } catch {
    execFileSync("cp", packages, { stdio: "pipe" });
  }
  execFileSync("npm", ["run", "--silent", "build"], { cwd: copy, stdio: "pipe" });
  const built = checksums(join(copy, "dist"));
  expect(Object.keys(built).length).toBeGreaterThan(150);
  expect(built).toEqual(checksums(join(root, "dist")));
}, 300_000);

test("npm version dates the section of the changelog, and fails without one", () => {
  const changelog = scratch.path("CHANGELOG.md");
  writeFileSync(changelog, "# Changelog\n\n## 1.2.0 (unreleased)\n\n- More.\n\n## 1.1.0 (2026-01-02)\n");
  const date = (version: string) =>
    execFileSync(process.execPath, [join(root, "src/build/date-changelog.mjs"), version, changelog], {
      env: { ...process.env, SOURCE_DATE_EPOCH: "1796083200" },
      stdio: "pipe",
    });
  date("1.2.0");
  date("1.1.0");
  // date -u -d @1796083200
  expect(readFileSync(changelog, "utf8")).toBe(
    "# Changelog\n\n## 1.2.0 (2026-12-01)\n\n- More.\n\n## 1.1.0 (2026-01-02)\n",
  );
  expect(() => date("1.3.0")).toThrow('CHANGELOG.md has no section "## 1.3.0 (unreleased)"');
});
