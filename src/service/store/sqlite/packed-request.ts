import type { Failure, WriteItem, WriteRequest } from "../contract.js";

/**
 * A request as it goes to the thread that writes: its features by columns, and each column one text, so that a few values
 * are handed over instead of thousands. JSON and ids have no line break in them, which stands between two.
 */
export interface PackedRequest extends Omit<WriteRequest, "items"> {
  readonly indexes: Uint32Array<ArrayBuffer>;
  /** "" for none. */
  readonly ids: string;
  readonly keys: string;
  readonly geometries: string;
  readonly properties: string;
  /** Of those that have one, by their place in the columns. */
  readonly failures: readonly (readonly [place: number, failure: Failure])[];
}

const column = (items: readonly WriteItem[], of: (item: WriteItem) => string | null | undefined): string =>
  items.map((item) => of(item) ?? "").join("\n");

export const packRequest = ({ items, ...request }: WriteRequest): PackedRequest => ({
  ...request,
  indexes: Uint32Array.from(items, ({ index }) => index),
  ids: column(items, ({ id }) => id),
  keys: column(items, ({ key }) => key),
  geometries: column(items, ({ geometry }) => geometry),
  properties: column(items, ({ properties }) => properties),
  failures: items.flatMap(({ failure }, place) => (failure ? [[place, failure] as const] : [])),
});

export function unpackRequest(packed: PackedRequest): WriteRequest {
  const { indexes, ids, keys, geometries, properties, failures, ...request } = packed;
  const columns = [ids, keys, geometries, properties].map((texts) => texts.split("\n"));
  const [id, key, geometry, property] = columns as [string[], string[], string[], string[]];
  const failed = new Map(failures);
  const items = Array.from(
    indexes,
    (index, i): WriteItem => ({
      index,
      id: id[i] || null,
      key: key[i] || null,
      geometry: geometry[i] || undefined,
      properties: property[i] || undefined,
      failure: failed.get(i),
    }),
  );
  return { ...request, items };
}
