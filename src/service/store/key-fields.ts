import { digestRemoteKey, isRemoteKey } from "../identifiers/remote-key.js";
import { readMember } from "../json/object-members.js";
import type { KeyIndexProgress } from "./key-index-builder.js";
import type { KeyField, LockedMap, StoredKey, StoredProperties, WriteTransaction } from "./write-transaction.js";

/** Maximum number of key fields of a map. A further one evicts the least recently used. */
export const maxKeyFieldsPerMap = 8;

/** The field that was evicted. */
export interface EvictedField {
  readonly droppedField?: string;
}

/** The indexed fields of a map, and the one that a request matches by. */
export interface KeyFieldUse extends EvictedField {
  readonly field: KeyField;
  readonly fields: readonly KeyField[];
}

/**
 * Adds the named field to the indexed fields of a map. Its first use reads the keys of all features, a batch per call;
 * returns the progress until the last batch is done.
 */
export async function useKeyField(
  tx: WriteTransaction,
  map: LockedMap,
  name: string,
): Promise<KeyFieldUse | (KeyIndexProgress & EvictedField)> {
  const byUse = [...map.keyFields].sort((a, b) => b.used - a.used);
  const used = (byUse[0]?.used ?? 0) + 1;
  const known = byUse.find((field) => field.name === name);
  if (known) {
    if (known !== byUse[0]) await tx.markKeyFieldUsed(known.number, used);
    return (await indexNextKeys(tx, map, known)) ?? { field: known, fields: byUse };
  }
  const [dropped] = byUse.splice(maxKeyFieldsPerMap - 1);
  if (dropped) await tx.removeKeyField(dropped.number);
  const field = { number: await tx.addKeyField(map.number, { name, used }), name, used, read: 0 };
  const found = (await indexNextKeys(tx, map, field)) ?? { field, fields: [field, ...byUse] };
  return dropped ? { ...found, droppedField: dropped.name } : found;
}

/** Returns null once all keys are read. */
async function indexNextKeys(tx: WriteTransaction, map: LockedMap, field: KeyField): Promise<KeyIndexProgress | null> {
  const read = field.read === null ? null : await tx.readKeys(map.number, field);
  return read === null ? null : { read, total: map.next - 1 };
}

/** Indexes the next batch outside of a write; also returns null if the field no longer exists. */
export async function indexKeysOfField(
  tx: WriteTransaction,
  id: string,
  name: string,
): Promise<KeyIndexProgress | null> {
  const map = await tx.lockMap(id);
  const field = map?.keyFields.find((one) => one.name === name);
  return map && field ? indexNextKeys(tx, map, field) : null;
}

/** Key digests of properties for some fields; null for a field without a key. */
export const digestKeys = (properties: string, fields: readonly Pick<KeyField, "name">[]): (string | null)[] =>
  fields.map(({ name }) => {
    const value = readMember(properties, name);
    return isRemoteKey(value) ? digestRemoteKey(value) : null;
  });

/**
 * Saves the keys of added or changed features, field by field. With `absent`, also saves which features have no key.
 */
export async function saveKeys(
  tx: WriteTransaction,
  fields: readonly KeyField[],
  rows: readonly StoredProperties[],
  absent: boolean,
): Promise<void> {
  if (fields.length === 0 || rows.length === 0) return;
  const keys: StoredKey[][] = fields.map(() => []);
  for (const { seq, properties } of rows) {
    for (const [i, digest] of digestKeys(properties, fields).entries()) {
      if (digest !== null || absent) keys[i]!.push({ seq, digest });
    }
  }
  for (const [i, field] of fields.entries()) if (keys[i]!.length > 0) await tx.putKeys(field.number, keys[i]!);
}
