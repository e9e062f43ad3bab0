import { Spool } from "../io/spool.js";
import type { Host } from "../pipeline/request.js";
import type { MapClient, ServiceClient, Traffic } from "../remote/map-client.js";
import type { SnapshotProgress } from "../remote/snapshot.js";
import type { ApplyProgress } from "./apply-tools.js";
import { type FolderLock, lockMap } from "./lock.js";
import { MapState } from "./state.js";
import { mapFolder } from "./state-folder.js";

/** What a synchronisation works with. */
export interface SyncTools {
  readonly host: Host;
  readonly service: ServiceClient;
  readonly traffic: Traffic;
  /** The folder of all states (`stateRoot`). */
  readonly stateRoot: string;
  /** File or folder (`freeBackupPath`) that the backup goes to; null for the working directory. */
  readonly backup: string | null;
  /** What a person should know. */
  readonly onNotice: (sentence: string) => void;
  readonly onMap?: (progress: SnapshotProgress) => void;
  readonly onApply?: (progress: ApplyProgress) => void;
}

/** A run on one map, which no other one disturbs as long as it is open. */
export class SyncRun implements AsyncDisposable {
  readonly spool = new Spool();

  private constructor(
    readonly tools: SyncTools,
    readonly client: MapClient,
    /** Of the map's state, journal and lock. */
    readonly folder: string,
    private readonly lock: FolderLock,
    readonly state: MapState,
  ) {}

  /** @param map MAP_ID @throws map-locked, output-failed */
  static async open(tools: SyncTools, map: string): Promise<SyncRun> {
    const client = tools.service.map(map);
    const folder = mapFolder(tools.stateRoot, client.url, client.id);
    const lock = await lockMap(folder, { service: client.url, map: client.id });
    try {
      const { state, notice } = await MapState.open(folder);
      if (notice !== null) tools.onNotice(notice);
      return new SyncRun(tools, client, folder, lock, state);
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
