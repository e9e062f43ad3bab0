/**
 * Rounds of two and of five clients that push to one map at once, on each kind of store, on several processes of the
 * service, and without entity tags: any number of them (test/sync/chaos/rounds.test.ts plays a few with every test).
 *
 *   npm run rounds -- [--rounds 200] [--without-tags 100] [--seed 1] [--report rounds.ndjson]
 *
 * It prints the outcomes, and fails if a feature is duplicated, missing, or differs from all sources.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values: flags } = parseArgs({
  options: {
    rounds: { type: "string", default: "200" },
    "without-tags": { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    report: { type: "string" },
  },
});
const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
const folder = mkdtempSync(join(tmpdir(), "geoferry-rounds-"));
const report = resolve(flags.report ?? join(folder, "rounds.ndjson"));
writeFileSync(report, "");

const { status } = spawnSync(
  process.execPath,
  [join(root, "node_modules/vitest/vitest.mjs"), "run", "test/sync/chaos/rounds.test.ts"],
  {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      GEOFERRY_ROUNDS: flags.rounds,
      GEOFERRY_ROUNDS_WITHOUT_TAGS: flags["without-tags"],
      GEOFERRY_ROUNDS_SEED: flags.seed,
      GEOFERRY_ROUNDS_REPORT: report,
    },
  },
);

const results = readFileSync(report, "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line));
rmSync(folder, { recursive: true, force: true });

/** "done 398, duplicates-created 2" */
function ends(of) {
  const counts = new Map();
  for (const end of of.flatMap((one) => one.ends)) counts.set(end, (counts.get(end) ?? 0) + 1);
  return [...counts].map(([end, count]) => `${end} ${count}`).join(", ");
}

const sum = (of, value) => of.reduce((total, one) => total + value(one), 0);
for (const title of new Set(results.map((one) => one.title))) {
  const of = results.filter((one) => one.title === title);
  const wrong = of.filter((one) => one.wrong.length > 0);
  // Differing features stay, and a client must report them: its outcome is not "done".
  const isSilent = (one) => one.ends.every((end) => end === "done");
  const silent = wrong.filter(isSilent).length;
  const twins = sum(of, (one) => one.twins);
  console.log(`${title}: ${of.length} rounds, ${sum(of, (one) => one.features * one.clients)} features pushed`);
  console.log(`  clients ended: ${ends(of)}; twins removed: ${twins}`);
  console.log(`  maps with a doubled or missing feature: ${wrong.length}, of which no client said so: ${silent}`);
}
process.exitCode = status === 0 ? 0 : 1;
