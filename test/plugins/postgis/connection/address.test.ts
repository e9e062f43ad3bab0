import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  databaseNameOf,
  isAddress,
  parseAddress,
  redactAddress,
} from "../../../../plugins/postgis/connection/address.js";
import { resolveSettings } from "../../../../plugins/postgis/connection/settings.js";

const folder = mkdtempSync(join(tmpdir(), "geoferry-test-address-"));
afterAll(() => rmSync(folder, { recursive: true }));

const said = (text: string) => Object.fromEntries(parseAddress(text));

describe("an address", () => {
  test.each([
    ["pg:", true],
    ["PG:dbname=x", true],
    ["postgres://h/d", true],
    ["postgresql://h/d", true],
    ["postgres.gpkg", false],
    ["page:1", false],
    ["./pg:x", false],
    ["postgres:x", false],
  ])("%s: %s", (text, expected) => {
    expect(isAddress(text)).toBe(expected);
  });

  // PostgreSQL 15, 34.1.1 "Connection Strings": the examples, and what the text says of quoting.
  test.each([
    ["postgresql://", {}],
    ["postgresql://localhost:5433", { host: "localhost", port: "5433" }],
    ["postgresql://localhost/mydb", { host: "localhost", dbname: "mydb" }],
    ["pg://user@localhost", { user: "user", host: "localhost" }],
    [
      "pg://other@localhost/otherdb?connect_timeout=10&application_name=myapp",
      { user: "other", host: "localhost", dbname: "otherdb", connect_timeout: "10", application_name: "myapp" },
    ],
    ["postgresql://host1:123,host2:456/somedb", { host: "host1,host2", port: "123,456", dbname: "somedb" }],
    ["postgresql:///mydb?host=localhost&port=5433", { host: "localhost", port: "5433", dbname: "mydb" }],
    ["postgresql://[2001:db8::1234]/database", { host: "2001:db8::1234", dbname: "database" }],
    ["postgresql:///dbname?host=/var/lib/postgresql", { dbname: "dbname", host: "/var/lib/postgresql" }],
    ["postgresql://%2Fvar%2Flib%2Fpostgresql/dbname", { host: "/var/lib/postgresql", dbname: "dbname" }],
    [
      "pg:host=localhost port=5432 dbname=mydb connect_timeout=10",
      { host: "localhost", port: "5432", dbname: "mydb", connect_timeout: "10" },
    ],
    [String.raw`PG:dbname = 'it\'s a \\ name' user=a\ b`, { dbname: String.raw`it's a \ name`, user: "a b" }],
    ['PG:"host=h dbname=d"', { host: "h", dbname: "d" }],
    ["pg:mydb", { dbname: "mydb" }],
    ["pg:service=city", { service: "city" }],
    ["pg:dbname=d active_schema=x", { dbname: "d", active_schema: "x" }],
  ])("parses the address %s", (text, expected) => {
    expect(said(text)).toEqual(expected);
  });

  test.each([
    "pg://me:geheim@h/d",
    "postgres://me:ge%40im@h/d",
    "pg:dbname=d password=geheim",
    "pg://h/d?password=geheim",
    "pg:sslpassword='geheim'",
  ])("with a password is refused without telling it: %#", (text) => {
    expect(() => databaseNameOf(text)).toThrow(/PGPASSWORD/);
    expect(() => databaseNameOf(text)).not.toThrow(/geheim|ge%40im|ge@im/);
  });

  test.each([
    "pg:me:geheim@h/d",
    "pg://me:geh/eim@h/d",
    "pg://me:12/geheim@h/d",
    "pg://me:geheim/d",
    "pg://me:geheim?x@h/d",
    "pg:me:gehe=im@h/d",
    "pg:host=h;password=geheim",
    "pg:host=h;Pwd=geheim",
  ])("written wrong is refused without telling what may be a password: %#", (text) => {
    expect(() => databaseNameOf(text)).toThrow(/database address/);
    expect(() => databaseNameOf(text)).not.toThrow(/geh/);
  });

  test.each(["pg:dbname=d colour=red", "pg:dbname='d", "pg:x= =y", "pg://h/%zz", "pg:dbname=d tables=a"])(
    "%s is refused",
    (text) => {
      expect(() => databaseNameOf(text)).toThrow(/database address/);
    },
  );
});

test.each([
  ["pg://me:geheim@h:5432/d?password=geheim", "pg://h:5432/d"],
  ["postgres://me@h/d", "postgres://h/d"],
  ["pg:host=h password='ge \\' heim' dbname=d", "pg:host=h password=… dbname=d"],
  ["pg:host=h sslpassword=geheim", "pg:host=h sslpassword=…"],
  ["pg:service=city", "pg:service=city"],
])("%s is redacted to %s", (text, redacted) => {
  expect(redactAddress(text)).toBe(redacted);
});

describe("settings", () => {
  const of = (text: string, environment: Record<string, string> = {}) => resolveSettings(text, environment);

  test("come from the address, then the service, then the environment", () => {
    const file = join(folder, "services");
    writeFileSync(file, "# a comment\n[other]\nhost=wrong\n[city]\nhost=s.example\nuser=service\npassword=secret\n");
    const environment = {
      PGSERVICEFILE: file,
      PGSERVICE: "city",
      PGUSER: "environment",
      PGDATABASE: "d",
      PGPORT: "77",
    };
    const { servers, user, database, password } = of("pg:host=a.example", environment);
    expect([servers[0]!.host, servers[0]!.port, user, database, password]).toEqual([
      "a.example",
      77,
      "service",
      "d",
      "secret",
    ]);
    expect(of("pg:", environment).servers[0]!.host).toBe("s.example");
    expect(() => of("pg:service=none", environment)).toThrow(/no service "none"/);
  });

  test("several hosts have their own ports, or one", () => {
    const places = (text: string) => of(text).servers.map(({ host, port }) => `${host}:${port}`);
    expect(places("pg://a.example:1,b.example:2/d")).toEqual(["a.example:1", "b.example:2"]);
    expect(places("pg:host=a.example,b.example port=3")).toEqual(["a.example:3", "b.example:3"]);
  });

  // PostgreSQL 15, table 34.1 "SSL Mode Descriptions".
  test.each([
    ["disable", [false]],
    ["allow", [false, true]],
    ["prefer", [true, false]],
    ["require", [true]],
    ["verify-ca", [true]],
    ["verify-full", [true]],
  ])("sslmode=%s", (mode, ways) => {
    const { tls } = of(`pg:host=h.example sslmode=${mode}`).servers[0]!;
    expect(tls.map(Boolean)).toEqual(ways);
    const checks = mode.startsWith("verify");
    for (const way of tls) if (way) expect(way.rejectUnauthorized).toBe(checks);
    if (checks)
      expect(Boolean((tls[0] as object) && "checkServerIdentity" in (tls[0] as object))).toBe(mode === "verify-ca");
  });

  test("sockets need no TLS, and odd modes and ports are refused", () => {
    expect(of("pg:host=/tmp sslmode=verify-full").servers[0]!.tls).toEqual([false]);
    expect(() => of("pg:host=h.example sslmode=often")).toThrow(/sslmode=often/);
    expect(() => of("pg:host=h.example port=x")).toThrow(/port=x/);
    expect(() => of("pg:host=h.example sslrootcert=/nowhere.crt")).toThrow(/nowhere/);
  });
});
