import { memberOf } from "../json/members.js";
import { isRemoteKey, keyDigest } from "../key.js";
import type { KeyField, LockedMap, StoredKey, StoredProperties, WriteTransaction } from "./transaction.js";

/** Key fields of a map at most. A further one takes the place of the one that was not used for longest. */
export const keyFieldsPerMap = 8;

/** The fields of a map whose keys are kept, and which of them a request matches by. */
export interface UsedField {
  readonly field: KeyField;
  readonly fields: readonly KeyField[];
}

/**
 * The fields of a map with the one named among them. At its first use the keys of all features are read, some at each
 * call: null until these were the last.
 */
export async function useKeyField(tx: WriteTransaction, map: LockedMap, name: string): Promise<UsedField | null> {
  const byUse = [...map.keyFields].sort((a, b) => b.used - a.used);
  const used = (byUse[0]?.used ?? 0) + 1;
  const known = byUse.find((field) => field.name === name);
  if (known) {
    if (known !== byUse[0]) await tx.markKeyFieldUsed(known.number, used);
    return (await isWhole(tx, map, known)) ? { field: known, fields: byUse } : null;
  }
  for (const field of byUse.splice(keyFieldsPerMap - 1)) await tx.removeKeyField(field.number);
  const field = { number: await tx.addKeyField(map.number, { name, used }), name, used, read: 0 };
  return (await isWhole(tx, map, field)) ? { field, fields: [field, ...byUse] } : null;
}

const isWhole = async (tx: WriteTransaction, map: LockedMap, field: KeyField): Promise<boolean> =>
  field.read === null || (await tx.readKeys(map.number, field));

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
