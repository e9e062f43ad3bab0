/** The examples in samples/deploy/: they are what they say, and what they say is what geoferry has. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { common } from "../../src/cli/command.js";
import { serveCommand } from "../../src/cli/commands/serve.js";
import { defaultSettings } from "../../src/service/settings.js";
import { has, samples } from "../support/command.js";
import { testDatabase } from "../support/postgres.js";
import { equip, Running, scratchFolder } from "./running.js";

const folder = scratchFolder();
const sample = (name: string): string => readFileSync(join(samples, "deploy", name), "utf8");
const database = await testDatabase();

const flags = { ...common, ...serveCommand.options };
const variables = Object.keys(flags).map((name) => `GEOFERRY_${name.toUpperCase().replaceAll("-", "_")}`);
const unknownFlags = (words: readonly string[]) =>
  words.filter((word) => word.startsWith("--") && !Object.hasOwn(flags, word.slice(2)));
const unknownVariables = (names: readonly string[]) =>
  names.filter((name) => name.startsWith("GEOFERRY_") && !variables.includes(name));

describe("the unit of systemd", () => {
  const unit = sample("geoferry.service");
  const values = (name: string) => [...unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map((match) => match[1]!);

  test("starts geoferry with what it knows, and lets it end in peace", () => {
    const [start] = values("ExecStart");
    expect(start).toMatch(/^\/\S+\/geoferry serve( |$)/);
    expect(unknownFlags(start!.split(" "))).toEqual([]);
    expect(unknownVariables(unit.match(/GEOFERRY_\w+/g)!)).toEqual([]);
    expect(Number(values("TimeoutStopSec")[0])).toBeGreaterThan(defaultSettings.endSeconds);
    expect(Number(values("LimitNOFILE")[0])).toBeGreaterThan(2 * defaultSettings.connections);
  });

  const analyze = spawnSync("systemd-analyze", ["--version"]).error === undefined;
  test.runIf(analyze)("is one that systemd understands", () => {
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

  test("starts geoferry twice, with what it knows, and lets it end in peace", () => {
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

  test("refers only to what it has", () => {
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

  test("is YAML, of the kinds that it needs", () => {
    expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
    const kinds = manifests.map(({ kind }) => kind);
    expect(kinds).toEqual(["Deployment", "Service", "PodDisruptionBudget", "Ingress"]);
    const labels = deployment.template!.metadata.labels;
    for (const { kind, spec } of manifests.slice(0, 3))
      expect(spec.selector?.matchLabels ?? spec.selector, kind).toEqual(labels);
  });

  test("starts geoferry with what it knows, asks it what it answers, and lets it end in peace", async () => {
    const { terminationGracePeriodSeconds: grace, containers } = deployment.template!.spec;
    const [container] = containers;
    expect(container!.args[0]).toBe("serve");
    expect(unknownFlags(container!.args)).toEqual([]);
    expect(unknownVariables(container!.env.map(({ name }) => name))).toEqual([]);
    const sleep = Number(container!.lifecycle.preStop.exec.command.at(-1));
    expect(grace).toBeGreaterThan(sleep + defaultSettings.endSeconds);

    const service = await Running.start(["--data", folder.data()]);
    for (const probe of ["startupProbe", "readinessProbe", "livenessProbe"] as const)
      expect((await fetch(service.url + container![probe]!.httpGet.path)).status, probe).toBe(200);
    expect(await service.end()).toBe(0);
  });
});

describe.runIf(database && has("nginx") && has("openssl"))("nginx, as the example has it", () => {
  let nginx: ChildProcess | undefined;
  afterAll(() => void nginx?.kill("SIGKILL"));

  async function freePort(): Promise<number> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    return port;
  }

  /** The example with the addresses of this test, and with nothing outside of its folder. */
  function configured(services: readonly Running[], http: number, https: number): string {
    const place = join(folder.path, "nginx");
    mkdirSync(join(place, "certificate"), { recursive: true });
    const files = ["-keyout", "certificate/privkey.pem", "-out", "certificate/fullchain.pem"];
    const line = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost";
    expect(spawnSync("openssl", [...line.split(" "), ...files], { cwd: place }).status).toBe(0);
    const own = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `${name}_temp_path ${place}/${name};`,
    );
    const ports = services.map(({ listening }) => new URL(listening).port);
    const text = sample("compose/nginx.conf")
      .replace(/service-(\d):8080/g, (_, number: string) => `127.0.0.1:${ports[Number(number) - 1]}`)
      .replace("listen 80;", `listen 127.0.0.1:${http};`)
      .replace("listen 443", `listen 127.0.0.1:${https}`)
      .replace("http {\n", `http {\n${own.join("\n")}\n`);
    writeFileSync(join(place, "nginx.conf"), text);
    return place;
  }

  test("shares requests out, goes on where one process ends, and keeps the metrics to itself", async () => {
    const store = ["--database", await database!.emptySchema()];
    const { map, clientId, clientSecret } = equip(store);
    const start = () => Running.start([...store, "--public-url", "https://localhost", "--trust-proxy"]);
    const services = [await start(), await start()] as const;
    const [http, https] = [await freePort(), await freePort()];
    const place = configured(services, http, https);
    const said = ["-p", place, "-c", "nginx.conf", "-e", "stderr", "-g", `daemon off; pid ${place}/pid;`];
    const checked = spawnSync("nginx", ["-t", ...said], { encoding: "utf8" });
    expect(checked.status, checked.stderr).toBe(0);
    nginx = spawn("nginx", said, { stdio: "ignore" });

    /** By curl, as fetch would not take the certificate. */
    const curl = (...args: readonly string[]) => {
      const line = ["-sk", "-o", join(place, "answer"), "-w", "%{http_code}", ...args];
      return spawnSync("curl", line, { encoding: "utf8" }).stdout;
    };
    const at = `https://localhost:${https}`;
    await expect.poll(() => curl(`${at}/readyz`), { timeout: 20_000 }).toBe("200");
    expect(curl(`http://localhost:${http}/readyz`)).toBe("301");
    expect(curl(`${at}/metrics`)).toBe("404");
    expect(
      curl("-u", `${clientId}:${clientSecret}`, "-d", "grant_type=client_credentials_with_user", `${at}/token`),
    ).toBe("200");
    const { access_token: token } = JSON.parse(readFileSync(join(place, "answer"), "utf8")) as { access_token: string };
    const body = '{"features":[{"type":"Feature","geometry":null,"properties":{}}]}';
    const create = () =>
      curl(
        "-H",
        `Authorization: Bearer ${token}`,
        "-H",
        "Content-Type: application/json",
        "-d",
        body,
        `${at}/api/v1/maps/${map}/features`,
      );
    for (let i = 0; i < 6; i++) expect(create()).toBe("201");
    const served = (service: Running) =>
      service.logs.filter(({ method, status }) => method === "POST" && status === 201).length;
    expect(await services[0].end()).toBe(0);
    for (let i = 0; i < 6; i++) expect(create()).toBe("201");
    expect(await services[1].end()).toBe(0);
    expect(served(services[0])).toBeGreaterThan(0);
    expect(served(services[0]) + served(services[1])).toBe(12);
  });
});
