import { isRemoteKey, keyDigest } from "../key.js";
import type { KeyField, LockedMap, StoredKey, StoredProperties, WriteTransaction } from "./transaction.js";

/** Key fields of a map at most. A further one takes the place of the one that was not used for longest. */
export const keyFieldsPerMap = 8;

/** Features that are read at once where a field is registered. */
const scanned = 1000;

/** The fields of a map with the one named among them, and which it is. At its first use all features are read once. */
export async function useKeyField(
  tx: WriteTransaction,
  map: LockedMap,
  name: string,
): Promise<{ readonly field: KeyField; readonly fields: readonly KeyField[] }> {
  const byUse = [...map.keyFields].sort((a, b) => b.used - a.used);
  const used = (byUse[0]?.used ?? 0) + 1;
  const known = byUse.find((field) => field.name === name);
  if (known) {
    if (known !== byUse[0]) await tx.markKeyFieldUsed(known.number, used);
    return { field: known, fields: byUse };
  }
  for (const field of byUse.splice(keyFieldsPerMap - 1)) await tx.removeKeyField(field.number);
  const field = { number: await tx.addKeyField(map.number, { name, used }), name, used };
  await addStoredKeys(tx, map, field);
  return { field, fields: [field, ...byUse] };
}

async function addStoredKeys(tx: WriteTransaction, map: LockedMap, field: KeyField): Promise<void> {
  let rows: readonly StoredProperties[] = [];
  let seq = 0;
  do {
    rows = await tx.propertiesAfter(map.number, seq, scanned);
    seq = rows.at(-1)?.seq ?? seq;
    const keys = rows.map((row) => ({ seq: row.seq, digest: digestIn(row.properties, [field])[0] ?? null }));
    await tx.putKeys(
      field.number,
      keys.filter(({ digest }) => digest !== null),
    );
  } while (rows.length === scanned);
}

/** What properties have as keys in some fields: digests, null where there is none. */
export function digestIn(properties: string, fields: readonly KeyField[]): (Uint8Array | null)[] {
  // A property's name stands in JSON as JSON writes it: where it does not, there is nothing to parse.
  if (!fields.some(({ name }) => properties.includes(`${JSON.stringify(name)}:`))) return fields.map(() => null);
  const values: Record<string, unknown> = JSON.parse(properties);
  return fields.map(({ name }) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    return isRemoteKey(value) ? keyDigest(value) : null;
  });
}

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
