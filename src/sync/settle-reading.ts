import { rm } from "node:fs/promises";
import type { KeyedRow } from "../remote/feature-side.js";
import { type Snapshot, takeSnapshot } from "../remote/snapshot.js";
import type { RemoteKey } from "../remote/wire.js";
import { Workspace } from "../remote/workspace.js";
import type { ApplyRun } from "./apply-run.js";
import { fillMapKeys } from "./key-fill.js";
import { keyReader } from "./key-value.js";
import { limitKeys } from "./scope.js";

/** The map as it is now, read as a whole again, to see what became of what was sent. */
export class Reading implements AsyncDisposable {
  private constructor(
    readonly workspace: Workspace,
    readonly snapshot: Snapshot,
  ) {}

  /** @throws remote-unsteady, output-failed, sync-interrupted; what `MapClient.page` throws */
  static async take(run: ApplyRun, workspace?: Workspace): Promise<Reading> {
    run.stopIfAsked();
    const { client, spool } = run.tools;
    const place = workspace ?? (await Workspace.create(spool));
    const { settings, key } = run.header;
    const snapshot = await takeSnapshot(client, place, {
      rounding: run.rounding,
      trustPages: settings.trustPages,
      key: key?.by === "property" ? keyReader(key.name) : undefined,
      onProgress: ({ features }) => run.tell("read", features, null),
    });
    if (key) await fillMapKeys(place, key, run.tools.signal);
    if (key?.by === "property") await limitKeys(place, settings.scope, run.tools.signal);
    return new Reading(place, snapshot);
  }

  rowById(id: string): KeyedRow | undefined {
    return this.workspace.database.prepare("SELECT * FROM map WHERE id = ?").get(id) as KeyedRow | undefined;
  }

  /** Within the scope. */
  rowByKey(key: RemoteKey): KeyedRow | undefined {
    return this.workspace.database.prepare("SELECT * FROM map WHERE key = ?").get(String(key)) as KeyedRow | undefined;
  }

  /** Closes a workspace and removes its files: a large map may be read several times in a run. */
  static async discard(workspace: Workspace): Promise<void> {
    workspace[Symbol.dispose]();
    await rm(workspace.folder, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Reading.discard(this.workspace);
  }
}
