/** Fills the keys of both tables: first those of the map, then those of the source, converted to the map's types. */
import { canonicalFeature, digestText, type Rounding } from "../../canonical/canonical-feature.js";
import { type FeatureSide, type KeyedRow, rowKey } from "../../compare/feature-side.js";
import type { Workspace } from "../../compare/workspace.js";
import type { RemoteKey } from "../../remote/wire.js";
import { withProperty } from "../diff/merge-feature.js";
import { toMapKeyType } from "../diff/read-rows.js";
import { readRowBatches, selectRowBatches } from "../diff/row-batches.js";
import type { SyncKey } from "../plan/plan.js";
import type { SourceFeature } from "../source/read-source.js";
import { createKeyReader, type InvalidKey, isInvalidKey, isUuid, parseKey } from "./key-value.js";

/** The key of a feature: the value of its property, or its service id in lower case. */
function readFeatureKey(
  key: SyncKey,
  { properties }: Pick<SourceFeature, "properties">,
  id: string | null,
): RemoteKey | InvalidKey {
  if (key.by === "property") return parseKey(properties?.[key.name]);
  if (id === null) return { reason: "null" };
  return isUuid(id) ? id.toLowerCase() : { reason: "type" };
}

/** Fills the keys of a side from the feature texts, unless they were filled when features were added. */
async function fillKeysFromProperty(
  workspace: Workspace,
  side: FeatureSide,
  name: string,
  signal?: AbortSignal,
): Promise<void> {
  if (side.keyedBy === name) return;
  const { read } = createKeyReader(name);
  const fill = (row: KeyedRow) =>
    side.setKey(row.seq, read((JSON.parse(side.textOf(row)) as SourceFeature).properties));
  for await (const rows of readRowBatches(side, signal)) workspace.transaction(() => rows.forEach(fill));
  side.keyedBy = name;
}

/** Fills the keys of the map and creates the index `map_key`. Features without a valid key keep none. */
export async function fillMapKeys(workspace: Workspace, key: SyncKey, signal?: AbortSignal): Promise<void> {
  const { map, database } = workspace;
  if (key.by === "id") database.exec("UPDATE map SET key = lower(id), numeric = 0");
  else await fillKeysFromProperty(workspace, map, key.name, signal);
  database.exec("CREATE INDEX IF NOT EXISTS map_key ON map (key)");
}

/** Called for a source feature without a valid key. */
export type OnInvalidKey = (row: KeyedRow, feature: SourceFeature, reason: InvalidKey["reason"]) => void;

export interface SourceKeySettings {
  readonly rounding: Rounding;
  /** The property has integers that exceed JSON numbers and were converted to text by the pipeline. */
  readonly hasLargeIntegers: boolean;
  readonly onInvalidKey: OnInvalidKey;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Fills the keys of the source and creates the index `source_key`. Keys are converted to the type of the matching map
 * key, or of all map keys if there is no match. A feature whose key changes its type gets a new digest.
 * @throws interrupted
 */
export async function fillSourceKeys(
  workspace: Workspace,
  key: SyncKey,
  { rounding, hasLargeIntegers, onInvalidKey, signal }: SourceKeySettings,
): Promise<void> {
  const { source, database } = workspace;
  if (key.by === "id") await fillKeysFromIds(workspace, signal);
  else await fillKeysFromProperty(workspace, source, key.name, signal);
  await reportInvalidKeys(workspace, key, { hasLargeIntegers, onInvalidKey, signal });
  if (key.by === "property") await convertToMapKeyTypes(workspace, key.name, rounding, signal);
  database.exec("CREATE INDEX IF NOT EXISTS source_key ON source (key)");
}

/** Fills keys with service ids, in lower case. */
async function fillKeysFromIds(workspace: Workspace, signal: AbortSignal | undefined): Promise<void> {
  const { source } = workspace;
  const fill = ({ seq, id }: KeyedRow) => {
    if (id !== null && isUuid(id)) source.setKey(seq, id.toLowerCase());
  };
  for await (const rows of readRowBatches(source, signal)) workspace.transaction(() => rows.forEach(fill));
}

async function reportInvalidKeys(
  workspace: Workspace,
  key: SyncKey,
  { hasLargeIntegers, onInvalidKey, signal }: Omit<SourceKeySettings, "rounding">,
): Promise<void> {
  const { source } = workspace;
  // A text of this length may be an integer that was converted to text.
  const where = hasLargeIntegers ? "key IS NULL OR (numeric = 0 AND length(key) >= 16)" : "key IS NULL";
  const report = (row: KeyedRow) => {
    const feature = JSON.parse(source.textOf(row)) as SourceFeature;
    const own = readFeatureKey(key, feature, row.id);
    const found = hasLargeIntegers && isLargeInteger(own) ? { reason: "unsafe" as const } : own;
    if (!isInvalidKey(found)) return;
    source.setKey(row.seq, null);
    onInvalidKey(row, feature, found.reason);
  };
  for await (const rows of selectRowBatches(source, `SELECT * FROM source WHERE seq > ? AND (${where})`, signal))
    workspace.transaction(() => rows.forEach(report));
}

const isLargeInteger = (key: RemoteKey | InvalidKey): boolean =>
  typeof key === "string" && /^-?\d{16,}$/.test(key) && !Number.isSafeInteger(Number(key));

/** Converts keys whose type differs from the matching map key, or from all map keys if there is no match. */
async function convertToMapKeyTypes(
  workspace: Workspace,
  name: string,
  rounding: Rounding,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { source, database } = workspace;
  const types = database.prepare<[], number>("SELECT DISTINCT numeric FROM map WHERE key IS NOT NULL").pluck().all();
  const commonType = types.length === 1 ? types[0]! : "NULL";
  const retype = database.prepare("UPDATE source SET digest = ? WHERE seq = ?");
  const fill = (row: KeyedRow) => {
    const key = toMapKeyType(row, row.numeric === 0);
    if (key === rowKey(row)) return;
    const feature = JSON.parse(source.textOf(row)) as SourceFeature;
    const properties = withProperty(feature.properties, name, key);
    source.setKey(row.seq, key);
    retype.run(digestText(canonicalFeature({ ...feature, properties }, rounding)), row.seq);
  };
  const others = `SELECT source.* FROM source LEFT JOIN map ON map.key = source.key
    WHERE source.seq > ? AND source.key IS NOT NULL AND source.numeric <> coalesce(map.numeric, ${commonType})`;
  for await (const rows of selectRowBatches(source, others, signal)) workspace.transaction(() => rows.forEach(fill));
}
