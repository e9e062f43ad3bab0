/** Runs synchronizations in the test process, which is faster than commands. */
import { join } from "node:path";
import { asGeoferryError } from "../../../src/errors.js";
import type { Traffic } from "../../../src/remote/client/map-client.js";
import { createServiceClient, defaultTraffic } from "../../../src/remote/client/service-client.js";
import type { ApplyReport } from "../../../src/sync/apply/apply-context.js";
import { defaultSyncSettings, type SourceRequest, type SyncRequest } from "../../../src/sync/request.js";
import { synchronize } from "../../../src/sync/sync.js";
import { SyncRun } from "../../../src/sync/sync-run.js";
import { createTestHost } from "../host.js";
import type { Account } from "./sync-fixture.js";

/** Default request; all waits are short. */
export const defaultTestRequest: Omit<SyncRequest, "source" | "map"> = {
  ...defaultSyncSettings,
  matching: { by: "property", name: "ref" },
  settleTime: 60,
};

/** Disables all guards except the one for rejects. */
export const noGuards: SyncRequest["guards"] = {
  maxDelete: { text: "100%", count: Number.POSITIVE_INFINITY, share: 1 },
  maxUpdate: null,
  allowNullGeometry: true,
  allowEmpty: true,
};

export interface SyncRunOptions {
  /** URL of the service, or of a proxy in front of it. */
  readonly url: string;
  readonly as: Account;
  /** For states, backups and rejects. */
  readonly folder: string;
  readonly map: string;
  /** Path of a file. */
  readonly source: string;
  readonly request?: Partial<SyncRequest>;
  /** Options of the source, besides its path. */
  readonly reading?: Partial<SourceRequest>;
  readonly traffic?: Partial<Traffic>;
  readonly signal?: AbortSignal;
}

export interface SyncRunResult {
  /** "done", "failed" if features were rejected, or an error code. */
  readonly end: string;
  /** Null if there was nothing to write. */
  readonly report: ApplyReport | null;
}

let runCount = 0;

/** @throws internal errors, which are bugs */
export async function runSyncInProcess({
  url,
  as,
  folder,
  map,
  source,
  request,
  reading,
  traffic,
  signal,
}: SyncRunOptions): Promise<SyncRunResult> {
  const host = createTestHost(signal);
  const run = `${map}-${runCount++}`;
  const patience = { ...defaultTraffic, retries: 2, firstRetryDelay: 1, timeout: 5000, ...traffic };
  const asked: SyncRequest = {
    ...defaultTestRequest,
    map,
    source: { inputs: [source], workers: 1, rejects: join(folder, `${run}-rejects.geojsonl`), ...reading },
    ...request,
  };
  try {
    await using opened = await SyncRun.open(
      {
        host,
        service: createServiceClient({ url, ...as }, patience, host.signal),
        traffic: patience,
        stateRoot: join(folder, "state"),
        backupPath: join(folder, `${run}-backup.geojson`),
        onNotice: () => {},
      },
      map,
    );
    const { applied } = await synchronize(asked, asked.mode, opened, { onPlan: () => {}, confirm: async () => true });
    if (!applied) return { end: "done", report: null };
    if (applied.error?.code === "internal") throw applied.error;
    return { end: applied.error?.code ?? (applied.failed > 0 ? "failed" : "done"), report: applied };
  } catch (thrown) {
    const error = asGeoferryError(thrown);
    if (error.code === "internal") throw error;
    return { end: error.code, report: null };
  }
}
