import type { Failure, WriteItem, WriteRequest } from "../contract.js";

/**
 * A request as it goes to the thread that writes: its features by columns, and all digests in one piece of memory,
 * since a thousand small ones take longer to hand over than all texts.
 */
export interface PackedRequest extends Omit<WriteRequest, "items"> {
  readonly indexes: readonly number[];
  readonly ids: readonly (string | null)[];
  readonly geometries: readonly (string | undefined)[];
  readonly properties: readonly (string | undefined)[];
  readonly failures: readonly (Failure | undefined)[];
  readonly keyed: readonly boolean[];
  /** Of those that have one, one behind the other. */
  readonly keys: Uint8Array;
}

/** Bytes of a digest. */
const length = 32;

export function packRequest({ items, ...request }: WriteRequest): PackedRequest {
  const keys = items.flatMap(({ key }) => (key ? [key] : []));
  const joined = new Uint8Array(length * keys.length);
  for (const [i, key] of keys.entries()) joined.set(key, length * i);
  return {
    ...request,
    indexes: items.map(({ index }) => index),
    ids: items.map(({ id }) => id),
    geometries: items.map(({ geometry }) => geometry),
    properties: items.map(({ properties }) => properties),
    failures: items.map(({ failure }) => failure),
    keyed: items.map(({ key }) => key !== null),
    keys: joined,
  };
}

export function unpackRequest(packed: PackedRequest): WriteRequest {
  const { indexes, ids, geometries, properties, failures, keyed, keys, ...request } = packed;
  let used = 0;
  const nextKey = () => keys.subarray(length * used, length * ++used);
  const items = indexes.map(
    (index, i): WriteItem => ({
      index,
      id: ids[i]!,
      key: keyed[i] ? nextKey() : null,
      geometry: geometries[i],
      properties: properties[i],
      failure: failures[i],
    }),
  );
  return { ...request, items };
}
