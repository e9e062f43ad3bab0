/** `geoferry serve`: how it starts, where it can be reached, and what it refuses. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { createServer } from "node:net";
import { join } from "node:path";
import { connect } from "node:tls";
import { describe, expect, test, vi } from "vitest";
import { geoferry, hasProgram } from "../../support/command.js";
import {
  admin,
  cleanEnvironment,
  createAccountWithMap,
  createScratchFolder,
  password,
  postFeatures,
  requestToken,
  ServiceProcess,
} from "../service-process.js";

// Every command is a process of its own, which a busy machine takes its time for.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const folder = createScratchFolder();
const serve = (args: readonly string[]) => geoferry(["serve", ...args], { env: cleanEnvironment });

describe("geoferry serve", () => {
  test("makes its folder for no one else, and prints where it is and a link that makes the first account", async () => {
    const data = folder.data();
    const service = await ServiceProcess.start(["--data", join(data, "deeper")]);
    expect(statSync(join(data, "deeper")).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(join(data, "deeper")))
      expect(statSync(join(data, "deeper", name)).mode & 0o077, name).toBe(0);

    expect(service.stdout).toBe(`${JSON.stringify({ url: service.url, setup: service.record.setup })}\n`);
    expect(service.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(service.stderr).toContain(`geoferry: serving at ${service.url}\n`);
    const page = await fetch(service.record.setup!);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('type="password"');
    expect(await service.end()).toBe(0);
    expect(service.stderr).toContain(service.record.setup);
  });

  test("makes another link at its next start, while there is no account", async () => {
    const store = ["--data", folder.data()];
    const first = await ServiceProcess.start(store);
    expect(await first.end("SIGINT")).toBe(0);
    const second = await ServiceProcess.start(store);
    const token = (running: ServiceProcess) => new URL(running.record.setup!).searchParams.get("token");
    expect(token(second)).not.toBe(token(first));
    admin("user add ada@example.org", store, password);
    expect(await second.end()).toBe(0);
    const third = await ServiceProcess.start([...store, "--quiet"]);
    expect(third.record).toEqual({ url: third.url });
    expect(third.stderr).toBe("");
    expect(await third.end()).toBe(0);
  });

  test("is where others say it is, and believes only the proxies that it is told", async () => {
    const store = ["--data", folder.data()];
    const made = createAccountWithMap(store);
    const behind = ["--public-url", "https://maps.example.org/"];
    const headers = { "x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https" };
    for (const [flags, address] of [
      [[], "127.0.0.1"],
      [["--trust-proxy", "10.0.0.0/8"], "127.0.0.1"],
      [["--trust-proxy", "10.0.0.0/8,127.0.0.1"], "203.0.113.9"],
      [["--trust-proxy"], "203.0.113.9"],
    ] as const) {
      const service = await ServiceProcess.start([...store, ...behind, ...flags]);
      expect(service.url).toBe("https://maps.example.org");
      const metadata = await fetch(`${service.listening}/.well-known/oauth-authorization-server`, { headers });
      expect(await metadata.json()).toMatchObject({ token_endpoint: "https://maps.example.org/token" });
      expect(await service.end(), flags.join(" ")).toBe(0);
      expect(
        service.logs.find(({ msg }) => msg === "request"),
        flags.join(" "),
      ).toMatchObject({ address });
    }
    expect(made.map).toHaveLength(36);
  });

  test("may be under a path of its host, its first link, too", async () => {
    const service = await ServiceProcess.start([
      "--data",
      folder.data(),
      "--public-url",
      "https://example.org/some/maps/",
    ]);
    expect(service.url).toBe("https://example.org/some/maps");
    const { setup } = service.record;
    expect(setup).toMatch(/^https:\/\/example\.org\/some\/maps\/setup\?token=/);
    const page = await fetch(setup!.replace("https://example.org", service.listening));
    expect(await page.text()).toContain('action="/some/maps/setup"');
    expect((await fetch(`${service.listening}/healthz`)).status).toBe(200);
    expect(await service.end()).toBe(0);
  });

  test("is set by the environment, too", async () => {
    const service = await ServiceProcess.start([], {
      GEOFERRY_DATA: folder.data(),
      GEOFERRY_LIMIT: "bodyBytes=100,bodyDepth=9",
    });
    const made = createAccountWithMap(["--data", join(folder.path, readdirSync(folder.path).at(-1)!)]);
    const token = await requestToken(service.url, made);
    expect((await postFeatures(service.url, made.map, token, 1)).status).toBe(413);
    expect(await service.end()).toBe(0);
  });
});

describe("geoferry serve over https", { skip: !hasProgram("openssl") }, () => {
  const [cert, key] = [join(folder.path, "cert.pem"), join(folder.path, "key.pem")];
  const flags = ["--host", "0.0.0.0", "--tls-cert", cert, "--tls-key", key];

  function certify(name: string, ...more: readonly string[]): void {
    const line = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=${name} -out ${cert} -keyout ${key}`;
    const made = spawnSync("openssl", [...line.split(" "), ...more], { encoding: "utf8" });
    expect(made.status, made.stderr).toBe(0);
  }

  /** Whose certificate it shows. */
  const shown = (url: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1", rejectUnauthorized: false }, () => {
        resolve(socket.getPeerCertificate().subject.CN as string);
        socket.destroy();
      });
      socket.on("error", reject);
    });

  /** What it says of coming again (RFC 6797), to who knows it by a name that others can reach. */
  const strictTransport = (url: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const options = { rejectUnauthorized: false, headers: { host: "maps.example.org" } };
      const request = get(`${url}/healthz`, options, (answer) => {
        answer.resume();
        resolve(answer.headers["strict-transport-security"]);
      });
      request.on("error", reject);
    });

  test("listens on all addresses, and takes a renewed certificate at SIGHUP", async () => {
    certify("first");
    const service = await ServiceProcess.start(["--data", folder.data(), ...flags]);
    expect(service.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(await shown(service.url)).toBe("first");
    expect(await strictTransport(service.url)).toBe("max-age=31536000");

    certify("second");
    service.process.kill("SIGHUP");
    await expect.poll(() => shown(service.url), { timeout: 60_000 }).toBe("second");

    writeFileSync(cert, "half a cert");
    service.process.kill("SIGHUP");
    await expect.poll(() => service.stderr, { timeout: 60_000 }).toContain("the old certificate stays in use");
    expect(await shown(service.url)).toBe("second");
    expect(await service.end()).toBe(0);
  });

  test("refuses certificates that do not fit", () => {
    certify("one");
    const other = join(folder.path, "other.pem");
    writeFileSync(other, readFileSync(key));
    certify("another");
    for (const [certificate, itsKey] of [
      [cert, other],
      [join(folder.path, "nothing.pem"), key],
      [key, key],
    ]) {
      const refused = serve(["--data", folder.data(), "--tls-cert", certificate!, "--tls-key", itsKey!]);
      expect(refused).toMatchObject({ status: 3, stdout: "" });
      expect(refused.stderr).toMatch(/^geoferry: \S+: cannot be used for https: .+\n$/);
    }
  });
});

