/**
 * The changes of a synchronization, and the only input of `apply`. A plan is a file of newline-delimited JSON: a
 * header, one action per line (creates, updates, deletes, then unchanged features with reasons), and an end with counts
 * and a digest of all previous lines, which reveals truncation and edits.
 */
import type { Geometry } from "../../model/geometry.js";
import type { Properties, RemoteKey } from "../../remote/wire.js";
import type { Guards, SyncMode, SyncRequest } from "../request.js";
import type { PlannedCreate } from "./plan-creates.js";

export const planVersion = 2;

/** `delete` removes the features that an input lists. */
export type PlanMode = SyncMode | "delete";

/** Identifies features on both sides: by service ids, or by a property. */
export type SyncKey = { readonly by: "id" } | { readonly by: "property"; readonly name: string };

export interface PlannedFeature {
  readonly type: "Feature";
  /** Present if features match by id, or to restore ids. */
  readonly id?: string;
  readonly geometry: Geometry | null;
  readonly properties: Properties;
}

/** A feature of the map that the plan changes. */
export interface MapFeature extends PlannedFeature {
  readonly id: string;
}

export interface PlanHeader {
  readonly type: "plan";
  readonly version: typeof planVersion;
  readonly service: string;
  readonly map: string;
  readonly mode: PlanMode;
  /** Null if features are not matched. */
  readonly key: SyncKey | null;
  /**
   * The key by which the backup of the run matches features, if it differs from `key`: a restore by one PUT matches by
   * id, but features that are recreated later have new ids.
   */
  readonly backupKey?: SyncKey;
  /**
   * Present if creates without a key were compared with the map by content: the plan of a repeated run has only those
   * that are still missing, so the journal of the earlier one does not apply to it.
   */
  readonly comparesCreates?: true;
  readonly settings: Pick<
    SyncRequest,
    "scope" | "precision" | "replaceProperties" | "unmanaged" | "updateWith" | "settleTime" | "singleRead"
  > & { readonly guards: Guards };
  readonly source: {
    readonly inputs: readonly string[];
    /** Hash of all keys and contents, hexadecimal. */
    readonly fingerprint: string;
    readonly features: number;
    /** Whether every source feature was read and none was rejected. */
    readonly complete: boolean;
    /** Features that could not be converted. */
    readonly rejected: number;
    /** Rejected features without a known key, whose matches on the map cannot be protected. */
    readonly unidentified: number;
    /** Number of unreadable parts of the inputs. */
    readonly gaps: number;
    /** Local files that were read, to detect later changes; empty for stdin and URLs. */
    readonly files: readonly { readonly path: string; readonly size: number; readonly sha256: string }[];
  };
  readonly snapshot: {
    /** Entity tag of the whole map; null if the service sends none. */
    readonly etag: string | null;
    readonly fingerprint: string;
    readonly features: number;
  };
  /** Whether one PUT sends the whole diff; determined, and written, at the end of the file. */
  readonly put: boolean;
}

/** The first line of a plan. */
export type PlanFileHeader = Omit<PlanHeader, "put">;

/** What the state stores about a feature that is equal on both sides (src/sync/state/map-state.ts). */
export interface BaselineEntry {
  /** Its key as text, or a name derived from its content if the source gives no id. */
  readonly name: string;
  /** Digest of the source's feature, hexadecimal. */
  readonly sent: string;
  /** Present if the map's feature keeps properties that the source lacks: they differ with `replaceProperties`. */
  readonly keepsMapProperties?: true;
}

/** The feature kept in place of a deleted one, with digests of both. */
export interface KeptFeature {
  readonly id: string;
  readonly digest: string;
  /** As in `KeyedRow`. */
  readonly exact: string | null;
  /** Exact digest of the deleted feature. */
  readonly other: string | null;
}

export type PlanAction =
  | {
      readonly action: "create";
      readonly key: RemoteKey | null;
      readonly feature: PlannedFeature;
      /** Null if features are not matched. */
      readonly agreement: BaselineEntry | null;
    }
  | {
      readonly action: "update";
      readonly id: string;
      readonly key: RemoteKey | null;
      /** Page of the map from which it was read. */
      readonly page: number;
      /** "geometry", and properties as `properties.name`. */
      readonly changed: readonly string[];
      readonly before: MapFeature;
      /** The intended feature: the source's values merged into the map's. */
      readonly feature: PlannedFeature;
      readonly agreement: BaselineEntry;
    }
  | {
      readonly action: "delete";
      readonly id: string;
      readonly key: RemoteKey | null;
      readonly before: MapFeature;
      /** The feature kept instead; if it is missing, or if either feature has changed, the delete is skipped. */
      readonly stays?: KeptFeature;
    }
  /**
   * The feature does not change: it is equal, it has no key, its source feature was rejected, or the mode deletes
   * nothing.
   */
  | {
      readonly action: "keep";
      readonly why: "same" | "unmanaged" | "protected" | "only-on-map";
      readonly id: string;
      readonly key: RemoteKey | null;
      /** The map's feature: present if one PUT must include it, and for the first ones without a key. */
      readonly feature?: PlannedFeature;
      /** Present, with the map's digest, if both sides are equal despite different digests. */
      readonly agreement?: BaselineEntry & { readonly held: string };
      /**
       * Present if the feature has the same content as one that the plan updates or deletes and that only its id
       * identifies. A restore must not take it for the recreated one.
       */
      readonly equalsChanged?: true;
    };

/** The kinds of actions, in file order. */
export const actionOrder = ["create", "update", "delete", "keep"] as const satisfies readonly PlanAction["action"][];

/** Number of features by action. */
export interface PlanCounts {
  readonly create: number;
  readonly update: number;
  readonly delete: number;
  readonly same: number;
  readonly unmanaged: number;
  /** Features only on the map whose source feature was rejected. */
  readonly protected: number;
  readonly onlyOnMap: number;
  /** Updates that remove a geometry. */
  readonly geometryLost: number;
}

/** Number of map features that the plan covers: all, or those within the scope. */
export const countMapFeatures = (counts: PlanCounts): number =>
  counts.update + counts.delete + counts.same + counts.unmanaged + counts.protected + counts.onlyOnMap;

/** The last line of a plan. */
export interface PlanEnd {
  readonly type: "end";
  readonly put: PlanHeader["put"];
  readonly counts: PlanCounts;
  /** SHA-256 of all previous lines, hexadecimal. */
  readonly sha256: string;
}

/** A validated plan; actions are read on demand. */
export interface OpenPlan {
  readonly path: string;
  readonly header: PlanHeader;
  readonly counts: PlanCounts;
  /** Actions of some kinds, or all, in file order; can be called repeatedly. */
  actions(kinds?: readonly PlanAction["action"][]): AsyncIterable<PlanAction>;
  /** The creates with their texts; absent if the texts are not available (`readCreates`). */
  creates?(): AsyncIterable<readonly PlannedCreate[]>;
}

/** Whether there is anything to write. */
export const isEmptyPlan = ({ create, update, delete: removed }: PlanCounts): boolean =>
  create + update + removed === 0;
