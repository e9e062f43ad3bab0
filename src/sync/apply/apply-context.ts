/** Inputs and results of applying a plan. */
import type { GeoferryError } from "../../errors.js";
import type { Spool } from "../../io/input/spool.js";
import type { MapClient, Traffic } from "../../remote/client/map-client.js";
import type { CreationRecorder } from "../journal/backup-writer.js";
import type { BaselineEntry } from "../plan/plan.js";
import type { RejectsFile } from "../source/rejects-path.js";
import type { MapReread } from "./map-reread.js";
import type { PatchSemantics } from "./patch-semantics.js";

/** Points at which tests interrupt a run, in the order in which one batch reaches them. */
export type ApplyCheckpoint =
  | "backed-up"
  /** The journal records that a request is about to be sent. */
  | "sent"
  /** The request has a response, or its connection failed. */
  | "answered"
  /** The journal records the outcome. */
  | "acknowledged"
  /** The journal contains the features that are about to be deleted and recreated. */
  | "recreating"
  | "ended";

export type ApplyStep = "backup" | "create" | "update" | "read" | "delete";

export interface ApplyProgress {
  readonly step: ApplyStep;
  readonly done: number;
  /** Total of the step; null if unknown. */
  readonly total: number | null;
}

/** Service behavior that is remembered between runs. */
export interface ServiceBehavior {
  /** How the service updates nested values; null if unknown. */
  readonly patchSemantics: PatchSemantics | null;
  savePatchSemantics(semantics: PatchSemantics): void;
}

export interface ApplyContext {
  readonly client: MapClient;
  /** For rereading the map. */
  readonly spool: Spool;
  /** Folder of the map's state, which contains the journal. */
  readonly stateFolder: string;
  readonly serviceBehavior: ServiceBehavior;
  /** Whether an earlier run has sent the same feature, and the map then had the one with this digest. */
  readonly isKnownResult?: (entry: BaselineEntry, held: string) => boolean;
  readonly traffic: Pick<Traffic, "concurrency" | "retries">;
  /** Once aborted, no further request is sent; requests in flight complete. */
  readonly signal: AbortSignal;
  /** An unused path (`findFreeBackupPath`). */
  readonly backupPath: string;
  /** Rejected features are appended to this file. */
  readonly rejectsFile: RejectsFile;
  readonly onProgress?: (progress: ApplyProgress) => void;
  /**
   * Called with the map as read after creates and updates, before any delete.
   * @param record receives created features that the service stored differently from how they were sent
   * @returns whether later runs can match all created features
   */
  readonly onMapReread?: (after: MapReread, record: CreationRecorder) => Promise<boolean>;
  /** Awaited at each checkpoint. */
  readonly onCheckpoint?: (point: ApplyCheckpoint) => void | Promise<void>;
}

/** A feature that the service rejected; only the first ones of a run are listed. */
export interface RefusedFeature {
  readonly action: "create" | "update" | "delete";
  readonly key: string | number | null;
  readonly id: string | null;
  readonly code: string;
  readonly reason: string;
}

/** Why some or all planned deletes were not executed. */
export type WithheldReason = "failed" | "unknown" | "changed" | "stopped";

export interface EarlierBackup {
  readonly path: string;
  /** Number of features that the attempt created. */
  readonly created: number;
}

export interface ApplyReport {
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  /** Features that the service reported as created, whether or not the map shows them: undoing deletes as many. */
  readonly reportedCreates?: number;
  /** Features that the service rejected; creates and updates are in `rejects`. */
  readonly failed: number;
  /** Features that may or may not be on the map (mode append); also in `rejects`. */
  readonly unknown: number;
  /** Features removed again because another writer created the same ones concurrently; absent if there are none. */
  readonly twins?: number;
  /** Number of planned deletes that were not executed, and why. */
  readonly withheld: { readonly deletes: number; readonly why: WithheldReason } | null;
  /** Another writer changed the map first: a write failed because the map was no longer as read. */
  readonly hasConflict: boolean;
  /** Some changes of the plan may be on the map. */
  readonly hasWritten: boolean;
  /** Whether one PUT carried the whole diff. */
  readonly put: boolean;
  /** The file with which `geoferry restore` undoes the run; null if nothing was to be written. */
  readonly backup: string | null;
  /** Backups of earlier attempts of the same run that other writers interrupted; the latest first. */
  readonly earlierBackups?: readonly EarlierBackup[];
  readonly rejects: string | null;
  readonly refused: readonly RefusedFeature[];
  /** Entity tag of the map after the plan, if no other client can have changed it since; else null. */
  readonly etag: string | null;
  /** Notices for the user. */
  readonly notices: readonly string[];
  /**
   * The error that stopped the run, while the other members remain valid; null if it completed, possibly with failures.
   */
  readonly error: GeoferryError | null;
}
