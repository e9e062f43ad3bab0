import { memberOf } from "../json/members.js";
import { isRemoteKey, keyDigest } from "../key.js";
import type { KeyProgress } from "./reading-keys.js";
import type { KeyField, LockedMap, StoredKey, StoredProperties, WriteTransaction } from "./transaction.js";

/** Key fields of a map at most. A further one takes the place of the one that was not used for longest. */
export const keyFieldsPerMap = 8;

/** A field of the map whose keys were dropped for another's. */
export interface DroppedField {
  readonly droppedField?: string;
}

/** The fields of a map whose keys are kept, and which of them a request matches by. */
export interface UsedField extends DroppedField {
  readonly field: KeyField;
  readonly fields: readonly KeyField[];
}

/**
 * The fields of a map with the one named among them. At its first use the keys of all features are read, some at each
 * call: up to where, until these were the last.
 */
export async function useKeyField(
  tx: WriteTransaction,
  map: LockedMap,
  name: string,
): Promise<UsedField | (KeyProgress & DroppedField)> {
  const byUse = [...map.keyFields].sort((a, b) => b.used - a.used);
  const used = (byUse[0]?.used ?? 0) + 1;
  const known = byUse.find((field) => field.name === name);
  if (known) {
    if (known !== byUse[0]) await tx.markKeyFieldUsed(known.number, used);
    return (await readOn(tx, map, known)) ?? { field: known, fields: byUse };
  }
  const [dropped] = byUse.splice(keyFieldsPerMap - 1);
  if (dropped) await tx.removeKeyField(dropped.number);
  const field = { number: await tx.addKeyField(map.number, { name, used }), name, used, read: 0 };
  const found = (await readOn(tx, map, field)) ?? { field, fields: [field, ...byUse] };
  return dropped ? { ...found, droppedField: dropped.name } : found;
}

/** Null once all are read. */
async function readOn(tx: WriteTransaction, map: LockedMap, field: KeyField): Promise<KeyProgress | null> {
  const read = field.read === null ? null : await tx.readKeys(map.number, field);
  return read === null ? null : { read, of: map.next - 1 };
}

/** The same for a field of a map without a write: null also where there is no such field any more. */
export async function readKeysOn(tx: WriteTransaction, id: string, name: string): Promise<KeyProgress | null> {
  const map = await tx.lockMap(id);
  const field = map?.keyFields.find((one) => one.name === name);
  return map && field ? readOn(tx, map, field) : null;
}

/** What properties have as keys in some fields: digests, null where there is none. */
export const digestIn = (properties: string, fields: readonly Pick<KeyField, "name">[]): (string | null)[] =>
  fields.map(({ name }) => {
    const value = memberOf(properties, name);
    return isRemoteKey(value) ? keyDigest(value) : null;
  });

/** The keys of features that came or changed, field by field. `absent`: also tell which have none any more. */
export async function putKeysOf(
  tx: WriteTransaction,
  fields: readonly KeyField[],
  rows: readonly StoredProperties[],
  absent: boolean,
): Promise<void> {
  if (fields.length === 0 || rows.length === 0) return;
  const keys: StoredKey[][] = fields.map(() => []);
  for (const { seq, properties } of rows) {
    for (const [i, digest] of digestIn(properties, fields).entries()) {
      if (digest !== null || absent) keys[i]!.push({ seq, digest });
    }
  }
  for (const [i, field] of fields.entries()) if (keys[i]!.length > 0) await tx.putKeys(field.number, keys[i]!);
}
