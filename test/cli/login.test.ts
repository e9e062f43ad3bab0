/** Keeping credentials, and using them: login, whoami, maps, logout against the real service. */
import { once } from "node:events";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import {
  admin,
  cleanEnvironment,
  createAccountWithMap,
  createScratchFolder,
  ServiceProcess,
} from "../service/service-process.js";
import { type CommandResult, geoferry } from "../support/command.js";

const folder = createScratchFolder();
const store = ["--data", folder.data()];

let url: string;
let client: Awaited<ReturnType<typeof createAccountWithMap>>;
let running: ServiceProcess;

beforeAll(async () => {
  client = await createAccountWithMap(store);
  running = await ServiceProcess.start(store);
  url = running.url;
});

/** An address where no one listens. */
let closed: string;
beforeAll(async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  closed = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new Promise((resolve) => server.close(resolve));
});

let homes = 0;
/** A person with a home of their own, without any settings. */
function person() {
  const home = join(folder.path, `home-${homes++}`);
  const clean = Object.fromEntries(
    Object.keys(process.env)
      .filter((name) => !Object.hasOwn(cleanEnvironment, name))
      .map((name) => [name, undefined]),
  );
  const run = (line: readonly string[], input = "", env: NodeJS.ProcessEnv = {}): CommandResult =>
    geoferry(line, { input, env: { ...clean, XDG_CONFIG_HOME: home, ...env } });
  return { run, file: join(home, "geoferry", "profiles.json") };
}

const login = (...more: readonly string[]) => ["login", url, "--client-id", client.clientId, ...more];

describe("login", () => {
  test("login saves valid credentials, readable by their owner only, for other commands", () => {
    const { run, file } = person();
    const done = run(login(), `${client.clientSecret}\n`);
    expect(done).toEqual({
      status: 0,
      stdout: "",
      stderr: `${url}: the credentials are valid; saved as profile default in ${file}\n`,
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(file, "..")).mode & 0o777).toBe(0o700);

    expect(run(["whoami"]).stdout).toBe(`${url}  ${client.clientId}  (profile default, account ada@example.org)\n`);
    expect(JSON.parse(run(["whoami", "--json"]).stdout)).toEqual({
      url,
      client_id: client.clientId,
      profile: "default",
      account: "ada@example.org",
    });
    expect(run(["maps"]).stdout).toBe(`${client.map}  Parks  (ada@example.org, 0 features, private)\n`);
    expect(JSON.parse(run(["maps", "--json"]).stdout)).toMatchObject({ id: client.map, name: "Parks", features: 0 });

    const gone = run(["logout"]);
    expect(gone).toMatchObject({ status: 0, stdout: "" });
    expect(gone.stderr).toContain(
      `deleted profile default; ${client.clientId} remains valid until it is revoked at ${url}`,
    );
    expect(readFileSync(file, "utf8")).not.toContain(client.clientSecret);
    expect(run(["logout"])).toMatchObject({ status: 3, stderr: expect.stringContaining("has no profile default") });
  });

  test("login saves network limits, which flags and variables override", async () => {
    const { run, file } = person();
    run(login("--retries", "0", "--timeout", "0.5", "--connect-timeout", "20"), client.clientSecret);
    const kept = () => JSON.parse(readFileSync(file, "utf8")).default;
    expect(kept().network).toEqual({ retries: 0, timeout: 0.5, connectTimeout: 20 });
    // A login for the same service keeps what it does not name.
    run(login("--minimum-rate", "10"), client.clientSecret);
    expect(kept().network).toEqual({ retries: 0, timeout: 0.5, connectTimeout: 20, minimumRate: 10 });

    const moved = (change: object) => writeFileSync(file, JSON.stringify({ default: { ...kept(), ...change } }));
    moved({ url: closed });
    const tries = (more: readonly string[] = [], env = {}) =>
      /tried (\d+) times|(?!)/.exec(run(["whoami", ...more], "", env).stderr)?.[1] ?? "1";
    expect([tries(), tries(["--retries", "1"]), tries([], { GEOFERRY_RETRIES: "2" })]).toEqual(["1", "2", "3"]);

    for (const [network, reason] of [
      [{ retries: 1.5 }, "network.retries of the profile default must be an integer of at least 0"],
      [
        { timeout: "20s" },
        "network.timeout of the profile default must be a number of seconds above 0 and at most 86400",
      ],
      [{ tries: 1 }, "network.tries of the profile default must be one of connectTimeout, timeout"],
      [[], "network of the profile default must be an object"],
    ] as const) {
      moved({ network });
      const refused = run(["whoami"]);
      expect([refused.status, refused.stderr]).toEqual([expect.any(Number), expect.stringContaining(reason)]);
    }
  });

  test("login saves several profiles, and needs no URL for a known one", () => {
    const { run } = person();
    expect(run(login("--profile", "test", "--json"), client.clientSecret).stdout).toContain('"profile":"test"');
    expect(run(["whoami"])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("there is no profile default; choose one with --profile: test"),
    });
    expect(run(["whoami", "--profile", "test"]).status).toBe(0);
    expect(run(["whoami"], "", { GEOFERRY_PROFILE: "test" }).status).toBe(0);
    expect(run(["whoami", "--url", `${url}/`]).stdout).toContain("(profile test");
    expect(run(["login", "--profile", "test"], client.clientSecret).status).toBe(0);
    expect(run(["login", "--profile", "a b"], client.clientSecret)).toMatchObject({ status: 2 });
  });

  test("login saves no invalid credentials and shows no secret", () => {
    const { run, file } = person();
    const wrong = "gfs_this-is-not-the-secret";
    const refused = run(login("-v", "--json"), wrong);
    expect(refused.status).toBe(9);
    expect(JSON.parse(refused.stdout)).toMatchObject({ type: "error", code: "remote-credentials", exit: 9 });
    expect(refused.stdout + refused.stderr).not.toContain(wrong);
    expect(existsSync(file)).toBe(false);
  });

  test.each<[string, () => readonly string[], string, number, string]>([
    ["no address", () => ["login"], "s", 2, "login needs the URL of a service"],
    ["no client id", () => ["login", url], "s", 2, "needs --client-id"],
    ["no secret", () => login(), "", 2, "stdin contains no client secret"],
    ["http to elsewhere", () => ["login", "http://192.0.2.1", "--client-id", "x"], "s", 2, "--insecure-http"],
    ["another's page", () => ["login", `${url}/sign-in`, "--client-id", "x"], "s", 10, "check the address"],
    ["no server", () => ["login", closed, "--client-id", "x", "--retries", "0"], "s", 8, "refuses"],
    ["an odd timeout", () => login("--timeout", "0"), "s", 2, "a number of seconds above 0, at most 86400"],
    ["odd retries", () => login("--retries", "some"), "s", 2, '"some" is not a whole number from 0'],
    ["an odd rate", () => login("--rate", "0"), "s", 2, "a number of requests above 0"],
    ["no concurrency", () => login("--concurrency", "0"), "s", 2, "a whole number from 1"],
  ])("login with %s fails with advice", (_name, line, input, status, words) => {
    const done = person().run(line(), input);
    expect(done).toMatchObject({ status, stdout: "", stderr: expect.stringContaining(words) });
  });
});

