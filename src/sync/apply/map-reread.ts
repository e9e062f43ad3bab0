import { rm } from "node:fs/promises";
import type { KeyedRow } from "../../remote/snapshot/feature-side.js";
import { readSnapshot, type Snapshot } from "../../remote/snapshot/read-snapshot.js";
import { Workspace } from "../../remote/snapshot/workspace.js";
import type { RemoteKey } from "../../remote/wire.js";
import { fillMapKeys } from "../keys/fill-keys.js";
import { createKeyReader } from "../keys/key-value.js";
import { clearKeysOutOfScope } from "../source/scope.js";
import type { ApplyRun } from "./apply-run.js";

/** The map as it is now, read as a whole again, to see what became of what was sent. */
export class MapReread implements AsyncDisposable {
  private constructor(
    readonly workspace: Workspace,
    readonly snapshot: Snapshot,
  ) {}

  /** @throws remote-changed-during-read, output-failed, sync-interrupted; what `MapClient.page` throws */
  static async read(run: ApplyRun, workspace?: Workspace): Promise<MapReread> {
    run.throwIfAborted();
    const { client, spool } = run.context;
    const place = workspace ?? (await Workspace.create(spool));
    const { settings, key, mode } = run.header;
    const snapshot = await readSnapshot(client, place, {
      rounding: run.rounding,
      singleRead: settings.singleRead,
      exact: !run.etagChain.isActive || mode === "delete",
      key: key?.by === "property" ? createKeyReader(key.name) : undefined,
      onProgress: ({ features }) => run.reportProgress("read", features, null),
    });
    if (key) await fillMapKeys(place, key, run.context.signal);
    if (key?.by === "property") await clearKeysOutOfScope(place, settings.scope, run.context.signal);
    return new MapReread(place, snapshot);
  }

  findById(id: string): KeyedRow | undefined {
    return this.workspace.database.prepare("SELECT * FROM map WHERE id = ?").get(id) as KeyedRow | undefined;
  }

  /** Within the scope. */
  findByKey(key: RemoteKey): KeyedRow | undefined {
    return this.workspace.database.prepare("SELECT * FROM map WHERE key = ?").get(String(key)) as KeyedRow | undefined;
  }

  /** Closes a workspace and removes its files: a large map may be read several times in a run. */
  static async discard(workspace: Workspace): Promise<void> {
    workspace[Symbol.dispose]();
    await rm(workspace.folder, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return MapReread.discard(this.workspace);
  }
}
