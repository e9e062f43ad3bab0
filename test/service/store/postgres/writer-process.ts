/**
 * A process of the service without HTTP: writes to maps and reports acknowledged writes on stdout, one JSON text per
 * line. `node writer-process.js mixed|replace|roam URL SEED MAP…`
 */
import type { Store, WriteKind } from "../../../../src/service/store/contract.js";
import { openPostgresStore } from "../../../../src/service/store/postgres/index.js";
import { createRandom } from "../../../support/random.js";
import { type FeatureInput, makeWriteRequest, parseFeatures, testTime, writeOrFail } from "../store-fixture.js";

/** A write and its outcome. */
export interface AcknowledgedWrite {
  readonly kind: WriteKind;
  readonly sent: readonly FeatureInput[];
  readonly revision: number;
  readonly deleted: number;
  readonly success: readonly { readonly index: number; readonly id: string; readonly what: string }[];
  readonly failed: readonly number[];
}
/** The content of a map, as one page. */
export interface ObservedPage {
  readonly revision: number;
  readonly text: string;
}
export type OutputLine =
  | { readonly write: AcknowledgedWrite }
  | { readonly read: ObservedPage }
  | { readonly done: true };

const printLine = (line: OutputLine): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

const [mode, url, seed, ...maps] = process.argv.slice(2) as [string, string, string, ...string[]];
const next = createRandom(Number(seed));
const randomBelow = (end: number): number => Math.floor(next() * end);
let written = 0;

/** Up to `max` of twelve features, with a mark unique to this write. */
function features(max: number): FeatureInput[] {
  const refs = Array.from({ length: 12 }, (_, ref) => ref).filter(() => randomBelow(12) < max);
  return refs.map((ref) => ({ geometry: null, properties: { ref, mark: `${seed}/${written++}` } }));
}

async function writeOne(store: Store, map: string, kind: WriteKind, sent: readonly FeatureInput[]): Promise<void> {
  const remoteField = kind === "create" ? null : "ref";
  const { revision, deleted, success, failed } = await writeOrFail(
    store,
    makeWriteRequest(map, kind, sent, { remoteField }),
  );
  printLine({ write: { kind, sent, revision, deleted, success, failed: failed.map(({ index }) => index) } });
}

/** Writes of all kinds to one map, and reads in between. */
async function writeMixed(store: Store, map: string): Promise<void> {
  const kinds: readonly WriteKind[] = ["create", "upsert", "synchronize", "synchronize", "update", "delete"];
  for (let i = 0; i < 60; i++) {
    const kind = kinds[randomBelow(kinds.length)]!;
    await writeOne(store, map, kind, features(kind === "create" ? 2 : 8));
    const page = (await store.page({ map, size: 500, page: 1 }))!;
    printLine({ read: { revision: page.revision, text: JSON.stringify(parseFeatures(page.text)) } });
  }
}

/** Repeatedly replaces a thousand features by a thousand others. */
async function replaceRepeatedly(store: Store, map: string): Promise<void> {
  for (let by = 1; ; by++) {
    const sent = Array.from({ length: 1000 }, (_, i) => ({ geometry: null, properties: { ref: i + by * 500, by } }));
    await writeOne(store, map, "synchronize", sent);
  }
}

/** Writes to several maps concurrently, beside all other changes of rows. */
async function writeToManyMaps(store: Store): Promise<void> {
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      for (let i = 0; i < 12; i++) {
        const map = maps[randomBelow(maps.length)]!;
        await writeOne(store, map, "synchronize", features(8));
        await store.changeMap({ id: map, name: `${seed}/${written++}` });
        await store.countAttempt({ names: ["a", "b", "c"].sort(() => next() - 0.5), now: testTime, window: 60_000 });
        if (randomBelow(4) === 0) await store.forgetAttempts(["c", "a", "b"]);
        if (randomBelow(4) === 0) await store.purge(testTime + 120_000 * randomBelow(2));
      }
    }),
  );
}

const store = await openPostgresStore(url);
if (mode === "mixed") await writeMixed(store, maps[0]!);
else if (mode === "replace") await replaceRepeatedly(store, maps[0]!);
else await writeToManyMaps(store);
await store[Symbol.asyncDispose]();
printLine({ done: true });