describe("who asks", () => {
  const credentials = () => ({
    GEOFERRY_URL: url,
    GEOFERRY_CLIENT_ID: client.clientId,
    GEOFERRY_CLIENT_SECRET: client.clientSecret,
  });

  test("credentials come from the environment, without a profile", () => {
    const { run, file } = person();
    expect(run(["whoami"], "", credentials()).stdout).toContain("(from the environment, account ada@example.org)");
    expect(existsSync(file)).toBe(false);
  });

  test("a command without credentials fails with advice", () => {
    expect(person().run(["maps"])).toMatchObject({
      status: 2,
      stderr:
        "geoferry: no service is given; save the address and credentials of a service with geoferry login URL --client-id ID, or set GEOFERRY_URL, GEOFERRY_CLIENT_ID and GEOFERRY_CLIENT_SECRET\n",
    });
  });

  test("a revoked credential is rejected", () => {
    const made = admin("credential add --owner ada@example.org", store);
    const env = { ...credentials(), GEOFERRY_CLIENT_ID: made.client_id, GEOFERRY_CLIENT_SECRET: made.client_secret };
    const { run } = person();
    expect(run(["whoami"], "", env).status).toBe(0);
    admin(`credential revoke ${made.client_id}`, store);
    const refused = run(["whoami"], "", env);
    expect(refused).toMatchObject({ status: 9, stdout: "" });
    expect(refused.stderr).toContain("create new ones on its profile page and run geoferry login");
    expect(refused.stderr).not.toContain(made.client_secret);
  });
});

describe("a file of profiles", () => {
  test("a profile file that other users can read is not used", () => {
    const { run, file } = person();
    run(login(), client.clientSecret);
    chmodSync(file, 0o644);
    expect(run(["whoami"])).toMatchObject({ status: 3, stderr: expect.stringContaining(`chmod 600 ${file}`) });
  });

  test("a damaged profile file is reported", () => {
    const { run, file } = person();
    run(login(), client.clientSecret);
    writeFileSync(file, '{"default":');
    expect(run(["whoami"])).toMatchObject({ status: 3, stderr: expect.stringContaining("is not valid JSON") });
    writeFileSync(file, '{"default":{"url":"https://maps.example.org"}}');
    expect(run(["whoami"])).toMatchObject({ status: 3, stderr: expect.stringContaining("default is incomplete") });
  });
});

test("no log of the service contains a secret", async () => {
  await expect.poll(() => running.stderr).toContain("/token");
  expect(running.stderr).not.toContain(client.clientSecret);
});
