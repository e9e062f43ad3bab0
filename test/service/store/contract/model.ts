import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { digestRemoteKey } from "../../../../src/service/identifiers/remote-key.js";
import type { Store, WriteItem, WriteOutcome, WriteRequest } from "../../../../src/service/store/contract.js";
import { createMapVersion } from "../../../../src/service/store/map-version.js";
import type { OpenStore } from "../contract.js";
import { type ItemResult, type ModelItem, ModelMap, type ModelRequest, type Properties } from "../reference-model.js";
import {
  decodeText,
  insertMap,
  makeWriteRequest,
  readAllByCursor,
  readAllByNumber,
  testTime,
} from "../store-fixture.js";

const idPool = Array.from({ length: 6 }, () => randomUUID());

const anId = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...idPool) },
  // The id of a feature that exists when the request is made.
  { weight: 5, arbitrary: fc.nat({ max: 40 }).map((i) => `#${i}`) },
  { weight: 1, arbitrary: fc.constant(null) },
);
const aKey = fc.constantFrom("a", "b", "1", 1, 0, -1, "é");
const aName = fc.constantFrom("ref", "ref", "ref", "ref", "code", "__proto__");

/** `fromEntries` makes `__proto__` an ordinary property. */
const someProperties: fc.Arbitrary<Properties> = fc
  .uniqueArray(
    fc.tuple(
      fc.oneof(aName, fc.constantFrom("title", "constructor", "1")),
      fc.oneof({ weight: 8, arbitrary: aKey }, { weight: 1, arbitrary: fc.constantFrom(null, true, "", 1.5, ["a"]) }),
    ),
    { selector: ([name]) => name, minLength: 1, maxLength: 4 },
  )
  .map((entries) => Object.fromEntries(entries));
const aGeometry = fc.constantFrom(null, { type: "Point", coordinates: [1, 2] }, { type: "Point", coordinates: [3, 4] });

const anItem: fc.Arbitrary<ModelItem> = fc.record({
  id: anId,
  geometry: aGeometry,
  properties: someProperties,
  bad: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
});

const aKind = fc.oneof(
  { weight: 3, arbitrary: fc.constant("create" as const) },
  { weight: 8, arbitrary: fc.constantFrom("upsert", "update", "delete") },
  { weight: 3, arbitrary: fc.constant("synchronize" as const) },
);

const aRequest: fc.Arbitrary<ModelRequest> = fc
  .record({
    kind: aKind,
    field: fc.option(aName, { freq: 2 }),
    items: fc.array(fc.tuple(anItem, aKey, fc.nat({ max: 3 })), { maxLength: 6 }),
    repeats: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
    strict: fc.integer({ min: 0, max: 11 }).map((n) => n === 0),
    behind: fc.option(fc.nat({ max: 1 }), { freq: 12 }),
  })
  .map(({ kind, field, items, repeats, strict, behind }) => {
    const remoteField = kind === "create" ? null : kind === "upsert" ? (field ?? "ref") : field;
    const name = ([item, key]: (typeof items)[number]) => (remoteField === null ? item.id : key);
    const distinct = items.filter((one, i) => items.findIndex((other) => name(other) === name(one)) === i);
    return {
      kind,
      remoteField,
      strict,
      behind,
      items: (repeats ? items : distinct).map(([item, key, absent]) => shapeItem(item, key, absent, kind, remoteField)),
    };
  });

/** Adapts an item to the kind of request: with a valid key where keys match, and with omitted parts for PATCH. */
function shapeItem(item: ModelItem, key: unknown, absent: number, kind: string, remoteField: string | null): ModelItem {
  const { geometry, ...rest } = item;
  const entries = Object.entries(item.properties!);
  const keyed =
    remoteField === null
      ? item.properties!
      : Object.fromEntries([...entries.filter(([name]) => name !== remoteField), [remoteField, key]]);
  if (kind === "update" && absent === 1) return { ...rest, properties: keyed };
  if (kind === "update" && absent === 2 && remoteField === null) return { id: item.id, bad: item.bad, geometry };
  return { ...item, properties: keyed };
}

/** Resolves "#3" to the fourth feature of the map, modulo their number. */
function resolveIds(request: ModelRequest, map: ModelMap): ModelRequest {
  const items = request.items.map((item) => {
    if (!item.id?.startsWith("#")) return item;
    return { ...item, id: map.features[Number(item.id.slice(1)) % map.features.length]?.id ?? null };
  });
  return { ...request, items };
}

const failure = { path: "geometry", message: "It is wrong." };

