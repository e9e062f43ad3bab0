/** A synchronisation as a person asks for it: the flags of `geoferry push`, `plan`, `verify` and `delete`. */
import type { ConvertRequest, OutputMember } from "../pipeline/request.js";

export type SyncMode = "incremental" | "full" | "append";
export const syncModes: readonly SyncMode[] = ["incremental", "full", "append"];

/** Which inputs, and what becomes of them on their way: as in a conversion, without an output. */
export type SourceRequest = Omit<ConvertRequest, OutputMember>;

/** How a feature of the source and one of the map are known for the same. */
export type KeyMatching =
  | { readonly by: "id" }
  /** Null: the best attribute is chosen. */
  | { readonly by: "property"; readonly name: string | null };

/** `12` features or `5%` of those on the map. */
export interface Limit {
  readonly text: string;
  readonly count: number;
  /** 0.05 for 5 %; 1 where a count is given. */
  readonly share: number;
}

/** Of `100` or `5%`; null where it is neither. */
export function parseLimit(text: string): Limit | null {
  const [, digits, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text.trim()) ?? [];
  if (digits === undefined) return null;
  const number = Number(digits);
  if (percent === "%") return number <= 100 ? { text, count: Number.POSITIVE_INFINITY, share: number / 100 } : null;
  return Number.isSafeInteger(number) ? { text, count: number, share: 1 } : null;
}

/** Of `property=value`; null where it is not of that form. */
export function parseScope(text: string): SyncRequest["scope"] {
  const at = text.indexOf("=");
  return at < 1 ? null : { property: text.slice(0, at), value: text.slice(at + 1) };
}

export interface Guards {
  /** Null: 10 % of maps over 10 features, and any number of smaller ones. */
  readonly maxDelete: Limit | null;
  /** Null: any number. */
  readonly maxUpdate: Limit | null;
  readonly allowNullGeometry: boolean;
  readonly allowEmpty: boolean;
}

export interface SyncRequest {
  readonly source: SourceRequest;
  /** MAP_ID. */
  readonly map: string;
  readonly mode: SyncMode;
  readonly matching: KeyMatching;
  /** Both sides are limited to features with this value (compared as text) of this property. */
  readonly scope: { readonly property: string; readonly value: string } | null;
  /** Decimals of longitude and latitude that are sent and compared. */
  readonly precision: number;
  /** Properties that only the map has are dropped. */
  readonly replaceProperties: boolean;
  /** What a full synchronisation does with features of the map that have no key. */
  readonly unmanaged: "refuse" | "keep" | "delete";
  /** A full synchronisation deletes from the map what filters leave out of the source; else it is refused with them. */
  readonly deleteExcluded: boolean;
  readonly updateWith: "patch" | "delete-create";
  /** What becomes of source features with the key of another one. */
  readonly onDuplicate: "refuse" | "first" | "last";
  /** What becomes of source features without a key. */
  readonly onMissingKey: "refuse" | "reject";
  /** One reading of the map is enough, though pages may have shifted meanwhile. */
  readonly singleRead: boolean;
  /** Milliseconds of quiet before the map is read to settle what became of a batch in doubt; 2000. */
  readonly settleTime: number;
  /** Times that a run reads both sides again and starts over where another writer changed the map meanwhile; 10. */
  readonly conflictRetries: number;
  readonly guards: Guards;
  /** Fail on warnings and losses. */
  readonly strict: boolean;
}

/** What holds unless a person says otherwise. */
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
