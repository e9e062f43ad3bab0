/** `geoferry serve`: startup, addresses, and rejected options. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { createServer } from "node:net";
import { join } from "node:path";
import { connect } from "node:tls";
import { describe, expect, test, vi } from "vitest";
import { readCertificate } from "../../../src/service/process/listen.js";
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

// Each command is a separate process, which is slow on a busy machine.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const folder = createScratchFolder();
const serve = (args: readonly string[]) => geoferry(["serve", ...args], { env: cleanEnvironment });

describe("geoferry serve", () => {
  test("creates a private folder, and prints its URL and a setup link", async () => {
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

  test("prints a new setup link at its next start while there is no account", async () => {
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

  test("uses the public URL, and trusts only the given proxies", async () => {
    const store = ["--data", folder.data()];
    const made = await createAccountWithMap(store);
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

  test("can run below a path of a host, including its setup link", async () => {
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

  test("can be configured by the environment", async () => {
    const service = await ServiceProcess.start([], {
      GEOFERRY_DATA: folder.data(),
      GEOFERRY_LIMIT: "bodyBytes=100,bodyDepth=9",
    });
    const made = await createAccountWithMap(["--data", join(folder.path, readdirSync(folder.path).at(-1)!)]);
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

  /** The certificate that a server presents. */
  const shown = (url: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1", rejectUnauthorized: false }, () => {
        resolve(socket.getPeerCertificate().subject.CN as string);
        socket.destroy();
      });
      socket.on("error", reject);
    });

  /** The header Strict-Transport-Security (RFC 6797) for a name that other machines can reach. */
  const strictTransport = (url: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const options = { rejectUnauthorized: false, headers: { host: "maps.example.org" } };
      const request = get(`${url}/healthz`, options, (answer) => {
        answer.resume();
        resolve(answer.headers["strict-transport-security"]);
      });
      request.on("error", reject);
    });

  test("listens on all addresses, and reloads a renewed certificate on SIGHUP", async () => {
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

  test("refuses a certificate that is not valid yet", () => {
    certify("later");
    const day = 86_400_000;
    expect(() => readCertificate({ cert, key }, Date.now() - day)).toThrow("it is not valid before");
    expect(() => readCertificate({ cert, key }, Date.now() + 10 * day)).toThrow("it expired on");
    expect(readCertificate({ cert, key }, Date.now())).toMatchObject({ minVersion: "TLSv1.2" });
  });

  test.skipIf(!hasProgram("ss"))("has room for thousands of connections that wait to be accepted", async () => {
    const service = await ServiceProcess.start(["--data", folder.data(), "--port", "0"]);
    const { port } = new URL(service.url);
    const { stdout } = spawnSync("ss", ["-ltnH", `sport = :${port}`], { encoding: "utf8" });
    // The kernel's own limit, of which Linux has 4096 by default.
    const most = Number(readFileSync("/proc/sys/net/core/somaxconn", "utf8"));
    expect(Number(stdout.trim().split(/\s+/)[2])).toBe(Math.min(4096, most));
    expect(await service.end()).toBe(0);
  });

  test("rejects certificates that do not match", () => {
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

describe("geoferry serve with invalid settings", () => {
  test("rejects a port in use", async () => {
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
    ["an address that other machines can reach, without https", ["--host", "0.0.0.0"], 2, "--insecure-http"],
    ["a host name, without https", ["--host", "maps.example.org"], 2, "--insecure-http"],
    [
      "an address of another machine",
      ["--host", "203.0.113.5", "--insecure-http"],
      2,
      "does not belong to this machine",
    ],
    ["a certificate without its key", ["--tls-cert", "cert.pem"], 2, "--tls-key"],
    ["an invalid port number", ["--port", "65536"], 2, "65536"],
    ["a port name", ["--port", "http"], 2, "http"],
    ["a public URL with a query", ["--public-url", "https://example.org/maps?a"], 2, "--public-url"],
    ["a public URL with another scheme", ["--public-url", "ftp://example.org"], 2, "--public-url"],
    ["an unknown limit", ["--limit", "bodyBites=1"], 2, "bodyBytes"],
    ["a limit of 0", ["--limit", "bodyBytes=0"], 2, "bodyBytes"],
    ["a timeout beyond the range of timers", ["--limit", "endSeconds=2147484"], 2, "at most 2147483"],
    ["a depth beyond the stack size", ["--limit", "bodyDepth=100000"], 2, "at most 1000"],
    ["a file that is not a database", ["--data", join(folder.path, "of-another")], 3, "another program"],
    ["an unknown log level", ["--log-level", "loud"], 2, "debug"],
    ["a positional argument", ["maps"], 2, "maps"],
    ["a proxy given by name", ["--trust-proxy", "maps.example.org"], 2, "--trust-proxy"],
    ["a folder that is a file", ["--data", join(folder.path, "a-file")], 6, "--data"],
    ["a database that cannot be reached", ["--database", "postgres://127.0.0.1:1/x"], 8, "127.0.0.1:1"],
    ["a database URL without a scheme", ["--database", "maps"], 2, "--database"],
    ["a database password on the command line", ["--database", "postgres://a:secret@127.0.0.1:1/x"], 2, "PGPASSWORD"],
  ])("rejects %s", (_, flags, status, message) => {
    writeFileSync(join(folder.path, "a-file"), "");
    mkdirSync(join(folder.path, "of-another"), { recursive: true });
    writeFileSync(join(folder.path, "of-another", "geoferry.sqlite"), "not a database");
    const data = flags.includes("--data") ? [] : ["--data", folder.data()];
    const refused = serve(["--port", "0", ...data, ...flags].slice(flags.includes("--port") ? 2 : 0));
    expect(refused).toMatchObject({ status, stdout: "" });
    expect(refused.stderr).toMatch(/^geoferry: .+\n$/);
    expect(refused.stderr).toContain(message);
    expect(refused.stderr).not.toContain("secret");
  });

  test("uses the password in the database URL of the environment, and does not print it", () => {
    const env = { ...cleanEnvironment, GEOFERRY_DATABASE: "postgres://a:secret@127.0.0.1:1/x" };
    const refused = geoferry(["serve", "--port", "0"], { env });
    expect(refused.status).toBe(8);
    expect(refused.stderr).not.toContain("secret");
  });
});
