/** The service as benches use it: a process of its own with one account, and a client that costs little. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync } from "node:fs";
import http from "node:http";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const main = join(root, "dist", "src", "cli", "main.js");
const email = "bench@example.org";

/** Bytes of an answer. Without an agent the connection is a new one: the service closes those that were idle for long. */
export async function ask(url, { method = "GET", headers = {}, body, agent = false } = {}) {
  const request = http.request(url, { method, headers, agent });
  request.end(body);
  const [response] = await once(request, "response");
  const chunks = [];
  for await (const chunk of response) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const { statusCode: status } = response;
  if (status >= 300)
    throw Object.assign(new Error(`${method} ${url}: ${status} ${bytes.subarray(0, 300)}`), { status });
  return bytes;
}

/**
 * A server in a process of its own: what it prints as its first line, which is JSON with its address.
 * @param log what takes its stderr: "ignore", or the number of an open file
 */
export async function startServer(args, env = process.env, log = "ignore") {
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", log] });
  for await (const line of createInterface({ input: child.stdout })) return { child, ...JSON.parse(line) };
  throw new Error(`${args.join(" ")} ended with ${child.exitCode}`);
}

export class Served {
  /** @param data its folder @param database address of PostgreSQL, or undefined for SQLite in the folder */
  constructor(data, database) {
    this.data = data;
    this.env = { ...process.env, ...(database && { GEOFERRY_DATABASE: database }) };
    // A folder that is named goes before a database that the environment names.
    this.place = database ? [] : ["--data", data];
    this.credential = this.newAccount(email);
  }

  /** @returns a credential of it */
  newAccount(address) {
    this.admin(["user", "add", address], "correct horse battery staple\n");
    const { client_id, client_secret } = this.admin(["credential", "add", "--owner", address]);
    return { client_id, client_secret };
  }

  admin(args, input = "") {
    const out = execFileSync(process.execPath, [main, "admin", ...args, ...this.place, "--json"], {
      input,
      env: this.env,
      encoding: "utf8",
    });
    return out.trim() === "" ? {} : JSON.parse(out);
  }

  newMap(name, owner = email) {
    return this.admin(["map", "add", name, "--owner", owner]).id;
  }

  async start() {
    this.log = `${this.data}.log`;
    const line = [main, "serve", ...this.place, "--port", "0", "--probe-port", "0", "--json"];
    const { child, url, probes } = await startServer(line, this.env, openSync(this.log, "w"));
    Object.assign(this, { child, url, probes });
    this.headers = await this.signIn(this.credential);
  }

  /** @returns headers of who has the credential */
  async signIn(credential) {
    const answer = await ask(`${this.url}/token`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: String(new URLSearchParams({ grant_type: "client_credentials_with_user", ...credential })),
    });
    return { authorization: `Bearer ${JSON.parse(answer).access_token}` };
  }

  features(map) {
    return `${this.url}/api/v1/maps/${map}/features`;
  }

  /** Requests that it has answered so far, by method; those for tokens by themselves. */
  async requests() {
    const text = String(await ask(`${this.url}/metrics`));
    const counts = { token: 0, GET: 0, POST: 0, PUT: 0, PATCH: 0, DELETE: 0 };
    const line =
      /^geoferry_http_request_duration_seconds_count\{method="(\w+)",route="([^"]+)",status="\d+"\} (\d+)$/gm;
    for (const [, method, route, count] of text.matchAll(line)) {
      if (route === "/token") counts.token += Number(count);
      else if (route === "/api/v1/maps/:mapId/features") counts[method] += Number(count);
    }
    return counts;
  }

  /** Seconds from the beginning of the first POST of features to a map to the end of the last, by the service's log. */
  sendingSeconds(map) {
    const lines = readFileSync(this.log, "utf8").split("\n");
    const posts = lines
      .filter((line) => line.startsWith("{") && line.includes(`/maps/${map}/features`))
      .map((line) => JSON.parse(line))
      .filter(({ method, status }) => method === "POST" && status < 300)
      .map(({ time, ms }) => ({ began: Date.parse(time) - ms, ended: Date.parse(time) }));
    return (Math.max(...posts.map(({ ended }) => ended)) - Math.min(...posts.map(({ began }) => began))) / 1000;
  }

  end() {
    this.child?.kill("SIGTERM");
  }
}
