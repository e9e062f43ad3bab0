/** What an application of a plan is given, and what it tells. */
import type { GeoferryError } from "../../errors.js";
import type { Spool } from "../../io/input/spool.js";
import type { MapClient, Traffic } from "../../remote/client/map-client.js";
import type { CreationRecorder } from "../journal/backup-writer.js";
import type { MapReread } from "./map-reread.js";
import type { PatchSemantics } from "./patch-semantics.js";

/** Where a run can be cut off, in the order in which one batch passes them. */
export type ApplyCheckpoint =
  | "backed-up"
  /** The journal says that a request will be sent. */
  | "sent"
  /** The request has an answer, or none will come. */
  | "answered"
  /** The journal says what came of it. */
  | "acknowledged"
  /** Features are about to be deleted to be created anew, and the journal has them. */
  | "recreating"
  | "ended";

export type ApplyStep = "backup" | "create" | "update" | "read" | "delete";

export interface ApplyProgress {
  readonly step: ApplyStep;
  readonly done: number;
  /** Of the step; null where it is not known. */
  readonly total: number | null;
}

/** What is known of a map from one run to the next. */
export interface ServiceBehavior {
  /** How the service updates nested values; null where nothing is known yet. */
  readonly patchSemantics: PatchSemantics | null;
  savePatchSemantics(manner: PatchSemantics): void;
}

export interface ApplyContext {
  readonly client: MapClient;
  /** For the map as it is read again. */
  readonly spool: Spool;
  /** Of the map's state: the journal lies there. */
  readonly stateFolder: string;
  readonly serviceBehavior: ServiceBehavior;
  readonly traffic: Pick<Traffic, "concurrency" | "retries">;
  /** Once aborted no further request is sent; those under way are waited for. */
  readonly signal: AbortSignal;
  /** A path that nothing has yet (`freeBackupPath`). */
  readonly backupPath: string;
  /** Features that the service refuses are added to this file. */
  readonly rejectsPath: string;
  readonly onProgress?: (progress: ApplyProgress) => void;
  /**
   * Given the map as it was read after creates and updates, before anything is deleted.
   * @param record where created features go that the map shows otherwise than they were sent
   */
  readonly onMapReread?: (after: MapReread, record: CreationRecorder) => Promise<void>;
  /** Awaited at each point. */
  readonly onCheckpoint?: (point: ApplyCheckpoint) => void | Promise<void>;
}

/** Something that the service refused: one of the first of its run. */
export interface RefusedFeature {
  readonly action: "create" | "update" | "delete";
  readonly key: string | number | null;
  readonly id: string | null;
  readonly code: string;
  readonly reason: string;
}

/** Why planned deletes were not carried out, or not all. */
export type WithheldReason = "failed" | "unknown" | "changed" | "stopped";

export interface EarlierBackup {
  readonly path: string;
  /** Features that the attempt created. */
  readonly created: number;
}

export interface ApplyReport {
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  /** Features that the service refused: creates and updates are in `rejects`. */
  readonly failed: number;
  /** Features of which nobody knows whether the map has them (mode append): in `rejects`, too. */
  readonly unknown: number;
  /** Features that were removed again, as another writer had created the same ones at the same time; absent for none. */
  readonly twins?: number;
  /** Deletes that were planned and are not done, and why. */
  readonly withheld: { readonly deletes: number; readonly why: WithheldReason } | null;
  /** Another writer was faster: a write was refused as the map is not what it was read to be any more. */
  readonly hasConflict: boolean;
  /** Something of the plan may be on the map. */
  readonly hasWritten: boolean;
  /** The whole diff went in one PUT. */
  readonly put: boolean;
  /** The file by which `geoferry restore` undoes the run; null where nothing was to be written. */
  readonly backup: string | null;
  /** Of earlier attempts of the same run, which other writers cut short; the last first. */
  readonly earlierBackups?: readonly EarlierBackup[];
  readonly rejects: string | null;
  readonly refused: readonly RefusedFeature[];
  /** Of the map as the plan left it, where nobody else can have changed it since; else null. */
  readonly etag: string | null;
  /** What a person may want to know. */
  readonly notices: readonly string[];
  /** What it ended with before its end; the rest is as told. Null where it came to its end, be it with failures. */
  readonly error: GeoferryError | null;
}
