/**
 * Synchronizes with a service that implements only the interface (test/support/servers/alternative-service.ts), in all
 * modes.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type { SyncRequest } from "../../src/sync/request.js";
import type { EntityTags, MapFeature, ServiceBehavior } from "../support/servers/alternative-map.js";
import { AlternativeService } from "../support/servers/alternative-service.js";
import { createPlace, type Place } from "../support/sync/sync-fixture.js";
import { noGuards, runSyncInProcess } from "../support/sync/sync-runner.js";

const folder = mkdtempSync(join(tmpdir(), "geoferry-odd-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const places = (from: number, to: number, title = "as it was"): Place[] =>
  Array.from({ length: to - from }, (_, i) => createPlace(`p${from + i}`, { title }));

/** Features of a map as "p7 title", sorted. */
const shown = (features: readonly Pick<MapFeature, "properties">[]): string[] =>
  features.map(({ properties }) => `${properties.ref} ${properties.title}`).sort();

let files = 0;

async function begin(held: readonly Place[], manners: Partial<ServiceBehavior> = {}) {
  const service = await AlternativeService.start(manners);
  onTestFinished(() => service[Symbol.asyncDispose]());
  const map = service.newMap();
  const sync = (source: readonly Place[], request: Partial<SyncRequest> = {}) => {
    const path = join(folder, `source-${files++}.geojsonl`);
    writeFileSync(path, source.map((one) => `${JSON.stringify(one)}\n`).join(""));
    return runSyncInProcess({
      url: service.url,
      as: service,
      folder,
      map,
      source: path,
      request: { guards: noGuards, ...request },
    });
  };
  if (held.length > 0) expect((await sync(held)).end).toBe("done");
  const ids = () => new Map(service.featuresOf(map).map(({ id, properties }) => [properties.ref, id]));
  service.seen.length = 0;
  const writes = () => service.seen.filter((line) => !line.startsWith("GET") && line !== "POST /token");
  return { service, map, sync, ids, writes, shown: () => shown(service.featuresOf(map)) };
}

const kinds: readonly (readonly [string, Partial<ServiceBehavior>])[] = [
  ["that answers a page beyond the last with nothing", {}],
  ["that answers a page beyond the last with 404", { beyondLast: 404 }],
  ["that updates by POST what has the same key", { upsertBy: "ref" }],
  ["that answers PUT feature by feature", { putAnswer: "result" }],
  ["that takes 100 KB at once", { bodyBytes: 100_000 }],
];

describe.each(kinds)("with a service %s", (_what, manners) => {
  // Full pages, whose end only the next page reveals, and more features than one request can contain.
  test.each(manners.beyondLast ? [500, 1000] : [1203])(
    "full mode creates, updates and deletes among %i features",
    async (count) => {
      const { sync, ids, shown } = await begin(places(0, count), manners);
      const before = ids();
      const source = [...places(20, count - 10), ...places(count - 10, count, "new"), ...places(count, count + 5)];
      const { end } = await sync(source, { mode: "full", updateWith: "delete-create" });
      expect(end).toBe("done");
      expect(shown()).toEqual(source.map(({ properties }) => `${properties.ref} ${properties.title}`).sort());
      const after = ids();
      for (const { properties } of places(20, count - 10))
        expect(after.get(properties.ref)).toBe(before.get(properties.ref));
    },
  );

  test("incremental mode creates and updates, but does not delete", async () => {
    const { sync, shown } = await begin(places(0, 30), manners);
    const source = [...places(10, 20), ...places(20, 25, "new"), ...places(30, 40)];
    const unsupported = await sync(source);
    expect(unsupported.end).toBe("update-unsupported");
    const { end } = await sync(source, { updateWith: "delete-create" });
    expect(end).toBe("done");
    const wanted = [...places(0, 20), ...places(20, 25, "new"), ...places(25, 40)];
    expect(shown()).toEqual(wanted.map(({ properties }) => `${properties.ref} ${properties.title}`).sort());
  });

  test("a repeated run writes nothing, although the service rounded the coordinates", async () => {
    const { sync, writes } = await begin([], manners);
    const source = places(0, 700);
    expect((await sync(source, { mode: "full" })).end).toBe("done");
    expect(writes().length).toBeGreaterThan(0);
    const sent = writes().length;
    expect((await sync(source, { mode: "full" })).end).toBe("done");
    expect(writes()).toHaveLength(sent);
  });

  test("a repeated run after features were recreated writes nothing", async () => {
    const { sync, writes } = await begin(places(0, 30), manners);
    const source = [...places(0, 25), ...places(25, 35, "new")];
    const request = { updateWith: "delete-create" } as const;
    expect((await sync(source, request)).end).toBe("done");
    const sent = writes().length;
    expect((await sync(source, request)).end).toBe("done");
    expect(writes()).toHaveLength(sent);
  });

  test.skipIf(manners.upsertBy)("append mode creates every feature once", async () => {
    const { sync, shown } = await begin(places(0, 3), manners);
    const { end } = await sync(places(0, 1100), { mode: "append", matching: { by: "property", name: null } });
    expect(end).toBe("done");
    expect(shown()).toHaveLength(1103);
  });
});

