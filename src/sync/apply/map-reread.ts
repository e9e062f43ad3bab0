import { rm } from "node:fs/promises";
import type { KeyedRow } from "../../compare/feature-side.js";
import { Workspace } from "../../compare/workspace.js";
import { asGeoferryError } from "../../errors.js";
import { readSnapshot, type Snapshot } from "../../remote/snapshot/read-snapshot.js";
import type { RemoteKey, WireFeature } from "../../remote/wire.js";
import { fillMapKeys } from "../keys/fill-keys.js";
import { createKeyReader } from "../keys/key-value.js";
import { clearKeysOutOfScope } from "../source/scope.js";
import type { ApplyRun } from "./apply-run.js";
import { readPatiently } from "./pauses.js";

/** The current map, read again as a whole to determine the outcome of requests. */
export class MapReread implements AsyncDisposable {
  private constructor(
    readonly workspace: Workspace,
    readonly snapshot: Snapshot,
  ) {}

  /** @throws remote-changed-during-read, output-failed, sync-interrupted; errors of `MapClient.page` */
  static async read(run: ApplyRun, workspace?: Workspace): Promise<MapReread> {
    run.throwIfAborted();
    const { client, spool } = run.context;
    const target = workspace ?? (await Workspace.create(spool));
    const { settings, key, mode } = run.header;
    const snapshot = await readSnapshot(client, target, {
      rounding: run.rounding,
      singleRead: settings.singleRead,
      exact: !run.etagChain.isActive || mode === "delete",
      key: key?.by === "property" ? createKeyReader(key.name) : undefined,
      onProgress: ({ features }) => run.reportProgress("read", features, null),
    });
    if (key) await fillMapKeys(target, key, run.context.signal);
    if (key?.by === "property") await clearKeysOutOfScope(target, settings.scope, run.context.signal);
    return new MapReread(target, snapshot);
  }

  /** Reads the map, again after pauses while it is not as expected. @throws errors of `read` */
  static readUntil(run: ApplyRun, isExpected: (reading: MapReread) => boolean | Promise<boolean>): Promise<MapReread> {
    const discard = (reading: MapReread) => reading[Symbol.asyncDispose]();
    return readPatiently(run, () => MapReread.read(run), isExpected, discard);
  }

  findById(id: string): KeyedRow | undefined {
    return this.workspace.database.prepare("SELECT * FROM map WHERE id = ?").get(id) as KeyedRow | undefined;
  }

  /** Finds features within the scope only. */
  findByKey(key: RemoteKey): KeyedRow | undefined {
    return this.workspace.database.prepare("SELECT * FROM map WHERE key = ?").get(String(key)) as KeyedRow | undefined;
  }

  /** Closes a workspace and deletes its files, since a run may read a large map several times. */
  static async discard(workspace: Workspace): Promise<void> {
    workspace[Symbol.dispose]();
    await rm(workspace.folder, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return MapReread.discard(this.workspace);
  }
}

/** Features of a page of the map. A service may respond with 404 to one behind the last. */
export async function readPage(page: number, { context }: ApplyRun): Promise<readonly WireFeature[]> {
  try {
    return (await context.client.page(page))?.features ?? [];
  } catch (error) {
    if (page > 1 && asGeoferryError(error).code === "remote-map-missing") return [];
    throw error;
  }
}
