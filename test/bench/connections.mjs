/**
 * What a client that is signed in, and probes, get from the service while others hold thousands of connections.
 *
 *   npm run bench:crowd -- [--connections 10000] [--seconds 120] [--database postgres://…] [--addresses 40] [--kind K]
 *
 * Kinds, one after the other, each on a service of its own; those who sign in do so by another account than the client:
 * - silent: say nothing;
 * - half-line: send half a request line;
 * - slow-body: signed in, announce a body of 9 MB and send a byte a second;
 * - slow-reader: signed in, ask for a page of 14 MB and read 1 KiB a second.
 * A connection that the service closes is opened again. Told for each: milliseconds of probes, each on a connection of
 * its own to the service's port and to the port for probes, and of a client that changes a feature and reads a page, with the highest resident memory of the service.
 * Needs as many open files as connections (`ulimit -n`), and Linux, whose every address 127.x.y.z is this machine.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { ask, Served } from "./service-process.mjs";

const { values: flags } = parseArgs({
  options: {
    connections: { type: "string", default: "10000" },
    seconds: { type: "string", default: "120" },
    addresses: { type: "string", default: "40" },
    database: { type: "string" },
    kind: { type: "string", multiple: true, default: ["silent", "half-line", "slow-body", "slow-reader"] },
  },
});
const [connections, seconds, addresses] = [flags.connections, flags.seconds, flags.addresses].map(Number);
const megabyte = "x".repeat(1 << 20);
const features = (count, title) =>
  Array.from({ length: count }, (_, i) => ({ type: "Feature", geometry: null, properties: { ref: i, title } }));

/** What a connection of a kind sends at first, and then once a second. */
const sent = {
  silent: () => [""],
  "half-line": () => ["GET /api/v1/ma"],
  "slow-body": ({ path, authorization }) => [
    `PATCH ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nContent-Length: 9000000\r\n\r\n{`,
    " ",
  ],
  "slow-reader": ({ path, authorization }) => [
    `GET ${path}?per_page=14 HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`,
  ],
};

/** Holds connections until stopped, and replaces those that are closed. */
function besiege(kind, port, target) {
  const [first, later = ""] = sent[kind](target);
  const sockets = new Set();
  let going = true;
  let opened = 0;
  const open = () => {
    const n = opened++;
    const socket = connect({ port, host: "127.0.0.1", localAddress: `127.1.0.${1 + (n % addresses)}`, noDelay: true });
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("connect", () => socket.write(first));
    if (kind === "slow-reader") socket.pause();
    else socket.resume();
    socket.once("close", () => sockets.delete(socket));
  };
  const keeping = setInterval(() => {
    for (let missing = Math.min(100, connections - sockets.size); going && missing > 0; missing--) open();
  }, 100);
  const feeding = setInterval(() => {
    for (const socket of sockets) {
      if (later !== "" && socket.writable) socket.write(later);
      if (kind === "slow-reader") socket.read(1024);
    }
  }, 1000);
  return {
    held: () => sockets.size,
    opened: () => opened,
    stop: () => {
      going = false;
      clearInterval(keeping);
      clearInterval(feeding);
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Runs something again and again until a time; milliseconds of each, sorted, and what failed. */
async function repeatedly(until, pause, run) {
  const times = [];
  const failures = new Map();
  while (performance.now() < until) {
    const started = performance.now();
    try {
      await run(times.length);
    } catch (error) {
      const reason = String(error.status ?? error.code ?? error.message);
      failures.set(reason, (failures.get(reason) ?? 0) + 1);
    }
    times.push(performance.now() - started);
    await sleep(pause);
  }
  return { times: times.sort((a, b) => a - b), failures };
}

const summarize = ({ times, failures }) => {
  const at = (part) => Math.round(times[Math.min(times.length - 1, Math.floor(part * times.length))]);
  const failed = [...failures].map(([reason, count]) => `, ${count} failed: ${reason}`).join("");
  return `${at(0.5)} in the median, ${at(0.99)} in 99 of 100, ${at(1)} at most, of ${times.length}${failed}`;
};

for (const kind of flags.kind) {
  const data = mkdtempSync(join(tmpdir(), "geoferry-crowd-"));
  const service = new Served(data, flags.database);
  const map = service.newMap(`Small ${kind}`);
  const other = service.newAccount("crowd@example.org");
  const large = service.newMap(`Large ${kind}`, "crowd@example.org");
  await service.start();
  try {
    const { headers, url } = service;
    const json = { ...headers, "content-type": "application/json" };
    const { authorization } = await service.signIn(other);
    await ask(service.features(map), {
      method: "POST",
      headers: json,
      body: JSON.stringify({ features: features(200, "a") }),
    });
    for (const feature of features(14, megabyte)) {
      await ask(service.features(large), {
        method: "POST",
        headers: { ...json, authorization },
        body: JSON.stringify({ features: [feature] }),
      });
    }
    const { port, pathname } = new URL(service.features(large));
    const siege = besiege(kind, Number(port), { path: pathname, authorization });
    await sleep(5000);
    const end = performance.now() + seconds * 1000;
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    let held = 0;
    const watching = setInterval(() => {
      held = Math.max(held, siege.held());
    }, 1000);
    const [probes, ownPort, signedIn] = await Promise.all([
      repeatedly(end, 200, () => ask(`${url}/healthz`)),
      repeatedly(end, 200, () => ask(`${service.probes}/healthz`)),
      repeatedly(end, 200, async (n) => {
        const body = JSON.stringify({ remoteField: "ref", features: [{ properties: { ref: n % 200, n } }] });
        await ask(service.features(map), { method: "PATCH", headers: json, body, agent });
        await ask(`${service.features(map)}?per_page=200`, { headers, agent });
      }),
    ]);
    clearInterval(watching);
    const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${service.child.pid}/status`, "utf8"))[1] / 1024;
    console.log(`${kind}: ${held} connections held at once, ${siege.opened()} opened in ${seconds} s`);
    console.log(`  probes, port of the service: ms ${summarize(probes)}`);
    console.log(`  probes, port of their own: ms ${summarize(ownPort)}`);
    console.log(`  signed in, a change and a page: ms ${summarize(signedIn)}`);
    console.log(`  service: ${Math.round(peak)} MiB at most`);
    siege.stop();
    agent.destroy();
  } finally {
    service.end();
    rmSync(data, { recursive: true, force: true });
    rmSync(`${data}.log`, { force: true });
  }
}
process.exit(0);
