/** The examples in samples/deploy/ are valid and use flags and paths that geoferry has. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { common } from "../../src/cli/command.js";
import { serveCommand } from "../../src/cli/commands/serve.js";
import { defaultSettings } from "../../src/service/settings.js";
import { hasProgram, samples } from "../support/command.js";
import { freePort } from "../support/servers/free-port.js";
import { testDatabase } from "../support/servers/postgres.js";
import { createAccountWithMap, createScratchFolder, password, ServiceProcess } from "./service-process.js";

// Each command is a separate process, which is slow on a busy machine.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const folder = createScratchFolder();
const sample = (name: string): string => readFileSync(join(samples, "deploy", name), "utf8");
const database = await testDatabase();

const flags = { ...common, ...serveCommand.options };
const variables = Object.keys(flags).map((name) => `GEOFERRY_${name.toUpperCase().replaceAll("-", "_")}`);
const unknownFlags = (words: readonly string[]) =>
  words.filter((word) => word.startsWith("--") && !Object.hasOwn(flags, word.slice(2)));
const unknownVariables = (names: readonly string[]) =>
  names.filter((name) => name.startsWith("GEOFERRY_") && !variables.includes(name));

describe("the systemd unit", () => {
  const unit = sample("geoferry.service");
  const values = (name: string) => [...unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map((match) => match[1]!);

  test("starts geoferry with known settings and allows a graceful shutdown", () => {
    const [start] = values("ExecStart");
    expect(start).toMatch(/^\/\S+\/geoferry serve( |$)/);
    expect(unknownFlags(start!.split(" "))).toEqual([]);
    expect(unknownVariables(unit.match(/GEOFERRY_\w+/g)!)).toEqual([]);
    expect(Number(values("TimeoutStopSec")[0])).toBeGreaterThan(defaultSettings.endSeconds);
    expect(Number(values("LimitNOFILE")[0])).toBeGreaterThan(2 * defaultSettings.connections);
  });

  test.runIf(hasProgram("systemd-analyze"))("is accepted by systemd-analyze", () => {
    const path = join(folder.path, "geoferry.service");
    writeFileSync(path, unit.replace(/^(ExecStart=)\S+/m, `$1${process.execPath}`));
    const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", path], { encoding: "utf8" });
    expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: "" });
  });
});

describe("the Compose file", () => {
  interface Container {
    readonly command?: readonly string[];
    readonly environment?: Readonly<Record<string, string>>;
    readonly depends_on?: Readonly<Record<string, unknown>>;
    readonly volumes?: readonly string[];
    readonly networks: readonly string[];
    readonly stop_grace_period?: string;
  }
  interface Compose {
    readonly services: Readonly<Record<string, Container>>;
    readonly networks: object;
    readonly volumes: object;
  }
  const compose = parse(sample("compose/compose.yaml"), { merge: true, strict: true }) as Compose;
  const services = ["service-1", "service-2"].map((name) => compose.services[name]!);

  test("starts geoferry twice with known settings and allows a graceful shutdown", () => {
    for (const { command, environment, stop_grace_period } of services) {
      expect(command![0]).toBe("serve");
      expect(unknownFlags(command!)).toEqual([]);
      expect(unknownVariables(Object.keys(environment!))).toEqual([]);
      expect(environment!.GEOFERRY_DATABASE).not.toMatch(/:[^/]*@/);
      expect(Number.parseInt(stop_grace_period!, 10)).toBeGreaterThan(defaultSettings.endSeconds);
    }
    const docker = sample("compose/Dockerfile");
    expect(unknownFlags(JSON.parse(/^CMD (.*)$/m.exec(docker)![1]!))).toEqual([]);
    expect(unknownVariables(docker.match(/GEOFERRY_\w+/g)!)).toEqual([]);
  });

  test("refers only to services and volumes that it defines", () => {
    for (const [name, { depends_on = {}, networks, volumes = [] }] of Object.entries(compose.services)) {
      expect(Object.keys(compose.services), name).toEqual(expect.arrayContaining(Object.keys(depends_on)));
      expect(Object.keys(compose.networks), name).toEqual(expect.arrayContaining([...networks]));
      const named = volumes.map((volume) => volume.split(":", 1)[0]!).filter((volume) => !volume.startsWith("."));
      expect(Object.keys(compose.volumes), name).toEqual(expect.arrayContaining(named));
    }
    const upstream = [...sample("compose/nginx.conf").matchAll(/^\s*server ([\w-]+):8080/gm)].map((match) => match[1]);
    expect(upstream).toEqual(["service-1", "service-2"]);
  });
});

describe("the Kubernetes manifest", () => {
  interface Manifest {
    readonly kind: string;
    readonly metadata: { readonly name: string };
    readonly spec: Spec;
  }
  interface Spec {
    readonly selector?: { readonly matchLabels?: object };
    readonly template?: { readonly metadata: { readonly labels: object }; readonly spec: PodSpec };
  }
  interface PodSpec {
    readonly terminationGracePeriodSeconds: number;
    readonly containers: readonly {
      readonly args: readonly string[];
      readonly env: readonly { readonly name: string }[];
      readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
      readonly [probe: `${string}Probe`]: { readonly httpGet: { readonly path: string } };
    }[];
  }
  const documents = parseAllDocuments(sample("kubernetes.yaml"), { strict: true });
  const manifests = documents.map((document) => document.toJS() as Manifest);
  const deployment = manifests.find(({ kind }) => kind === "Deployment")!.spec;

  test("is valid YAML of the expected kinds", () => {
    expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
    const kinds = manifests.map(({ kind }) => kind);
    expect(kinds).toEqual(["Deployment", "Service", "PodDisruptionBudget", "Ingress"]);
    const labels = deployment.template!.metadata.labels;
    for (const { kind, spec } of manifests.slice(0, 3))
      expect(spec.selector?.matchLabels ?? spec.selector, kind).toEqual(labels);
  });

  test("starts geoferry with known settings, uses existing probes and allows a graceful shutdown", async () => {
    const { terminationGracePeriodSeconds: grace, containers } = deployment.template!.spec;
    const [container] = containers;
    expect(container!.args[0]).toBe("serve");
    expect(unknownFlags(container!.args)).toEqual([]);
    expect(unknownVariables(container!.env.map(({ name }) => name))).toEqual([]);
    const sleep = Number(container!.lifecycle.preStop.exec.command.at(-1));
    expect(grace).toBeGreaterThan(sleep + defaultSettings.endSeconds);

    const service = await ServiceProcess.start(["--data", folder.data()]);
    for (const probe of ["startupProbe", "readinessProbe", "livenessProbe"] as const)
      expect((await fetch(service.url + container![probe]!.httpGet.path)).status, probe).toBe(200);
    expect(await service.end()).toBe(0);
  });
});

const installed = hasProgram("nginx") && hasProgram("openssl");
if (process.env.CI && !installed) throw new Error("nginx or openssl is missing; install nginx-light and openssl");

describe.runIf(database && installed)("the nginx example", () => {
  const place = join(folder.path, "nginx");
  let nginx: ChildProcess;
  let services: readonly [ServiceProcess, ServiceProcess];
  let store: readonly string[];
  let made: Awaited<ReturnType<typeof createAccountWithMap>>;
  let ports: { readonly http: number; readonly https: number };

  beforeAll(async () => {
    store = ["--database", await database!.emptySchema()];
    made = await createAccountWithMap(store);
    ports = { http: await freePort(), https: await freePort() };
    const start = () => ServiceProcess.start([...store, "--public-url", at(""), "--trust-proxy"]);
    services = [await start(), await start()];
    configure();
    // If tests run as root, the workers of nginx could not write to the private folder.
    const own = process.getuid?.() === 0 ? "user root;" : "";
    const said = ["-p", place, "-c", "nginx.conf", "-e", "stderr", "-g", `daemon off; pid ${place}/pid; ${own}`];
    const checked = spawnSync("nginx", ["-t", ...said], { encoding: "utf8" });
    expect(checked.status, checked.stderr).toBe(0);
    nginx = spawn("nginx", said, { stdio: "ignore" });
    await vi.waitFor(async () => expect((await ask("/readyz")).status).toBe(200), { timeout: 60_000 });
  });
  afterAll(() => void nginx?.kill("SIGKILL"));

  function knowsHttp2(): boolean {
    const { stderr } = spawnSync("nginx", ["-v"], { encoding: "utf8" });
    const [major, minor, patch] = /nginx\/(\d+)\.(\d+)\.(\d+)/.exec(stderr)!.slice(1).map(Number);
    return major! > 1 || minor! > 25 || (minor === 25 && patch! >= 1);
  }

  /** The example with the addresses of this test, limited to its folder. */
  function configure(): void {
    mkdirSync(join(place, "certificate"), { recursive: true });
    const files = ["-keyout", "certificate/privkey.pem", "-out", "certificate/fullchain.pem"];
    const line = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost";
    expect(spawnSync("openssl", [...line.split(" "), ...files], { cwd: place }).status).toBe(0);
    const own = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `${name}_temp_path ${place}/${name};`,
    );
    const inside = services.map(({ listening }) => new URL(listening).port);
    const text = sample("compose/nginx.conf")
      .replace(/service-(\d):8080/g, (_, number: string) => `127.0.0.1:${inside[Number(number) - 1]}`)
      .replace("listen 80;", `listen 127.0.0.1:${ports.http};`)
      // The syntax before nginx 1.25.1.
      .replace(/listen 443 ssl;\s+http2 on;/, (now) => (knowsHttp2() ? now : "listen 443 ssl http2;"))
      .replace("listen 443", `listen 127.0.0.1:${ports.https}`)
      .replace("http {\n", `http {\n${own.join("\n")}\n`);
    writeFileSync(join(place, "nginx.conf"), text);
  }

  const at = (path: string): string => `https://localhost:${ports.https}${path}`;

  interface RequestParts {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  }
  /** Over TLS with the certificate that was just made, which fetch would not take. */
  async function ask(path: string, { method = "GET", headers = {}, body }: RequestParts = {}) {
    const url = path.startsWith("https:") ? path : at(path);
    const asked = request(url, { method, headers, rejectUnauthorized: false, family: 4 }).end(body);
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
  }

  const credentials = () => `client_id=${made.clientId}&client_secret=${made.clientSecret}`;
  interface Feature {
    readonly properties: { readonly ref: string };
  }
  async function bearer(): Promise<Record<string, string>> {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const body = `grant_type=client_credentials_with_user&${credentials()}`;
    const answer = await ask("/token", { method: "POST", headers, body });
    return { authorization: `Bearer ${JSON.parse(answer.body).access_token}`, "content-type": "application/json" };
  }
  const served = (service: ServiceProcess, which: string) =>
    service.logs.filter(({ method, status }) => `${method} ${status}` === which).length;

  test("redirects to https and blocks the metrics", async () => {
    const plain = await fetch(`http://127.0.0.1:${ports.http}/readyz`, { redirect: "manual" });
    expect(plain.status).toBe(301);
    expect((await ask("/metrics")).status).toBe(404);
    // geoferry alone decides on Strict-Transport-Security, and omits it for loopback names.
    expect((await ask("/sign-in")).headers["strict-transport-security"]).toBeUndefined();
  });

  test("transfers thousands of features to a map, and back page by page from either process", async () => {
    const headers = await bearer();
    const features = Array.from({ length: 3000 }, (_, i) => ({
      type: "Feature",
      geometry: { type: "Point", coordinates: [i / 100, 50] },
      properties: { ref: `r${i}`, text: "ü".repeat(500) },
    }));
    for (let from = 0; from < features.length; from += 1000) {
      const body = JSON.stringify({ remoteField: "ref", features: features.slice(from, from + 1000) });
      const answer = await ask(`/api/v1/maps/${made.map}/features`, { method: "POST", headers, body });
      expect(answer.status, answer.body.slice(0, 300)).toBe(201);
    }
    const refs: string[] = [];
    for (let next: string | undefined = `/api/v1/maps/${made.map}/features?per_page=500`; next !== undefined; ) {
      const page: { headers: IncomingHttpHeaders; body: string } = await ask(next, { headers });
      refs.push(...JSON.parse(page.body).features.map(({ properties }: Feature) => properties.ref));
      next = /^<(https:[^>]*)>; rel="next"$/.exec(String(page.headers.link ?? ""))?.[1];
    }
    expect(refs).toEqual(features.map(({ properties }) => properties.ref));
  });

  test("lets users sign in at one process and continue at the other", async () => {
    const cookies = new Map<string, string>();
    const visit = async (path: string, form?: Record<string, string>) => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const type = form && { "content-type": "application/x-www-form-urlencoded", origin: at("") };
      const body = form && new URLSearchParams(form).toString();
      const answer = await ask(path, { method: form ? "POST" : "GET", headers: { cookie, ...type }, body });
      for (const line of answer.headers["set-cookie"] ?? []) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
        cookies.set(name!, value!);
      }
      return answer;
    };
    const door = await visit("/sign-in");
    const token = /name="token-of-form" value="([^"]*)"/.exec(door.body)![1]!;
    const fields = { "token-of-form": token, email: "ada@example.org", password, next: `/maps/${made.map}` };
    const entered = await visit("/sign-in", fields);
    expect([entered.status, entered.headers.location]).toEqual([303, `/maps/${made.map}`]);
    expect([...cookies.keys()]).toEqual(["__Host-geoferry-browser"]);
    const before = services.map((service) => served(service, "GET 200"));
    for (let i = 0; i < 6; i++) expect((await visit(`/maps/${made.map}`)).body).toContain(at("/api/v1/maps/"));
    for (const [i, service] of services.entries()) expect(served(service, "GET 200")).toBeGreaterThan(before[i]!);
  });

  test("keeps working when one process ends", async () => {
    const headers = await bearer();
    const body = '{"features":[{"type":"Feature","geometry":null,"properties":{}}]}';
    const create = () => ask(`/api/v1/maps/${made.map}/features`, { method: "POST", headers, body });
    const before = services.map((service) => served(service, "POST 201"));
    for (let i = 0; i < 6; i++) expect((await create()).status).toBe(201);
    expect(await services[0].end()).toBe(0);
    for (let i = 0; i < 6; i++) expect((await create()).status).toBe(201);
    expect(await services[1].end()).toBe(0);
    const after = services.map((service, i) => served(service, "POST 201") - before[i]!);
    expect(after[0]).toBeGreaterThan(0);
    expect(after[0]! + after[1]!).toBe(12);
  });
});
