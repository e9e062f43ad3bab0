/**
 * What a synchronisation would do to a map: the only thing that `apply` takes. A plan is a file of newline-delimited
 * JSON: a header, an action a line (creates, then updates, then deletes, then what stays and why), and an end with
 * counts and a digest of all lines before it, by which a file that was cut short or changed is known.
 */
import type { Geometry } from "../../model/geometry.js";
import type { Properties, RemoteKey } from "../../remote/wire.js";
import type { Guards, SyncMode, SyncRequest } from "../request.js";
import type { PlannedCreate } from "./plan-creates.js";

export const planVersion = 2;

/** `delete` removes what an input lists. */
export type PlanMode = SyncMode | "delete";

/** What identifies a feature on both sides: the service's ids, or a property. */
export type SyncKey = { readonly by: "id" } | { readonly by: "property"; readonly name: string };

export interface PlannedFeature {
  readonly type: "Feature";
  /** Where ids match, or are put back. */
  readonly id?: string;
  readonly geometry: Geometry | null;
  readonly properties: Properties;
}

/** What the map has, where the plan changes it. */
export interface MapFeature extends PlannedFeature {
  readonly id: string;
}

export interface PlanHeader {
  readonly type: "plan";
  readonly version: typeof planVersion;
  readonly service: string;
  readonly map: string;
  readonly mode: PlanMode;
  /** Null where nothing is matched. */
  readonly key: SyncKey | null;
  readonly settings: Pick<
    SyncRequest,
    "scope" | "precision" | "replaceProperties" | "unmanaged" | "updateWith" | "settleTime" | "singleRead"
  > & { readonly guards: Guards };
  readonly source: {
    readonly inputs: readonly string[];
    /** Over all keys and contents, hexadecimal. */
    readonly fingerprint: string;
    readonly features: number;
    /** Every feature of the source was read, and none was rejected. */
    readonly complete: boolean;
    /** Features that could not be carried. */
    readonly rejected: number;
    /** Of these, those whose key is not known, so that their matches on the map cannot be protected. */
    readonly unidentified: number;
    /** Stretches of the inputs that could not be read. */
    readonly gaps: number;
    /** Local files that were read, to tell whether they changed since; empty for stdin and addresses. */
    readonly files: readonly { readonly path: string; readonly size: number; readonly sha256: string }[];
  };
  readonly snapshot: {
    /** Of the whole map; null where the service gives none. */
    readonly etag: string | null;
    readonly fingerprint: string;
    readonly features: number;
  };
  /** The whole diff goes in one PUT: known, and written, at the end of the file. */
  readonly put: boolean;
}

/** The first line of a plan. */
export type PlanFileHeader = Omit<PlanHeader, "put">;

/** What the state of the map keeps of a feature once both sides agree on it (src/sync/state/map-state.ts). */
export interface BaselineEntry {
  /** What it is known by: its key as text, or a name made of its content where it comes without an id. */
  readonly name: string;
  /** Digest of the source's feature, hexadecimal. */
  readonly sent: string;
}

/** A feature that stays, and digests of what it says and of what the one says that goes for it. */
export interface KeptFeature {
  readonly id: string;
  readonly digest: string;
  /** As in `SideRow`. */
  readonly exact: string | null;
  /** Of the one that goes. */
  readonly other: string | null;
}

export type PlanAction =
  | {
      readonly action: "create";
      readonly key: RemoteKey | null;
      readonly feature: PlannedFeature;
      /** Null where nothing is matched. */
      readonly agreement: BaselineEntry | null;
    }
  | {
      readonly action: "update";
      readonly id: string;
      readonly key: RemoteKey | null;
      /** Page of the map that it was read from. */
      readonly page: number;
      /** "geometry", and names of properties as `properties.name`. */
      readonly changed: readonly string[];
      readonly before: MapFeature;
      /** What the map shall have: the source's values over the map's own. */
      readonly feature: PlannedFeature;
      readonly agreement: BaselineEntry;
    }
  | {
      readonly action: "delete";
      readonly id: string;
      readonly key: RemoteKey | null;
      readonly before: MapFeature;
      /** The feature that stays for it: without it, or where either says something else by now, this one stays. */
      readonly stays?: KeptFeature;
    }
  /** It stays as it is: it is equal, it has no key, its source feature was rejected, or the mode deletes nothing. */
  | {
      readonly action: "keep";
      readonly why: "same" | "unmanaged" | "protected" | "only-on-map";
      readonly id: string;
      readonly key: RemoteKey | null;
      /** What the map has: where one PUT has to say it again, and of the first that have no key. */
      readonly feature?: PlannedFeature;
      /** With the digest of what the map has, where both sides are the same although their digests are not. */
      readonly agreement?: BaselineEntry & { readonly held: string };
    };

/** The kinds of actions, in the order of the file. */
export const actionOrder = ["create", "update", "delete", "keep"] as const satisfies readonly PlanAction["action"][];

/** Features by what becomes of them. */
export interface PlanCounts {
  readonly create: number;
  readonly update: number;
  readonly delete: number;
  readonly same: number;
  readonly unmanaged: number;
  readonly protected: number;
  readonly onlyOnMap: number;
  /** Of the updates, those that take away a geometry. */
  readonly geometryLost: number;
}

/** Features of the map that the plan is about: all, or those within the scope. */
export const countMapFeatures = (counts: PlanCounts): number =>
  counts.update + counts.delete + counts.same + counts.unmanaged + counts.protected + counts.onlyOnMap;

/** The last line of a plan. */
export interface PlanEnd {
  readonly type: "end";
  readonly put: PlanHeader["put"];
  readonly counts: PlanCounts;
  /** Of the bytes of all lines before, hexadecimal. */
  readonly sha256: string;
}

/** A plan that was read to know that it is whole; its actions are read as they are needed. */
export interface OpenPlan {
  readonly path: string;
  readonly header: PlanHeader;
  readonly counts: PlanCounts;
  /** Of some kinds, or all, in the order of the file; can be called again. */
  actions(kinds?: readonly PlanAction["action"][]): AsyncIterable<PlanAction>;
  /** What is created, with its texts; absent where these are not at hand (`createsOf`). */
  creates?(): AsyncIterable<readonly PlannedCreate[]>;
}

/** Whether there is anything to write. */
export const isEmptyPlan = ({ create, update, delete: removed }: PlanCounts): boolean =>
  create + update + removed === 0;
