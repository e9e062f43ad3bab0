/** Malicious services and servers cause a clear error, within bounded time, memory and disk space. */
import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exitStatus } from "../../src/cli/exit.js";
import { Workspace } from "../../src/compare/workspace.js";
import { asGeoferryError } from "../../src/errors.js";
import { openInput } from "../../src/io/input/open-input.js";
import { Spool } from "../../src/io/input/spool.js";
import { withNetworkSettings } from "../../src/network-settings.js";
import { createServiceClient } from "../../src/remote/client/service-client.js";
import { readSnapshot } from "../../src/remote/snapshot/read-snapshot.js";
import { TemporaryFolder } from "../support/read-layers.js";
import { HostileServer } from "../support/servers/hostile-server.js";

const scratch = new TemporaryFolder();
let server: HostileServer;
beforeAll(async () => {
  server = await HostileServer.start();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const impatient = { connectTimeout: 2000, timeout: 700, retries: 1 };
const never = new AbortController().signal;

async function readMap(id: string, settings: { readonly maxBytes?: number } = {}) {
  const spool = new Spool(scratch.folder);
  const workspace = await Workspace.create(spool);
  try {
    const traffic = { ...impatient, rate: null, concurrency: 4, firstRetryDelay: 1 };
    const client = createServiceClient(
      { url: server.url, clientId: "a", clientSecret: "a-secret" },
      traffic,
      never,
    ).map(id);
    return await readSnapshot(client, workspace, { rounding: { degrees: 7, metres: 2 }, ...settings });
  } finally {
    workspace[Symbol.dispose]();
    await spool[Symbol.asyncDispose]();
  }
}

const failure = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => null,
    (thrown: unknown) => asGeoferryError(thrown),
  );
  expect(error).not.toBeNull();
  expect(readdirSync(scratch.folder)).toEqual([]);
  return { status: exitStatus[error!.kind], message: error!.message };
};

describe("reading a map", () => {
  test.each<[string, number, string]>([
    ["deep-properties", 10, "has properties nested deeper than 200 levels in feature a"],
    ["deep-page", 10, "is not a FeatureCollection"],
    ["deep-collections", 10, "has a geometry nested deeper than 200 levels in feature a"],
    ["deep-coordinates", 10, "has no valid GeoJSON geometry in feature a"],
    ["next-forever", 10, "has 1 features, not 500, although another page follows"],
    ["next-elsewhere", 10, "although another page follows"],
    ["too-many", 10, "has 501 features, more than the 500"],
    ["one-id-twice", 10, "has two features with the id a"],
    ["id-a-number", 10, "has no string id on its feature 1"],
    ["id-a-list", 10, "has no string id on its feature 1"],
    ["no-number", 10, "not JSON or is incomplete"],
    ["infinity", 10, "not JSON or is incomplete"],
    ["latin1", 10, "the response is not UTF-8"],
    ["gzip-bomb", 10, "the response has more than 268435456 bytes"],
    ["gzip-of-gzip", 10, "the response has more than"],
    ["endless-body", 10, "the response has more than 268435456 bytes"],
    ["endless-refusal", 10, "HTTP 400"],
    ["endless-drip", 8, "fewer than 1000 (--minimum-rate, --timeout) (tried 2 times)"],
    ["endless-head", 10, "the headers of the response exceed 16 KiB"],
    ["endless-redirects", 10, "HTTP 302, a redirect to"],
    ["redirect-elsewhere", 10, "HTTP 302, a redirect to http://127.0.0.2:9/"],
    ["length-too-large", 8, "closed the connection"],
    ["length-too-small", 10, "not JSON or is incomplete"],
    ["two-lengths", 8, "Parse Error"],
    ["silent", 8, "no answer within 0.7 s (--timeout) (tried 2 times)"],
  ])("a map that is %s ends with exit status %i", async (id, status, reason) => {
    const found = await failure(readMap(id));
    expect(found).toEqual({ status, message: expect.stringContaining(reason) });
    expect(found.message).not.toContain("internal");
  });

  test.each(["same-page-forever", "turned-page-forever"])(
    "a map that is %s has the features of one page",
    async (id) => {
      expect((await readMap(id)).features).toBe(500);
    },
  );

  test("an endless map is read up to twice the reported number of features", async () => {
    server.announced = 1000;
    server.asked.length = 0;
    const { status, message } = await failure(readMap("other-page-forever"));
    server.announced = null;
    expect(status).toBe(10);
    expect(message).toContain("page 400 of map other-page-forever is not the last one");
    expect(server.asked.filter((path) => path.includes("/features")).length).toBeLessThan(410);
  });

  test("a map that exceeds the byte limit is not stored", async () => {
    const { status, message } = await failure(readMap("other-page-forever", { maxBytes: 1_000_000 }));
    expect(status).toBe(3);
    expect(message).toContain("larger than the limit of 1000000 bytes; raise it with --max-input");
  });

  test("a property named __proto__ is kept", async () => {
    const body = JSON.parse(
      '{"type":"FeatureCollection","features":[{"type":"Feature","id":"a","geometry":null,"properties":{"__proto__":{"x":1},"constructor":"c"}}]}',
    ) as object;
    server.harm = ({ request, response }) =>
      void response.end(request.url === "/token" ? '{"access_token":"t","token_type":"Bearer"}' : JSON.stringify(body));
    const { fields } = await readMap("any");
    server.harm = null;
    expect([...fields.keys()].sort()).toEqual(["__proto__", "constructor"]);
  });

  test("a deeply nested token response is rejected", async () => {
    server.harm = ({ response }) =>
      void response.end(`{"access_token":"t","token_type":${"[".repeat(200_000)}${"]".repeat(200_000)}}`);
    const found = await failure(readMap("any"));
    server.harm = null;
    expect(found).toEqual({
      status: 10,
      message: expect.stringContaining("the response contains no usable access token"),
    });
  });
});

describe("downloading an input", () => {
  const open = (name: string, maxBytes?: number) =>
    withNetworkSettings(impatient, async () => {
      await using spool = new Spool(scratch.folder);
      return await openInput(`${server.url}/files/${name}`, {
        ...{ spool, signal: never },
        ...(maxBytes !== undefined && { maxBytes }),
      });
    });

  test.each<[string, number, string]>([
    ["bomb.geojson", 3, "expands to more than 1000 times its compressed size"],
    ["drip.geojson", 8, "fewer than 1000 (--minimum-rate, --timeout)"],
    ["head.geojson", 3, "the headers of the response exceed 16 KiB"],
    ["round.geojson", 3, "redirects more than 10 times"],
    ["short.geojson", 8, "closed the connection"],
    ["silent.geojson", 8, "no answer within 0.7 s (--timeout)"],
    ["refused.geojson", 8, "the server answers 500"],
  ])("download of %s ends with exit status %i", async (name, status, reason) => {
    expect(await failure(open(name))).toEqual({ status, message: expect.stringContaining(reason) });
  });

  test("an endless download stops at --max-input", async () => {
    expect(await failure(open("endless.geojson", 50_000_000))).toEqual({
      status: 3,
      message: expect.stringContaining("larger than the limit of 50000000 bytes; raise it with --max-input"),
    });
  });
});
