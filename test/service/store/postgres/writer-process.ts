/**
 * A process of the service, without its interface: it writes to maps and says on stdout, a JSON text a line, what was
 * acknowledged. `node writer-process.js mixed|replace|roam URL SEED MAP…`
 */
import type { Store, WriteKind } from "../../../../src/service/store/contract.js";
import { openPostgresStore } from "../../../../src/service/store/postgres/index.js";
import { randomFrom } from "../../../support/random.js";
import { carriedOut, featuresIn, noon, type Sent, writing } from "../subject.js";

/** A write as it was asked for, and what was answered. */
export interface Acknowledged {
  readonly kind: WriteKind;
  readonly sent: readonly Sent[];
  readonly revision: number;
  readonly deleted: number;
  readonly success: readonly { readonly index: number; readonly id: string; readonly what: string }[];
  readonly failed: readonly number[];
}
/** What was on a map, as one page. */
export interface Seen {
  readonly revision: number;
  readonly text: string;
}
export type Line = { readonly write: Acknowledged } | { readonly read: Seen } | { readonly done: true };

const tell = (line: Line): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

const [mode, url, seed, ...maps] = process.argv.slice(2) as [string, string, string, ...string[]];
const next = randomFrom(Number(seed));
const below = (end: number): number => Math.floor(next() * end);
let written = 0;

/** Some of twelve things, with a mark that no other write has. */
function features(most: number): Sent[] {
  const refs = Array.from({ length: 12 }, (_, ref) => ref).filter(() => below(12) < most);
  return refs.map((ref) => ({ geometry: null, properties: { ref, mark: `${seed}/${written++}` } }));
}

async function writeOne(store: Store, map: string, kind: WriteKind, sent: readonly Sent[]): Promise<void> {
  const remoteField = kind === "create" ? null : "ref";
  const { revision, deleted, success, failed } = await carriedOut(store, writing(map, kind, sent, { remoteField }));
  tell({ write: { kind, sent, revision, deleted, success, failed: failed.map(({ index }) => index) } });
}

/** Writes of every kind to one map, and looks at it in between. */
async function mixed(store: Store, map: string): Promise<void> {
  const kinds: readonly WriteKind[] = ["create", "upsert", "synchronise", "synchronise", "update", "delete"];
  for (let i = 0; i < 60; i++) {
    const kind = kinds[below(kinds.length)]!;
    await writeOne(store, map, kind, features(kind === "create" ? 2 : 8));
    const page = (await store.page({ map, size: 500, page: 1 }))!;
    tell({ read: { revision: page.revision, text: JSON.stringify(featuresIn(page.text)) } });
  }
}

/** A thousand features in place of a thousand others, again and again. */
async function replace(store: Store, map: string): Promise<void> {
  for (let by = 1; ; by++) {
    const sent = Array.from({ length: 1000 }, (_, i) => ({ geometry: null, properties: { ref: i + by * 500, by } }));
    await writeOne(store, map, "synchronise", sent);
  }
}

/** Writes to several maps at once, beside all else that changes rows. */
async function roam(store: Store): Promise<void> {
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      for (let i = 0; i < 12; i++) {
        const map = maps[below(maps.length)]!;
        await writeOne(store, map, "synchronise", features(8));
        await store.changeMap({ id: map, name: `${seed}/${written++}` });
        await store.countAttempt({ names: ["a", "b", "c"].sort(() => next() - 0.5), now: noon, window: 60_000 });
        if (below(4) === 0) await store.forgetAttempts(["c", "a", "b"]);
        if (below(4) === 0) await store.purge(noon + 120_000 * below(2));
      }
    }),
  );
}

const store = await openPostgresStore(url);
if (mode === "mixed") await mixed(store, maps[0]!);
else if (mode === "replace") await replace(store, maps[0]!);
else await roam(store);
await store[Symbol.asyncDispose]();
tell({ done: true });