describe("geoferry serve refuses", () => {
  test("a port that another program has", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as { port: number };
    const refused = serve(["--data", folder.data(), "--port", String(port), "--json"]);
    expect(refused.status).toBe(11);
    expect(JSON.parse(refused.stdout)).toMatchObject({ type: "error", code: "address-in-use", exit: 11 });
    expect(refused.stderr).toContain(`port ${port} of 127.0.0.1 is in use`);
    other.close();
  });

  test.each([
    ["an address that others reach, without https", ["--host", "0.0.0.0"], 2, "--insecure-http"],
    ["a name that may lead anywhere, without https", ["--host", "maps.example.org"], 2, "--insecure-http"],
    ["an address of another machine", ["--host", "203.0.113.5", "--insecure-http"], 2, "no address of this machine"],
    ["half of what https needs", ["--tls-cert", "cert.pem"], 2, "--tls-key"],
    ["a port that is none", ["--port", "65536"], 2, "65536"],
    ["a port in words", ["--port", "http"], 2, "http"],
    ["a public address with a query", ["--public-url", "https://example.org/maps?a"], 2, "--public-url"],
    ["a public address of another kind", ["--public-url", "ftp://example.org"], 2, "--public-url"],
    ["a limit that is none", ["--limit", "bodyBites=1"], 2, "bodyBytes"],
    ["a limit of nothing", ["--limit", "bodyBytes=0"], 2, "bodyBytes"],
    ["a time that no timer can wait", ["--limit", "endSeconds=2147484"], 2, "at most 2147483"],
    ["a depth that the stack does not have", ["--limit", "bodyDepth=100000"], 2, "at most 1000"],
    ["a file that is no database", ["--data", join(folder.path, "of-another")], 3, "another program"],
    ["a level that is none", ["--log-level", "loud"], 2, "debug"],
    ["an argument", ["maps"], 2, "maps"],
    ["a proxy without an address", ["--trust-proxy", "maps.example.org"], 2, "--trust-proxy"],
    ["a folder that is a file", ["--data", join(folder.path, "a-file")], 6, "--data"],
    ["a database that cannot be reached", ["--database", "postgres://127.0.0.1:1/x"], 8, "127.0.0.1:1"],
    ["a database without a name of its kind", ["--database", "maps"], 2, "--database"],
    ["a password that everybody can read", ["--database", "postgres://a:secret@127.0.0.1:1/x"], 2, "PGPASSWORD"],
  ])("%s", (_, flags, status, said) => {
    writeFileSync(join(folder.path, "a-file"), "");
    mkdirSync(join(folder.path, "of-another"), { recursive: true });
    writeFileSync(join(folder.path, "of-another", "geoferry.sqlite"), "not a database");
    const data = flags.includes("--data") ? [] : ["--data", folder.data()];
    const refused = serve(["--port", "0", ...data, ...flags].slice(flags.includes("--port") ? 2 : 0));
    expect(refused).toMatchObject({ status, stdout: "" });
    expect(refused.stderr).toMatch(/^geoferry: .+\n$/);
    expect(refused.stderr).toContain(said);
    expect(refused.stderr).not.toContain("secret");
  });

  test("a password in the database's address of the environment is used, and not told", () => {
    const env = { ...cleanEnvironment, GEOFERRY_DATABASE: "postgres://a:secret@127.0.0.1:1/x" };
    const refused = geoferry(["serve", "--port", "0"], { env });
    expect(refused.status).toBe(8);
    expect(refused.stderr).not.toContain("secret");
  });
});
