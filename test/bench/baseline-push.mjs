/**
 * The bare load generator of the bench of synchronisations: creates the features of a file of newline-delimited GeoJSON
 * by requests of a thousand, four at a time, and looks at nothing but the status of the answers.
 *
 *   node baseline-push.mjs FILE ADDRESS TOKEN
 *
 * The bodies are made before the first request.
 */
import { readFileSync } from "node:fs";
import http from "node:http";
import { ask } from "./service-process.mjs";

const [file, url, token] = process.argv.slice(2);
const lines = readFileSync(file, "utf8").trimEnd().split("\n");
const bodies = [];
for (let from = 0; from < lines.length; from += 1000)
  bodies.push(Buffer.from(`{"features":[${lines.slice(from, from + 1000).join(",")}]}`));

const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
const agent = new http.Agent({ keepAlive: true });
let next = 0;
await Promise.all(
  Array.from({ length: 4 }, async () => {
    while (next < bodies.length) await ask(url, { method: "POST", headers, body: bodies[next++], agent });
  }),
);
agent.destroy();
