import { createHash, randomUUID } from "node:crypto";
import { digestRemoteKey } from "../../../src/service/identifiers/remote-key.js";
import type { Store, WriteItem, WriteKind, WriteOutcome, WriteRequest } from "../../../src/service/store/contract.js";

/** 21 November 2026, noon, UTC. */
export const testTime = Date.UTC(2026, 10, 21, 12);
export const hashOf = (text: string): Uint8Array => createHash("sha256").update(text).digest();

export interface StoredFeature {
  readonly type: string;
  readonly id: string;
  readonly geometry: unknown;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Creates an account whose email address is its name. */
export async function insertAccount(store: Store, name = "ada"): Promise<string> {
  const id = randomUUID();
  await store.addAccount({ id, email: `${name}@example.org`, name: "", passwordHash: "$argon2id$", created: testTime });
  return id;
}

export async function insertMap(store: Store, owner?: string, name = "places"): Promise<string> {
  const id = randomUUID();
  const account = owner ?? (await insertAccount(store, id));
  await store.addMap({ id, owner: account, name, private: false, created: testTime });
  return id;
}

/** A feature of a request in short form. */
export interface FeatureInput {
  readonly id?: string;
  readonly geometry?: unknown;
  readonly properties?: unknown;
  readonly failure?: { readonly path: string; readonly message: string };
}

/** Request items as the service builds them: texts by `JSON.stringify`, keys from the properties. */
export function buildWriteItems(features: readonly FeatureInput[], remoteField: string | null = null): WriteItem[] {
  return features.map(({ id = null, geometry, properties, failure }, index) => {
    const key = remoteField === null ? null : (properties as Record<string, string | number>)[remoteField]!;
    return {
      index,
      id,
      key: key === null ? null : digestRemoteKey(key),
      ...(geometry === undefined ? {} : { geometry: JSON.stringify(geometry) }),
      ...(properties === undefined ? {} : { properties: JSON.stringify(properties) }),
      ...(failure ? { failure } : {}),
    };
  });
}

export const makeWriteRequest = (
  map: string,
  kind: WriteKind,
  features: readonly FeatureInput[],
  settings: Partial<WriteRequest> = {},
): WriteRequest => ({
  map,
  kind,
  remoteField: null,
  items: buildWriteItems(features, settings.remoteField),
  strict: false,
  versions: null,
  idempotency: null,
  now: testTime,
  audit: { account: null, action: "features-written", address: "127.0.0.1" },
  ...settings,
});

export type DoneOutcome = Extract<WriteOutcome, { kind: "done" }>;

/** A write that must succeed. */
export async function writeOrFail(store: Store, request: WriteRequest): Promise<DoneOutcome> {
  const outcome = await store.write(request);
  if (outcome.kind !== "done") throw new Error(`not done: ${JSON.stringify(outcome)}`);
  return outcome;
}

export const decodeText = (bytes: Uint8Array): string => new TextDecoder("utf-8", { fatal: true }).decode(bytes);
export const parseFeatures = (text: Uint8Array): StoredFeature[] => JSON.parse(`[${decodeText(text)}]`);

/** All features of a map, page by page from the end of each page. */
export async function readAllByCursor(store: Store, map: string, size = 500): Promise<StoredFeature[]> {
  const found: StoredFeature[] = [];
  for (let after = 0; ; ) {
    const page = (await store.page({ map, size, after }))!;
    found.push(...parseFeatures(page.text));
    if (!page.more) return found;
    after = page.last!;
  }
}

/** All features of a map by page numbers, until one is not full (Map Features Service Interface, 4.2). */
export async function readAllByNumber(store: Store, map: string, size: number): Promise<StoredFeature[]> {
  const found: StoredFeature[] = [];
  for (let number = 1; ; number++) {
    const page = (await store.page({ map, size, page: number }))!;
    found.push(...parseFeatures(page.text));
    if (page.count < size) return found;
  }
}

export const numberedFeatures = (count: number, from = 0): FeatureInput[] =>
  Array.from({ length: count }, (_, i) => ({
    geometry: { type: "Point", coordinates: [i / 100, 1] },
    properties: { ref: from + i, title: `n° ${from + i}` },
  }));
