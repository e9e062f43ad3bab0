/**
 * The service beside bare loops over the same rows, in one run, as ratios.
 *
 *   npm run bench:service -- [--features 1000000] [--database postgres://…] [--seconds 5] [--rounds 5]
 *
 * - pages: requests a second for pages of 500 features at random depths, beside a server that reads the same rows from
 *   the same database and writes them to a socket;
 * - depth: page 20,000 (or the last) beside page 1, as one client sees it;
 * - synchronisation: a PUT of 1000 features that all change, beside the bare statements in one transaction;
 * - size: a POST of 1000 features that all change by a key, on the whole map beside a map of these alone; before it the
 *   first one, which reads the whole map for its keys, and last a PUT of 1000 that deletes all others.
 */
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bareStore } from "./baseline-store.mjs";
import { median } from "./measure.mjs";
import { ask as askOnce, Served, startServer } from "./service-process.mjs";

const { values: flags } = parseArgs({
  options: {
    features: { type: "string", default: "1000000" },
    database: { type: "string" },
    seconds: { type: "string", default: "5" },
    rounds: { type: "string", default: "5" },
  },
});
const here = dirname(fileURLToPath(import.meta.url));
const features = Number(flags.features);
const rounds = Number(flags.rounds);
const pageSize = 500;
const connections = 4;
const data = mkdtempSync(join(tmpdir(), "geoferry-service-bench-"));
const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
const ask = (url, options) => askOnce(url, { ...options, agent });

const feature = (i, turn) => ({
  type: "Feature",
  geometry: { type: "Point", coordinates: [((i * 7919) % 360000) / 1000 - 180, ((i * 104729) % 180000) / 1000 - 90] },
  properties: {
    ref: `place-${i}`,
    title: `Place ${i}`,
    description: `The ${i}th of many places`,
    height: i % 4000,
    turn,
  },
});
const many = (from, count, turn) => Array.from({ length: count }, (_, i) => feature(from + i, turn));

/** Requests a second of some connections, each asking for one random page after the other. */
async function requestsPerSecond(addressOf) {
  const end = performance.now() + Number(flags.seconds) * 1000;
  let done = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < end) {
        const page = 1 + Math.floor(Math.random() * Math.max(1, Math.floor(features / pageSize)));
        const { url, headers } = addressOf(page);
        await ask(url, { headers });
        done++;
      }
    }),
  );
  return done / Number(flags.seconds);
}

async function milliseconds(run) {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

/** False where the service still reads the keys of the map (503 `reading-keys`), and goes on with the next request. */
async function isWritten(write) {
  try {
    await write();
    return true;
  } catch (error) {
    if (error.status !== 503) throw error;
    return false;
  }
}

const ours = new Served(data, flags.database);
const map = ours.newMap("Bench");
const small = ours.newMap("Small");
const bare = await bareStore(flags.database ?? join(data, "bare.sqlite"), features, feature);
await ours.start();
const rival = await startServer([join(here, "baseline-server.mjs"), bare.location]);
try {
  const { headers } = ours;
  const json = { ...headers, "content-type": "application/json" };
  const at = (id) => ours.features(id);

  const filling = await milliseconds(async () => {
    for (let from = 0; from < features; from += 1000) {
      const body = JSON.stringify({ features: many(from, Math.min(1000, features - from), 0) });
      await ask(at(map), { method: "POST", headers: json, body });
    }
  });
  console.log(`filled with ${features} features by POST: ${Math.round(features / (filling / 1000))} a second`);

  const own = [];
  const others = [];
  const pageOf = (page) => ({ url: `${at(map)}?page=${page}&per_page=${pageSize}`, headers });
  for (let round = 0; round < rounds; round++) {
    own.push(await requestsPerSecond(pageOf));
    others.push(await requestsPerSecond((page) => ({ url: `${rival.url}/${(page - 1) * pageSize + 1}` })));
  }
  const [mine, theirs] = [median(own), median(others)];
  console.log(
    `pages of ${pageSize}: ${mine.toFixed(0)} a second, bare ${theirs.toFixed(0)}: ${(mine / theirs).toFixed(2)}`,
  );

  const deep = Math.min(20_000, Math.floor(features / pageSize));
  const [first, last] = [[], []];
  for (let i = 0; i < 100; i++) {
    first.push(await milliseconds(() => ask(pageOf(1).url, { headers })));
    last.push(await milliseconds(() => ask(pageOf(deep).url, { headers })));
  }
  const depth = median(last) / median(first);
  console.log(
    `page ${deep}: ${median(last).toFixed(2)} ms, page 1 ${median(first).toFixed(2)} ms: ${depth.toFixed(2)}`,
  );

  const [puts, statements] = [[], []];
  for (let turn = 1; turn <= 6 * rounds; turn++) {
    const synchronisation = { type: "FeatureCollection", remoteField: "ref", features: many(0, 1000, turn) };
    const body = Buffer.from(JSON.stringify(synchronisation));
    puts.push(await milliseconds(() => ask(at(small), { method: "PUT", headers: json, body })));
    statements.push(await milliseconds(() => bare.replace(many(0, 1000, turn))));
  }
  const [put, transaction] = [median(puts.slice(1)), median(statements.slice(1))];
  const ratio = (transaction / put).toFixed(2);
  console.log(
    `PUT of 1000: ${put.toFixed(1)} ms, bare transaction ${transaction.toFixed(1)} ms: ${ratio} times as fast`,
  );

  const upsert = (id, turn) =>
    ask(at(id), {
      method: "POST",
      headers: json,
      body: JSON.stringify({ remoteField: "ref", features: many(0, 1000, turn) }),
    });
  let refusals = 0;
  const registering = await milliseconds(async () => {
    while (!(await isWritten(() => upsert(map, 100)))) refusals++;
  });
  const [large, little] = [[], []];
  for (let turn = 1; turn <= 6 * rounds; turn++) {
    large.push(await milliseconds(() => upsert(map, turn)));
    little.push(await milliseconds(() => upsert(small, 100 + turn)));
  }
  const growth = median(large) / median(little);
  console.log(
    `POST of 1000 by key: ${median(large).toFixed(1)} ms among ${features}, ${median(little).toFixed(1)} ms among 1000: ${growth.toFixed(2)}; the first ${(registering / 1000).toFixed(1)} s, ${refusals} responses 503`,
  );
  const body = JSON.stringify({ type: "FeatureCollection", remoteField: "ref", features: many(0, 1000, 0) });
  const emptying = await milliseconds(() => ask(at(map), { method: "PUT", headers: json, body }));
  console.log(`PUT of 1000 that deletes ${features - 1000}: ${(emptying / 1000).toFixed(1)} s`);
  console.log(
    `(${flags.database ? "PostgreSQL" : "SQLite"}, Node ${process.versions.node}, ${connections} connections)`,
  );
} finally {
  agent.destroy();
  ours.end();
  rival.child.kill("SIGTERM");
  await bare.close();
  rmSync(data, { recursive: true, force: true });
}
