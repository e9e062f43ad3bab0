/**
 * What the queue costs: the same job of many small files by this machine alone, by one worker and by three, on a Redis
 * of its own (redis-server must be installed). Seconds that pass, and seconds of CPU time of everything but Redis.
 *
 *   npm run bench:queue -- [--files 500] [--points 100] [--rounds 3] [--by 0,1,3]
 *
 * `by` are numbers of workers, 0 for this process alone. Rounds are interleaved. On a busy machine only the seconds of CPU time can be compared.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { median, processorTime } from "./measure.mjs";

const { values: flags } = parseArgs({
  options: {
    files: { type: "string", default: "500" },
    points: { type: "string", default: "100" },
    rounds: { type: "string", default: "3" },
    by: { type: "string", default: "0,1,3" },
  },
});
const [files, points, rounds] = [flags.files, flags.points, flags.rounds].map(Number);
const main = join(dirname(fileURLToPath(import.meta.url)), "../../dist/src/cli/main.js");
const folder = mkdtempSync(join(tmpdir(), "geoferry-bench-queue-"));

mkdirSync(join(folder, "in"));
for (let n = 0; n < files; n++) {
  const lines = Array.from({ length: points }, (_, i) => `place ${i},${(i * 7) % 180},${(i * 3) % 90}`);
  writeFileSync(join(folder, "in", `t${n}.csv`), `name,lon,lat\n${lines.join("\n")}\n`);
}
writeFileSync(
  join(folder, "job.yaml"),
  "name: bench\nsteps:\n  - {name: archive, source: in/*.csv, target: out/, to: geojson}\n",
);

const probe = createServer().listen(0, "127.0.0.1");
await once(probe, "listening");
const { port } = probe.address();
probe.close();
await once(probe, "close");
const redis = spawn("redis-server", ["--port", String(port), "--dir", folder, "--appendonly", "yes", "--save", ""], {
  stdio: "ignore",
});
const queue = ["--queue", `redis://127.0.0.1:${port}`];

function begin(args) {
  const child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "ignore", "pipe"] });
  let text = "";
  child.stderr.on("data", (more) => {
    text += more;
  });
  const ended = once(child, "close").then(([status]) => ({ status, text }));
  return { ended, stop: () => child.kill("SIGTERM"), isReady: () => text.includes("takes jobs from") };
}

/** @param workers null for a run without a queue */
async function round(workers) {
  const before = processorTime();
  for (const name of ["out", "state"]) rmSync(join(folder, name), { recursive: true, force: true });
  const state = ["--state", join(folder, "state")];
  const hired = Array.from({ length: workers ?? 0 }, (_, n) =>
    begin(["worker", ...queue, ...state, "--name", `w${n}`, "--concurrency", "1"]),
  );
  while (!hired.every(({ isReady }) => isReady())) await new Promise((resolve) => setTimeout(resolve, 50));
  const started = performance.now();
  const run = await begin(["run", join(folder, "job.yaml"), ...state, ...(workers === null ? [] : queue), "--quiet"])
    .ended;
  const seconds = (performance.now() - started) / 1000;
  if (run.status !== 0) throw new Error(`the run ended with ${run.status}: ${run.text}`);
  for (const worker of hired) worker.stop();
  await Promise.all(hired.map((worker) => worker.ended));
  return { seconds, processor: processorTime() - before };
}

try {
  const kinds = flags.by.split(",").map((kind) => (kind === "0" ? null : Number(kind)));
  const results = new Map(kinds.map((kind) => [kind, []]));
  for (let n = 0; n < rounds; n++) for (const kind of kinds) results.get(kind).push(await round(kind));
  console.log(`${files} files of ${points} points, median of ${rounds}`);
  console.log("by                 seconds   files/s   processor   a file");
  for (const kind of kinds) {
    const seconds = median(results.get(kind).map((one) => one.seconds));
    const processor = median(results.get(kind).map((one) => one.processor));
    const name = kind === null ? "this process" : `${kind} worker${kind > 1 ? "s" : ""}`;
    const each = `${((processor / files) * 1000).toFixed(1)} ms`;
    console.log(
      `${name.padEnd(16)} ${seconds.toFixed(1).padStart(8)}  ${(files / seconds).toFixed(0).padStart(8)}  ${processor.toFixed(1).padStart(8)} s  ${each.padStart(8)}`,
    );
  }
} finally {
  redis.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}
