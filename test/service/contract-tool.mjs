/**
 * `npm run contract`: tests the running service against its own /openapi.json with Specmatic (https://specmatic.io), an
 * independent tool that requires Java. It is not a dependency: SPECMATIC is the path of its jar or command; the default
 * is `specmatic` on the PATH, then an installed `npx specmatic`. Exits with the status of the tool, or with 0 and a
 * message if it is not installed.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { narrowed } from "./contract-document.mjs";

const main = createRequire(import.meta.url).resolve("../../dist/src/cli/main.js");
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(GEOFERRY_|PG)/.test(name)));

/** The command of the tool, without arguments. */
function findTool() {
  const named = process.env.SPECMATIC;
  const candidates = named
    ? [named.endsWith(".jar") ? ["java", "-jar", named] : [named]]
    : [["specmatic"], ["npx", "--no-install", "specmatic"]];
  const answers = ([command, ...args]) => spawnSync(command, [...args, "--version"]).status === 0;
  const found = candidates.find(answers);
  if (named && !found) throw new Error(`SPECMATIC: ${named} does not run`);
  return found;
}

function admin(folder, line, input = "") {
  const args = [main, "admin", ...line.split(" "), "--data", folder, "--json"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { input, env: environment, encoding: "utf8" });
  if (status !== 0) throw new Error(`geoferry admin ${line}: ${stderr}`);
  return JSON.parse(stdout || "{}");
}

async function serve(folder) {
  const args = [main, "serve", "--data", folder, "--port", "0", "--log-level", "error", "--json"];
  const service = spawn(process.execPath, args, { env: environment, stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(service.stdout.setEncoding("utf8"), "data");
  const end = async () => {
    service.kill();
    await once(service, "exit");
  };
  return { url: JSON.parse(line).url, end };
}

const point = [7.45, 46.95];
const ring = [point, [8, 47], [8, 46], point];
const geometries = [
  null,
  { type: "Point", coordinates: [...point, 540.5] },
  { type: "Point", coordinates: [] },
  { type: "MultiPoint", coordinates: [point] },
  { type: "LineString", coordinates: [point, [8, 47]] },
  { type: "MultiLineString", coordinates: [[point, [8, 47]]] },
  { type: "Polygon", coordinates: [ring] },
  { type: "MultiPolygon", coordinates: [[ring]] },
  { type: "GeometryCollection", geometries: [{ type: "Point", coordinates: point }] },
];

const owner = "--owner ada@example.org";

/** Creates an account. @returns the client for the token endpoint */
function enrol(folder) {
  admin(folder, "user add ada@example.org", "three words and a 4");
  return admin(folder, `credential add ${owner}`);
}

async function tokenOf(url, client) {
  const form = { grant_type: "client_credentials_with_user", ...client };
  const answer = await fetch(`${url}/token`, { method: "POST", body: new URLSearchParams(form) });
  return (await answer.json()).access_token;
}

/** Creates a map with features for each operation, so that operations do not affect each other. */
const places = (url, folder, token) => async (name) => {
  const { id: map } = admin(folder, `map add ${name} ${owner}`);
  const features = geometries.map((geometry, ref) => ({ type: "Feature", geometry, properties: { ref, title: "n°" } }));
  const answer = await fetch(`${url}/api/v1/maps/${map}/features`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ features }),
  });
  if (answer.status !== 201) throw new Error(`creating features: ${answer.status} ${await answer.text()}`);
  const { success } = await answer.json();
  return { map, feature: success[0].id };
};

const tool = findTool();
if (!tool) {
  process.stdout.write("contract: left out, as specmatic is not installed (npm install --global specmatic)\n");
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), "geoferry-contract-"));
const data = join(folder, "data");
const client = enrol(data);
const service = await serve(data);
try {
  const token = await tokenOf(service.url, client);
  const place = places(service.url, data, token);
  const document = await (await fetch(`${service.url}/openapi.json`)).json();
  const file = join(folder, "openapi.json");
  writeFileSync(file, JSON.stringify(await narrowed(document, { client, place })));
  const [command, ...first] = tool;
  const args = [...first, "test", file, `--testBaseURL=${service.url}`, "--lenient", "--timeout=30"];
  // The token is passed under the name of its security scheme. The tool also sends invalid requests by default.
  const env = { SPECMATIC_GENERATIVE_TESTS: "true", ...environment, bearer: token };
  const testing = spawn(command, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [testing.stdout, testing.stderr])
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  const [status] = await once(testing, "close");
  const failures = output.indexOf("Unsuccessful Scenarios:");
  const [summary = "contract: the tool gave no summary"] = output.match(/^Tests run:.*/m) ?? [];
  process.stdout.write(status === 0 ? `${summary}\n` : failures < 0 ? output : output.slice(failures));
  if (process.env.CONTRACT_LOG) writeFileSync(process.env.CONTRACT_LOG, output);
  process.exitCode = status ?? 1;
} finally {
  await service.end();
  rmSync(folder, { recursive: true, force: true });
}