function toWriteRequest(map: string, request: ModelRequest, version: string): WriteRequest {
  const { kind, remoteField, strict, behind } = request;
  const items = request.items.map(
    ({ id, geometry, properties, bad }, index): WriteItem => ({
      index,
      id,
      key: remoteField === null ? null : digestRemoteKey(properties![remoteField] as string | number),
      ...(geometry === undefined ? {} : { geometry: JSON.stringify(geometry) }),
      ...(properties === undefined ? {} : { properties: JSON.stringify(properties) }),
      ...(bad ? { failure } : {}),
    }),
  );
  const versions = behind === null ? null : [behind === 0 ? version : createMapVersion(0)];
  return { ...makeWriteRequest(map, kind, []), remoteField, items, strict, versions, now: testTime };
}

/** The result of each item in an outcome. */
function readResults(
  outcome: Extract<WriteOutcome, { kind: "done" | "refused" }>,
  { kind, items: { length: count } }: ModelRequest,
): ItemResult[] {
  const success = outcome.kind === "done" ? outcome.success : [];
  return Array.from({ length: count }, (_, index): ItemResult => {
    const failed = outcome.failed.find((one) => one.index === index);
    const mine = success.filter((one) => one.index === index);
    if (failed) return { what: "failed", id: failed.id };
    const [first] = mine;
    if (kind === "delete") return { what: "deleted", ids: mine.map(({ id }) => id) };
    return { what: first?.what as "created" | "updated", id: first?.id ?? "" };
  });
}

async function runStep(store: Store, map: string, model: ModelMap, generated: ModelRequest): Promise<void> {
  const request = resolveIds(generated, model);
  const { version } = (await store.map(map))!;
  const outcome = await store.write(toWriteRequest(map, request, version));
  const success = outcome.kind === "done" ? outcome.success : [];
  const idOf = (index: number) => success.find((one) => one.index === index)?.id ?? "";
  const expected = model.write(request, idOf);
  expect(outcome.kind).toBe(expected.kind);
  if (expected.kind === "other-version") {
    expect(outcome).toEqual({ kind: "other-version", version });
  } else {
    const fates = readResults(outcome as Extract<WriteOutcome, { kind: "done" | "refused" }>, request);
    const known = expected.fates.map((fate, i) =>
      expected.kind === "done" && fate.what === "created" ? { ...fate, id: fate.id || idOf(i) } : fate,
    );
    const refused = expected.kind === "refused";
    expect(refused ? fates.filter(({ what }) => what === "failed") : fates).toEqual(
      refused ? known.filter(({ what }) => what === "failed") : known,
    );
    if (expected.kind === "done") {
      expect(outcome).toMatchObject({ deleted: expected.deleted, revision: model.revision, replayed: false });
      const places = success.map(({ index }) => index);
      expect(places).toEqual([...places].sort((a, b) => a - b));
    }
  }
}

const toWireTexts = (model: ModelMap): string[] =>
  model.features.map(({ id, geometry, properties }) => JSON.stringify({ type: "Feature", id, geometry, properties }));

/** Compares the map as one page. */
async function expectSamePage(store: Store, map: string, model: ModelMap): Promise<void> {
  const page = (await store.page({ map, size: 500, page: 1 }))!;
  expect(decodeText(page.text)).toBe(toWireTexts(model).join(","));
  expect(page).toMatchObject({ count: model.features.length, more: false, revision: model.revision });
}

/** Compares the map as many pages, and its metadata. */
async function expectSameMap(store: Store, map: string, model: ModelMap, size: number): Promise<void> {
  const wanted = `[${toWireTexts(model).join(",")}]`;
  expect(JSON.stringify(await readAllByCursor(store, map, size))).toBe(wanted);
  expect(JSON.stringify(await readAllByNumber(store, map, size))).toBe(wanted);
  expect(await store.map(map)).toMatchObject({ features: model.features.length, revision: model.revision });
}

/** Milliseconds after which no further sequence starts; a busy machine runs fewer. */
const maxRunMs = 30_000;

export function describeModel(open: OpenStore): void {
  test("any sequence of requests has the same outcomes and the same content as a plain list of features", async () => {
    const store = await open();
    const requests = fc.array(aRequest, { minLength: 1, maxLength: 25, size: "max" });
    await fc.assert(
      fc.asyncProperty(requests, fc.integer({ min: 1, max: 9 }), async (generated, size) => {
        const model = new ModelMap();
        const map = await insertMap(store);
        for (const request of generated) {
          await runStep(store, map, model, request);
          await expectSamePage(store, map, model);
        }
        await expectSameMap(store, map, model, size);
      }),
      { numRuns: 150, interruptAfterTimeLimit: maxRunMs },
    );
  });
}
