/** The request of a synchronization: the flags of `geoferry push`, `plan`, `verify` and `delete`. */
import type { ConvertRequest, OutputMember } from "../pipeline/request.js";

export type SyncMode = "incremental" | "full" | "append";
export const syncModes: readonly SyncMode[] = ["incremental", "full", "append"];

/** The inputs and their conversion options, without an output. */
export type SourceRequest = Omit<ConvertRequest, OutputMember>;

/** How features of source and map are matched. */
export type KeyMatching =
  | { readonly by: "id" }
  /** Null chooses the best attribute. */
  | { readonly by: "property"; readonly name: string | null };

/** A limit of `12` features, or of `5%` of the map's features. */
export interface Limit {
  readonly text: string;
  readonly count: number;
  /** 0.05 for 5 %; 1 for a count. */
  readonly share: number;
}

/** Parses `100` or `5%`; null if it is neither. */
export function parseLimit(text: string): Limit | null {
  const [, digits, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text.trim()) ?? [];
  if (digits === undefined) return null;
  const number = Number(digits);
  if (percent === "%") return number <= 100 ? { text, count: Number.POSITIVE_INFINITY, share: number / 100 } : null;
  return Number.isSafeInteger(number) ? { text, count: number, share: 1 } : null;
}

/** Parses `property=value`; null if it has another form. */
export function parseScope(text: string): SyncRequest["scope"] {
  const at = text.indexOf("=");
  return at < 1 ? null : { property: text.slice(0, at), value: text.slice(at + 1) };
}

export interface Guards {
  /** Null: 10 % of maps with more than 10 features, unlimited on smaller ones. */
  readonly maxDelete: Limit | null;
  /** Null for unlimited. */
  readonly maxUpdate: Limit | null;
  readonly allowNullGeometry: boolean;
  readonly allowEmpty: boolean;
}

export interface SyncRequest {
  readonly source: SourceRequest;
  /** Whose rejects a file named by `source.rejects` holds, such as a step of a job; default: those for this map. */
  readonly rejectsOwner?: string;
  /** MAP_ID. */
  readonly map: string;
  readonly mode: SyncMode;
  readonly matching: KeyMatching;
  /** Limits both sides to features with this value (compared as text) of this property. */
  readonly scope: { readonly property: string; readonly value: string } | null;
  /** Decimals of longitude and latitude that are sent and compared. */
  readonly precision: number;
  /** Removes properties that only the map has. */
  readonly replaceProperties: boolean;
  /** How a full synchronization treats map features without a key. */
  readonly unmanaged: "refuse" | "keep" | "delete";
  /**
   * Allows a full synchronization with filters, which deletes the excluded features from the map; otherwise it is
   * rejected.
   */
  readonly deleteExcluded: boolean;
  readonly updateWith: "patch" | "delete-create";
  /** How to treat source features with duplicate keys. */
  readonly onDuplicate: "refuse" | "first" | "last";
  /** How to treat source features without a key. */
  readonly onMissingKey: "refuse" | "reject";
  /** Accepts a single reading of the map, although pages may have shifted meanwhile. */
  readonly singleRead: boolean;
  /** Pause in milliseconds before rereading the map to settle an uncertain batch; default 2000. */
  readonly settleTime: number;
  /** How often a run starts over after another writer changed the map; default 10. */
  readonly conflictRetries: number;
  readonly guards: Guards;
  /** Fail on warnings and losses. */
  readonly strict: boolean;
}

/** Default settings. */
export const defaultSyncSettings = {
  mode: "incremental",
  matching: { by: "property", name: null },
  scope: null,
  precision: 7,
  replaceProperties: false,
  unmanaged: "refuse",
  deleteExcluded: false,
  updateWith: "patch",
  onDuplicate: "refuse",
  onMissingKey: "refuse",
  singleRead: false,
  settleTime: 2000,
  conflictRetries: 10,
  guards: { maxDelete: null, maxUpdate: null, allowNullGeometry: false, allowEmpty: false },
  strict: false,
} as const satisfies Omit<SyncRequest, "source" | "map">;