test("a full sync that fits one request is one PUT, which keeps ids", async () => {
  const { sync, ids, writes } = await begin(places(0, 30));
  const before = ids();
  expect((await sync(places(3, 30, "new"), { mode: "full" })).end).toBe("done");
  expect(writes().map((line) => line.split(" ")[0])).toEqual(["PUT"]);
  expect([...ids()]).toEqual([...before].filter(([ref]) => !["p0", "p1", "p2"].includes(String(ref))));
});

const listed = (header: string) => header.split(",").map((tag) => tag.trim());

/** Services differ in the tags that they show and in the values of If-Match that they accept (RFC 9110, 8.8.3 and 13.1.1). */
test.each<[string, EntityTags]>([
  ["compares If-Match with its one tag as text", { suffix: "", matches: (header, tag) => header === tag }],
  ["does so behind a proxy that compresses pages", { suffix: "-gzip", matches: (header, tag) => header === tag }],
  [
    "accepts only the tag of compressed pages",
    { suffix: "-gzip", matches: (header, _, suffixed) => listed(header).includes(suffixed) },
  ],
  [
    "accepts both tags",
    { suffix: "-br", matches: (header, ...tags) => tags.some((tag) => listed(header).includes(tag)) },
  ],
])("a service that %s is written", async (_, entityTags) => {
  const { sync, shown, writes } = await begin(places(0, 1203), { entityTags });
  const source = [...places(20, 1150), ...places(1150, 1203, "new"), ...places(1203, 1230)];
  expect((await sync(source, { mode: "full", updateWith: "delete-create" })).end).toBe("done");
  expect(shown()).toEqual(source.map(({ properties }) => `${properties.ref} ${properties.title}`).sort());
  expect(writes().length).toBeGreaterThan(2);
  expect((await sync([...source, ...places(1230, 1240)])).end).toBe("done");
});

test("a service that accepts no tag of its own is reported as the cause", async () => {
  const entityTags = { suffix: "", matches: () => false };
  const { sync } = await begin([], { entityTags });
  const { end, report } = await sync(places(0, 1203), { mode: "full", conflictRetries: 2 });
  expect(end).toBe("condition-refused");
  expect(report!.created).toBe(0);
});

test("rejected features are reported with the service's message, and the others are applied", async () => {
  const { sync, shown } = await begin([], { titleLength: 10 });
  const { end, report } = await sync([...places(0, 3), createPlace("long", { title: "more than ten letters" })]);
  expect([end, report!.created, report!.failed]).toEqual(["failed", 3, 1]);
  expect(report!.refused[0]).toMatchObject({ key: "long", reason: "the title is too long" });
  expect(readFileSync(report!.rejects!, "utf8")).toContain("more than ten letters");
  expect(shown()).toHaveLength(3);
});

test("an expired token is replaced", async () => {
  const { service, sync, shown } = await begin(places(0, 12));
  service.expireTokens();
  expect((await sync(places(0, 14))).end).toBe("done");
  expect(shown()).toHaveLength(14);
});
