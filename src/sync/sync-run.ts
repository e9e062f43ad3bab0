import { Spool } from "../io/input/spool.js";
import type { Host } from "../pipeline/request.js";
import type { MapClient, ServiceClient, Traffic } from "../remote/client/map-client.js";
import type { SnapshotProgress } from "../remote/snapshot/read-snapshot.js";
import type { ApplyProgress } from "./apply/apply-context.js";
import { acquireMapLock, FolderLock } from "./state/folder-lock.js";
import { MapState, openStateReadonly, type ReadonlyMapState } from "./state/map-state.js";
import { ensureMapFolder, mapFolder } from "./state/state-folder.js";

/** The resources of a synchronization. */
export interface SyncContext {
  readonly host: Host;
  readonly service: ServiceClient;
  readonly traffic: Traffic;
  /** Root folder of all map states (`resolveStateRoot`). */
  readonly stateRoot: string;
  /** File or folder for the backup (`findFreeBackupPath`); null for a file in the map's state folder. */
  readonly backupPath: string | null;
  /** Receives notices for the user. */
  readonly onNotice: (sentence: string) => void;
  readonly onSnapshotProgress?: (progress: SnapshotProgress) => void;
  readonly onApplyProgress?: (progress: ApplyProgress) => void;
}

/** The resources for comparing a map with a source without writing. */
export interface ReadonlySyncRun extends AsyncDisposable {
  readonly context: SyncContext;
  readonly client: MapClient;
  /** Folder of the map's state, journal and lock. */
  readonly stateFolder: string;
  readonly spool: Spool;
  readonly state: ReadonlyMapState;
}

/**
 * Opens a read-only run, which takes no lock and writes no state. If another run holds the lock, reports it; the map may
 * then change during the run. @param map MAP_ID
 */
export async function openReadonlySyncRun(context: SyncContext, map: string): Promise<ReadonlySyncRun> {
  const client = context.service.map(map);
  const stateFolder = mapFolder(context.stateRoot, client.url, client.id);
  const holder = await FolderLock.describeHolder(stateFolder);
  if (holder !== null)
    context.onNotice(`another run is changing map ${client.id} (${holder}); results may be outdated`);
  const state = await openStateReadonly(stateFolder);
  const spool = new Spool();
  return {
    ...{ context, client, stateFolder, spool, state },
    async [Symbol.asyncDispose]() {
      state[Symbol.dispose]();
      await spool[Symbol.asyncDispose]();
    },
  };
}

/** A run with the exclusive lock on one map. */
export class SyncRun implements ReadonlySyncRun {
  readonly spool = new Spool();

  private constructor(
    readonly context: SyncContext,
    readonly client: MapClient,
    readonly stateFolder: string,
    private readonly lock: FolderLock,
    readonly state: MapState,
  ) {}

  /** @param map MAP_ID @throws map-locked, output-failed */
  static async open(context: SyncContext, map: string): Promise<SyncRun> {
    const client = context.service.map(map);
    const folder = ensureMapFolder(context.stateRoot, client.url, client.id);
    const lock = await acquireMapLock(folder, { service: client.url, map: client.id });
    try {
      const { state, notice } = await MapState.open(folder);
      if (notice !== null) context.onNotice(notice);
      return new SyncRun(context, client, folder, lock, state);
    } catch (error) {
      lock[Symbol.dispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.state[Symbol.dispose]();
    this.lock[Symbol.dispose]();
    await this.spool[Symbol.asyncDispose]();
  }
}
