/** `geoferry admin` on the command line and in scripts. */
import { spawnSync } from "node:child_process";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { hasProgram, main } from "../support/command.js";
import { testDatabase } from "../support/servers/postgres.js";
import {
  type AccountWithMap,
  admin,
  cleanEnvironment,
  createScratchFolder,
  password,
  postFeatures,
  readFeatureIds,
  requestToken,
  runAdmin,
  ServiceProcess,
} from "./service-process.js";

// Each command is a separate process, which is slow on a busy machine.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const folder = createScratchFolder();
const database = await testDatabase();
const stores: readonly (readonly [string, () => Promise<readonly string[]>])[] = [
  ["SQLite", async () => ["--data", folder.data()]],
  ...(database ? [["PostgreSQL", async () => ["--database", await database.emptySchema()]] as const] : []),
];
const records = (stdout: string) =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

/** An account with a map and a credential. */
function adminAccountWithMap(store: readonly string[]): AccountWithMap {
  admin("user add ada@example.org", store, password);
  const { id } = admin("map add Parks --owner ada@example.org", store);
  const { client_id, client_secret } = admin("credential add --owner ada@example.org", store);
  return { map: id!, clientId: client_id!, clientSecret: client_secret! };
}

describe.each(stores)("geoferry admin on %s", (_, newStore) => {
  test("creates an account, a map and a credential that the service accepts", async () => {
    const store = await newStore();
    const made = adminAccountWithMap(store);
    expect(made.map).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    const service = await ServiceProcess.start(store);
    // An account exists, so no setup link is printed.
    expect(service.record).toEqual({ url: service.url });
    const token = await requestToken(service.url, made);
    expect((await postFeatures(service.url, made.map, token, 2)).status).toBe(201);
    expect(await readFeatureIds(service.url, made.map, token)).toHaveLength(2);
    expect(await service.end()).toBe(0);
  });

  test("changes are visible to a running service at once", async () => {
    const store = await newStore();
    const service = await ServiceProcess.start(store);
    expect(service.record.setup).toMatch(/\/setup\?token=gfu_/);
    const made = adminAccountWithMap(store);
    const token = await requestToken(service.url, made);
    expect((await postFeatures(service.url, made.map, token, 1)).status).toBe(201);

    expect(admin(`credential revoke ${made.clientId}`, store)).toEqual({ client_id: made.clientId, revoked: true });
    expect((await postFeatures(service.url, made.map, token, 1)).status).toBe(401);
    await expect(requestToken(service.url, made)).rejects.toThrow("401");
    expect(admin(`credential revoke ${made.clientId}`, store)).toEqual({ client_id: made.clientId, revoked: false });
    expect(await service.end()).toBe(0);
  });

  test("lists users, maps and credentials", async () => {
    const store = await newStore();
    const made = adminAccountWithMap(store);
    admin("user add bob@example.org", store, password);
    admin("map add Huts --owner bob@example.org --public", store);
    admin("user set-name bob@example.org --name Bob", store);
    const list = (line: string) => records(runAdmin([...line.split(" "), ...store, "--json"]).stdout);
    expect(list("user list").map(({ email, name }) => [email, name])).toEqual([
      ["ada@example.org", ""],
      ["bob@example.org", "Bob"],
    ]);
    expect(list("map list")).toEqual([
      expect.objectContaining({ name: "Huts", owner: "bob@example.org", private: false, features: 0 }),
      expect.objectContaining({ id: made.map, name: "Parks", owner: "ada@example.org", private: true }),
    ]);
    expect(list("map list --owner ADA@example.org").map(({ name }) => name)).toEqual(["Parks"]);
    const [credential] = list("credential list");
    expect(credential).toMatchObject({
      client_id: made.clientId,
      owner: "ada@example.org",
      lastUsed: null,
      revoked: null,
    });
    expect(JSON.stringify(credential)).not.toContain(made.clientSecret);
    expect(list("credential list --owner bob@example.org")).toEqual([]);
  });

  test("deletes a map with features only with the flag that allows it", async () => {
    const store = await newStore();
    const made = adminAccountWithMap(store);
    const service = await ServiceProcess.start(store);
    await postFeatures(service.url, made.map, await requestToken(service.url, made), 3);
    const refused = runAdmin(["map", "remove", made.map, ...store]);
    expect(refused.status).toBe(7);
    expect(refused.stderr).toContain("3 features");
    expect(admin(`map remove ${made.map} --with-features`, store)).toEqual({
      id: made.map,
      name: "Parks",
      features: 3,
    });
    expect(runAdmin(["map", "remove", made.map, ...store]).status).toBe(3);
    expect(await service.end()).toBe(0);
  });

  test("changes a password", async () => {
    const store = await newStore();
    adminAccountWithMap(store);
    const service = await ServiceProcess.start(store);
    expect(await canSignIn(service.url, password)).toBe(true);
    admin("user set-password ada@example.org", store, "another one, and longer");
    expect(await canSignIn(service.url, password)).toBe(false);
    expect(await canSignIn(service.url, "another one, and longer")).toBe(true);
    expect(await service.end()).toBe(0);
  });
});

