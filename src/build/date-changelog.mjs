/**
 * Dates the section of the changelog that a release is about to get: run by `npm version`. Fails where the changelog has
 * no section of that version, so that no release goes out without its notes.
 *
 *   node src/build/date-changelog.mjs [VERSION] [FILE]
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };

const [version = manifest.version, file = join(import.meta.dirname, "..", "..", "CHANGELOG.md")] =
  process.argv.slice(2);
const text = readFileSync(file, "utf8");
const heading = text.split("\n").find((line) => line === `## ${version}` || line.startsWith(`## ${version} (`));
if (heading === undefined) {
  console.error(`CHANGELOG.md has no section "## ${version} (unreleased)": write it, then run npm version again`);
  process.exit(1);
}
// The day in UTC, or that of SOURCE_DATE_EPOCH (reproducible-builds.org).
const epoch = process.env.SOURCE_DATE_EPOCH;
const day = new Date(epoch === undefined ? Date.now() : Number(epoch) * 1000).toISOString().slice(0, 10);
if (heading.endsWith("(unreleased)")) writeFileSync(file, text.replace(heading, `## ${version} (${day})`));
