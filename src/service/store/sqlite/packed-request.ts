import type { Failure, WriteItem, WriteRequest } from "../contract.js";

/** A request as it goes to the thread that writes: its features by columns, which take half the time to hand over. */
export interface PackedRequest extends Omit<WriteRequest, "items"> {
  readonly indexes: readonly number[];
  readonly ids: readonly (string | null)[];
  readonly keys: readonly (string | null)[];
  readonly geometries: readonly (string | undefined)[];
  readonly properties: readonly (string | undefined)[];
  readonly failures: readonly (Failure | undefined)[];
}

export const packRequest = ({ items, ...request }: WriteRequest): PackedRequest => ({
  ...request,
  indexes: items.map(({ index }) => index),
  ids: items.map(({ id }) => id),
  keys: items.map(({ key }) => key),
  geometries: items.map(({ geometry }) => geometry),
  properties: items.map(({ properties }) => properties),
  failures: items.map(({ failure }) => failure),
});

export function unpackRequest(packed: PackedRequest): WriteRequest {
  const { indexes, ids, keys, geometries, properties, failures, ...request } = packed;
  const items = indexes.map(
    (index, i): WriteItem => ({
      index,
      id: ids[i]!,
      key: keys[i]!,
      geometry: geometries[i],
      properties: properties[i],
      failure: failures[i],
    }),
  );
  return { ...request, items };
}
