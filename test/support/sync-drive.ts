/** Synchronisations in the process of the test, which takes less time than commands do. */
import { join } from "node:path";
import { asGeoferryError } from "../../src/errors.js";
import type { Traffic } from "../../src/remote/map-client.js";
import { openService, usualTraffic } from "../../src/remote/service.js";
import type { ApplyReport } from "../../src/sync/apply-tools.js";
import { type SourceRequest, type SyncRequest, usualSettings } from "../../src/sync/request.js";
import { synchronise } from "../../src/sync/sync.js";
import { SyncRun } from "../../src/sync/sync-run.js";
import { testHost } from "./host.js";
import type { Account } from "./sync-world.js";

/** What is asked for when nothing else is said. Nobody waits long in a test. */
export const usualRequest: Omit<SyncRequest, "source" | "map"> = {
  ...usualSettings,
  matching: { by: "property", name: "ref" },
  settle: 60,
};

/** No guard but that for rejects is in the way. */
export const unguarded: SyncRequest["guards"] = {
  maxDelete: { text: "100%", count: Number.POSITIVE_INFINITY, share: 1 },
  maxUpdate: null,
  allowNullGeometry: true,
  allowEmpty: true,
};

export interface Drive {
  /** Of the service, or of a proxy in front of it. */
  readonly url: string;
  readonly as: Account;
  /** Of states, backups and rejects. */
  readonly folder: string;
  readonly map: string;
  /** Path of a file. */
  readonly source: string;
  readonly request?: Partial<SyncRequest>;
  /** Of the source, beside its path. */
  readonly reading?: Partial<SourceRequest>;
  readonly traffic?: Partial<Traffic>;
  readonly signal?: AbortSignal;
}

export interface Driven {
  /** "done", "failed" where features were refused, or the code of an error. */
  readonly end: string;
  /** Null where nothing was to be written. */
  readonly report: ApplyReport | null;
}

let runs = 0;

/** @throws internal errors, which are bugs and no answer to what happened */
export async function drive({
  url,
  as,
  folder,
  map,
  source,
  request,
  reading,
  traffic,
  signal,
}: Drive): Promise<Driven> {
  const host = testHost(signal);
  const run = `${map}-${runs++}`;
  const patience = { ...usualTraffic, retries: 2, firstWait: 1, timeout: 5000, ...traffic };
  const asked: SyncRequest = {
    ...usualRequest,
    map,
    source: { inputs: [source], workers: 1, rejects: join(folder, `${run}-rejects.geojsonl`), ...reading },
    ...request,
  };
  try {
    await using opened = await SyncRun.open(
      {
        host,
        service: openService({ url, ...as }, patience, host.signal),
        traffic: patience,
        stateRoot: join(folder, "state"),
        backup: join(folder, `${run}-backup.geojson`),
        onNotice: () => {},
      },
      map,
    );
    const { applied } = await synchronise(asked, asked.mode, opened, { onPlan: () => {}, confirm: async () => true });
    if (!applied) return { end: "done", report: null };
    if (applied.ending?.code === "internal") throw applied.ending;
    return { end: applied.ending?.code ?? (applied.failed > 0 ? "failed" : "done"), report: applied };
  } catch (thrown) {
    const error = asGeoferryError(thrown);
    if (error.code === "internal") throw error;
    return { end: error.code, report: null };
  }
}
