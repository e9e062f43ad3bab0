/**
 * What a synchronisation costs: requests beside those counted by hand, features a second beside a bare load generator
 * that sends the same batches to the same service (both by the service's log), and the highest memory of the client.
 *
 *   npm run bench:sync -- [--features 100000] [--rounds 3] [--database postgres://…] [--check]
 *
 * Every round has a map of its own: the bare loop fills another one, a first push fills it, a second one has nothing to
 * do, a third one finds 1 % changed, and one in full mode 1 % gone. With --check it fails where a request is sent that
 * is not counted, or a goal is missed.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { measure, median } from "./measure.mjs";
import { main, Served } from "./service-process.mjs";

const { values: flags } = parseArgs({
  options: {
    features: { type: "string", default: "100000" },
    rounds: { type: "string", default: "3" },
    database: { type: "string" },
    check: { type: "boolean", default: false },
  },
});
const here = dirname(fileURLToPath(import.meta.url));
const features = Number(flags.features);
const hundredth = Math.floor(features / 100);

/** Goals: share of the bare loop's features a second, and MB. */
const goals = { share: 0.8, memory: 300 };

const feature = (i, turn) => ({
  type: "Feature",
  geometry: {
    type: "Point",
    coordinates: [((i * 7919) % 3_600_000) / 10_000 - 180, ((i * 104_729) % 1_800_000) / 10_000 - 90],
  },
  properties: {
    ref: `place-${i}`,
    title: `Place ${i}`,
    description: `The ${i}th of many places`,
    height: i % 4000,
    turn,
  },
});

/**
 * Requests of each kind of run, counted by hand from the interface: pages of 500 until a short one, which is one more
 * where the last one is full; writes of at most 1000. The service has an ETag, so that one reading is enough. After
 * creates and updates, and before deletes, the map is read again.
 */
const pages = (count) => Math.floor(count / 500) + 1;
const batches = (count) => Math.ceil(count / 1000);
const none = { token: 1, GET: 0, POST: 0, PUT: 0, PATCH: 0, DELETE: 0 };
const runs = [
  {
    name: "first push",
    source: "all",
    args: [],
    counted: { ...none, GET: pages(0) + pages(features), POST: batches(features) },
  },
  { name: "nothing changed", source: "all", args: [], counted: { ...none, GET: 1 } },
  {
    name: "1 % changed",
    source: "changed",
    args: [],
    // The first update goes alone and is read again from its page.
    counted: { ...none, GET: 2 * pages(features) + 1, PATCH: 1 + batches(hundredth - 1) },
  },
  {
    name: "1 % gone",
    source: "fewer",
    args: ["--mode", "full"],
    // After the deletes, the first page that had such features is read again.
    counted: { ...none, GET: 2 * pages(features) + 1, DELETE: batches(hundredth) },
  },
];

const folder = mkdtempSync(join(tmpdir(), "geoferry-sync-bench-"));
// Backups go to the working directory.
process.chdir(folder);
const sources = Object.fromEntries(["all", "changed", "fewer"].map((name) => [name, join(folder, `${name}.geojsonl`)]));
const write = (name, from, turnOf) => {
  const lines = [];
  for (let i = from; i < features; i++) lines.push(`${JSON.stringify(feature(i, turnOf(i)))}\n`);
  writeFileSync(sources[name], lines.join(""));
};
const isChanged = (i) => i % 100 === 7;
write("all", 0, () => 0);
write("changed", 0, (i) => (isChanged(i) ? 1 : 0));
write("fewer", hundredth, (i) => (isChanged(i) ? 1 : 0));

const served = new Served(join(folder, "maps"), flags.database);
Object.assign(process.env, {
  GEOFERRY_CLIENT_ID: served.credential.client_id,
  GEOFERRY_CLIENT_SECRET: served.credential.client_secret,
  XDG_STATE_HOME: join(folder, "state"),
});

const difference = (after, before) =>
  Object.fromEntries(Object.entries(after).map(([name, count]) => [name, count - before[name]]));
const formatCounts = (counts) =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");

const faults = [];
try {
  await served.start();
  process.env.GEOFERRY_URL = served.url;
  const token = served.headers.authorization.slice("Bearer ".length);
  const [bare, sending] = [[], []];
  const measured = new Map(runs.map(({ name }) => [name, []]));
  for (let round = 0; round < Number(flags.rounds); round++) {
    const other = served.newMap(`Bare ${round}`);
    execFileSync(process.execPath, [join(here, "baseline-push.mjs"), sources.all, served.features(other), token]);
    bare.push(served.sendingSeconds(other));
    const map = served.newMap(`Round ${round}`);
    for (const { name, source, args, counted } of runs) {
      const before = await served.requests();
      const push = ["push", sources[source], "--map", map, "--remote-field", "ref", "--quiet", ...args];
      const { seconds, processor, peak } = await measure(process.execPath, [main, ...push]);
      const requests = difference(await served.requests(), before);
      measured.get(name).push({ seconds, processor, peak, requests });
      if (name === "first push") sending.push(served.sendingSeconds(map));
      if (formatCounts(requests) !== formatCounts(counted))
        faults.push(`${name}: ${formatCounts(requests)}, not ${formatCounts(counted)}`);
    }
  }

  const rate = (seconds) => Math.round(features / seconds);
  console.log(
    `| ${features} features | seconds | of processors | features a second | peak MB | requests | counted by hand |`,
  );
  console.log("| --- | --- | --- | --- | --- | --- | --- |");
  const row = (...cells) => console.log(`| ${cells.join(" | ")} |`);
  row("bare loop, sending", median(bare).toFixed(1), "", rate(median(bare)), "", `${batches(features)} POST`, "");
  row(
    "first push, sending",
    median(sending).toFixed(1),
    "",
    rate(median(sending)),
    "",
    `${batches(features)} POST`,
    "",
  );
  for (const { name, counted } of runs) {
    const all = measured.get(name);
    const seconds = median(all.map((one) => one.seconds));
    const processor = median(all.map((one) => one.processor));
    const peak = Math.max(...all.map((one) => one.peak));
    row(
      name,
      seconds.toFixed(1),
      processor.toFixed(1),
      rate(seconds),
      peak.toFixed(0),
      formatCounts(all[0].requests),
      formatCounts(counted),
    );
    if (peak > goals.memory) faults.push(`${name}: ${peak.toFixed(0)} MB, more than ${goals.memory}`);
  }
  const share = median(bare) / median(sending);
  const whole = median(bare) / median(measured.get("first push").map(({ seconds }) => seconds));
  console.log(`\nfirst push beside the bare loop: ${share.toFixed(2)} while it sends (goal ${goals.share}),`);
  console.log(`${whole.toFixed(2)} with all that it reads, checks and keeps before and after`);
  console.log(`(${flags.database ? "PostgreSQL" : "SQLite"}, Node ${process.versions.node}, ${flags.rounds} rounds)`);
  if (share < goals.share)
    faults.push(`first push: sends ${share.toFixed(2)} of the bare loop's rate, less than ${goals.share}`);
} finally {
  served.end();
  rmSync(folder, { recursive: true, force: true });
}
for (const fault of new Set(faults)) console.log(`- ${fault}`);
if (flags.check && faults.length > 0) process.exitCode = 1;