/** Submits the sign-in form like a browser. */
async function canSignIn(url: string, password: string): Promise<boolean> {
  const page = await fetch(`${url}/sign-in`);
  const cookie = page.headers
    .getSetCookie()
    .map((one) => one.split(";", 1)[0])
    .join("; ");
  const hidden = [...(await page.text()).matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  const form = new URLSearchParams(hidden.map(([, name, value]): [string, string] => [name!, value!]));
  form.set("email", "ada@example.org");
  form.set("password", password);
  const answer = await fetch(`${url}/sign-in`, {
    method: "POST",
    body: form,
    headers: { cookie, origin: url },
    redirect: "manual",
  });
  return answer.status === 303;
}

describe("geoferry admin without --json", () => {
  const store = ["--data", folder.data()];

  test("prints results for scripts on stdout only", () => {
    const user = runAdmin(["user", "add", "ada@example.org", ...store], `${password}\n`);
    expect(user).toMatchObject({ status: 0, stdout: "" });
    expect(user.stderr).toContain("ada@example.org");
    const map = runAdmin(["map", "add", "Parks and gardens", "--owner", "ada@example.org", ...store]);
    expect(map.stdout).toMatch(/^[0-9a-f-]{36}\n$/);
    const credential = runAdmin(["credential", "add", "--owner", "ada@example.org", "--name", "nightly", ...store]);
    expect(credential.stdout).toMatch(/^client_id=gfc_\S+\nclient_secret=gfs_\S+\n$/);
    expect(runAdmin(["map", "list", ...store]).stdout).toMatch(
      /^\S{36} {2}Parks and gardens {2}\(ada@example.org, 0 features, private\)\n$/,
    );
    expect(runAdmin(["credential", "list", ...store]).stdout).toMatch(
      /nightly {2}\(ada@example.org, last used never\)/,
    );
  });

  test("finds its data folder in the environment, or else in the home directory", () => {
    const home = join(folder.path, "home");
    expect(runAdmin(["user", "list"], "", { GEOFERRY_DATA: store[1] }).stdout).toContain("ada@example.org");
    expect(runAdmin(["user", "add", "bob@example.org"], password, { XDG_DATA_HOME: home }).status).toBe(0);
    expect(runAdmin(["user", "list"], "", { XDG_DATA_HOME: home }).stdout).toContain("bob@example.org");
    expect(statSync(join(home, "geoferry")).mode & 0o777).toBe(0o700);
  });

  test.runIf(database)("prefers flags over the environment", async () => {
    const other = await database!.emptySchema();
    const typed = runAdmin(["user", "list", ...store], "", { GEOFERRY_DATABASE: other });
    expect(typed.stdout).toContain("ada@example.org");
    expect(runAdmin(["user", "list"], "", { GEOFERRY_DATABASE: other })).toMatchObject({ status: 0, stdout: "" });
  });
});

/** Shows what a user at a terminal sees who types each answer at its prompt; the last line is the status. */
const terminalScript = `
import os, pty, sys
answers = sys.argv[1].encode().split(b"|")
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
seen, asked = b"", 0
while True:
    try:
        part = os.read(terminal, 1000)
    except OSError:
        break
    if not part:
        break
    seen += part
    if seen.endswith(b": ") and asked < len(answers):
        os.write(terminal, answers[asked])
        asked += 1
print(seen.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), sep="\\n", end="")
`;

describe("the password prompt of geoferry admin", { skip: !hasProgram("python3") }, () => {
  const data = folder.data();
  const type = (answers: string) => {
    const line = [process.execPath, main, "admin", "user", "add", "ada@example.org", "--data", data];
    const typed = spawnSync("python3", ["-c", terminalScript, answers, ...line], {
      encoding: "utf8",
      env: { ...cleanEnvironment, NO_COLOR: "1" },
      timeout: 30_000,
    });
    const seen = typed.stdout.split(/\r?\n/);
    return { seen: seen.slice(0, -1).filter((text) => text !== ""), status: Number(seen.at(-1)) };
  };

  test("asks for the password twice and does not echo it", () => {
    const [first, again] = ["Password: ", "Repeat the password: "];
    const refused = ["geoferry: the passwords do not match; nothing was changed"];
    expect(type("three words and 4\r|three words and 5\r")).toEqual({ seen: [first, again, ...refused], status: 2 });
    expect(type("three words and 4\r|three words and 4\r")).toEqual({
      seen: [first, again, `${data}: created account ada@example.org`],
      status: 0,
    });
  });

  test("can be cancelled with Ctrl+C", () => {
    expect(type("thr\u0003")).toMatchObject({ status: 130 });
  });
});

describe("geoferry admin with invalid input", () => {
  const data = folder.data();
  const store = ["--data", data];
  const add = ["user", "add", "eve@example.org", ...store];

  test("rejects an unknown owner and suggests a similar one", () => {
    runAdmin(["user", "add", "ada@example.org", ...store], password);
    const refused = runAdmin(["map", "add", "Parks", "--owner", "adda@example.org", ...store]);
    expect(refused).toMatchObject({ status: 3, stdout: "" });
    expect(refused.stderr).toContain('did you mean "ada@example.org"?');
  });

  test("rejects a second account with the same email address in other letter case", () => {
    expect(runAdmin(["user", "add", "ADA@example.org", ...store], password).status).toBe(10);
  });

  test.each([
    ["an empty input", ""],
    ["an empty line", "\n"],
    ["a short text", "short"],
    ["the email address", "eve@example.org"],
    ["a repeated letter", "aaaaaaaaaaaa"],
    ["two lines", "three words and\na 4\n"],
    ["an overlong text", "x".repeat(10_000)],
  ])("rejects %s as a new password", (_, input) => {
    const refused = runAdmin(add, input);
    expect(refused).toMatchObject({ status: 2, stdout: "" });
    expect(refused.stderr).toMatch(/^geoferry: .+; nothing was changed\n$/);
  });

  test.each([
    ["an invalid email address", ["user", "add", "eve", ...store], 2],
    ["an empty name", ["map", "add", " ", "--owner", "ada@example.org", ...store], 2],
    ["a name with a leading space", ["map", "add", " Parks", "--owner", "ada@example.org", ...store], 2],
    ["a map without an owner", ["map", "add", "Parks", ...store], 2],
    ["an unknown map", ["map", "remove", "0192d3f0-6f0a-7c6e-8f4a-1b2c3d4e5f60", ...store], 3],
    ["a map name instead of an id", ["map", "remove", "Parks", ...store], 3],
    ["an unknown credential", ["credential", "revoke", "gfc_x", ...store], 3],
    ["a folder without a store", ["user", "list", "--data", join(folder.path, "nothing")], 3],
    ["a folder that is a file", ["user", "add", "eve@example.org", "--data", join(folder.path, "file")], 6],
    ["a folder that cannot be created", ["user", "add", "eve@example.org", "--data", "/proc/x/y"], 6],
    ["a database that cannot be reached", ["user", "list", "--database", "postgres://127.0.0.1:1/x"], 8],
    ["a mistyped database address", ["user", "list", "--database", "postgres:/a:secret@127.0.0.1/x"], 2],
    ["a database of another vendor", ["user", "list", "--database", "mysql://127.0.0.1/x"], 2],
    ["a password on the command line", ["user", "list", "--database", "postgres://a:secret@127.0.0.1:1/x"], 2],
    [
      "several hosts that cannot be reached",
      ["user", "list", "--database", "postgres://a@127.0.0.1:1,127.0.0.2:1/x"],
      8,
    ],
  ])("rejects %s", (_, line, status) => {
    writeFileSync(join(folder.path, "file"), "");
    const refused = runAdmin(line, password);
    expect(refused).toMatchObject({ status, stdout: "" });
    expect(refused.stderr).toMatch(/^geoferry: .+\n$/);
    expect(refused.stderr).not.toContain("secret");
  });

  test("rejects a database of a later version, and one of another program", async () => {
    const { default: Sqlite } = await import("better-sqlite3");
    const later = new Sqlite(join(data, "geoferry.sqlite"));
    later.pragma("user_version = 9999");
    later.close();
    expect(runAdmin(["user", "list", ...store]).status).toBe(4);
    const foreign = folder.data();
    mkdirSync(foreign);
    const other = new Sqlite(join(foreign, "geoferry.sqlite"));
    other.exec("CREATE TABLE mine (x)");
    other.close();
    expect(runAdmin(["user", "list", "--data", foreign]).status).toBe(3);
  });
});
