/** Synchronises features with a map of a service, plan and application, over a proxy that faults can be put into. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";
import { Spool } from "../../src/io/spool.js";
import { type MapClient, type Traffic, usualTraffic } from "../../src/remote/map-client.js";
import { openService } from "../../src/remote/service.js";
import { takeSnapshot } from "../../src/remote/snapshot.js";
import type { WireFeature } from "../../src/remote/wire.js";
import { Workspace } from "../../src/remote/workspace.js";
import { buildApp } from "../../src/service/app.js";
import { agreeOn } from "../../src/sync/agree.js";
import { applyPlan, finishEarlier } from "../../src/sync/apply.js";
import type { ApplyMemory, ApplyReport, ApplyTools } from "../../src/sync/apply-tools.js";
import { freeBackupPath } from "../../src/sync/backup.js";
import { classify } from "../../src/sync/classify.js";
import { roundingOf } from "../../src/sync/classify-rounding.js";
import type { OpenPlan, PlanMode, SyncKey } from "../../src/sync/plan.js";
import type { SyncRequest } from "../../src/sync/request.js";
import { type ComparedState, MapState } from "../../src/sync/state.js";
import { patchManners } from "../../src/sync/update-manner.js";
import { Service } from "../service/service.js";
import type { StoreKind } from "../service/stores.js";
import { ChaosProxy } from "../support/chaos-proxy.js";
import { fill, keyOfFeature, type Loose, request } from "./sides.js";

const byRef: SyncKey = { by: "property", name: "ref" };

export interface Wish {
  readonly mode?: PlanMode;
  readonly key?: SyncKey | null;
  readonly request?: Partial<SyncRequest>;
  /** Of the source; where another run shall know it for the same. */
  readonly fingerprint?: string;
  readonly complete?: boolean;
  readonly traffic?: Partial<Traffic>;
  readonly tools?: Partial<ApplyTools>;
  /** Between the plan and its application. */
  readonly meanwhile?: () => Promise<unknown>;
}

const never = new AbortController().signal;

export const memoryOf = (state: MapState): ApplyMemory => ({
  get patchManner() {
    return patchManners.find((manner) => manner === state.note("patch-manner")) ?? null;
  },
  rememberManner: (manner) => state.remember("patch-manner", manner),
});

/** A map, the folder of its state, and who asks for it. */
export class Target {
  readonly folder = mkdtempSync(join(tmpdir(), "geoferry-apply-"));
  constructor(
    readonly id: string,
    readonly connection: { readonly url: string; readonly clientId: string; readonly clientSecret: string },
    /** Of the service itself. */
    readonly direct: MapClient,
  ) {
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  client(traffic: Partial<Traffic> = {}, signal: AbortSignal = never): MapClient {
    return openService(this.connection, { ...usualTraffic, ...traffic }, signal).map(this.id);
  }

  get rejects(): string {
    return join(this.folder, "rejects.geojsonl");
  }

  async rejected(): Promise<Record<string, unknown>[]> {
    return (await readFile(this.rejects, "utf8"))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  }

  /** Everything on the map, asked for without a proxy. */
  async features(): Promise<readonly WireFeature[]> {
    const all: WireFeature[] = [];
    for (let page = 1; ; page++) {
      const { features } = (await this.direct.page(page))!;
      all.push(...features);
      if (features.length < 500) return all;
    }
  }

  /** Their properties, in the order of `ref`. */
  async properties(): Promise<readonly Record<string, unknown>[]> {
    const all = (await this.features()).map(({ properties }) => properties);
    return all.sort((a, b) => String(a.ref).localeCompare(String(b.ref), "en", { numeric: true }));
  }

  async put(...features: readonly Loose[]): Promise<void> {
    for (let i = 0; i < features.length; i += 1000) {
      const texts = features.slice(i, i + 1000).map((one) => JSON.stringify({ type: "Feature", ...one }));
      await this.direct.create(texts, randomUUID());
    }
  }

  async sync(source: readonly Loose[], wish: Wish = {}): Promise<ApplyReport> {
    await using spool = new Spool();
    const { state } = await MapState.open(this.folder);
    using _state = state;
    const { traffic, tools, meanwhile } = wish;
    const client = this.client({ retries: 2, ...traffic }, tools?.signal);
    const common = this.tools({ client, spool, memory: memoryOf(state), ...tools });
    const earlier = await finishEarlier(common);
    if (earlier?.ending) return earlier;
    const compared = state.compared("test");
    const plan = await this.plan(source, wish, compared, client);
    await meanwhile?.();
    return await applyPlan(plan, {
      ...common,
      onReadBack: async (after, record) => {
        await agreeOn(plan, after, compared, record);
      },
    });
  }

  /** Compares both sides. */
  async plan(
    source: readonly Loose[],
    wish: Wish = {},
    state: ComparedState | null = null,
    client = this.client(wish.traffic),
  ): Promise<OpenPlan> {
    const { mode = "full", key = byRef, fingerprint = randomUUID(), complete = true } = wish;
    const asked = { ...request, map: this.id, mode: mode === "delete" ? "full" : mode, settle: 20, ...wish.request };
    await using spool = new Spool();
    using workspace = await Workspace.create(spool);
    const snapshot = await takeSnapshot(client, workspace, { rounding: roundingOf(asked.precision) });
    fill(workspace, workspace.source, source, key, asked.precision);
    for (const row of [...workspace.map.rows()])
      workspace.map.setKey(row.seq, keyOfFeature(JSON.parse(workspace.map.textOf(row)) as WireFeature, key));
    const facts = { inputs: ["places.geojson"], rejected: 0, unidentified: 0, gaps: 0, files: [] };
    return await classify(
      {
        workspace,
        request: asked,
        mode,
        service: client.url,
        key,
        source: { ...facts, fingerprint, features: source.length, complete },
        snapshot,
        state,
      },
      { path: join(this.folder, "plan.ndjson"), overwrite: true },
    );
  }

  tools(given: Pick<ApplyTools, "client" | "spool" | "memory"> & Partial<ApplyTools>): ApplyTools {
    return {
      folder: this.folder,
      traffic: { concurrency: 4, retries: 2 },
      signal: never,
      backup: freeBackupPath(this.folder, this.id, new Date()),
      rejects: this.rejects,
      ...given,
    };
  }
}

/** The real service over a store, listening, and a proxy in front of it. */
export class RealService {
  private constructor(
    private readonly service: Service,
    private readonly url: string,
    readonly proxy: ChaosProxy,
  ) {}

  static async start({ open }: StoreKind): Promise<RealService> {
    const { store, close } = await open();
    const app = buildApp({ store, settings: {}, now: Date.now });
    const url = await app.listen({ host: "127.0.0.1", port: 0 });
    const proxy = await ChaosProxy.start(url);
    afterAll(async () => {
      await proxy[Symbol.asyncDispose]();
      await app.close();
      await close();
    });
    const service = new Service(store, app);
    service.now = Date.now();
    await service.begin();
    return new RealService(service, url, proxy);
  }

  /** An empty map; the proxy does nothing but what always happens. */
  async newTarget(): Promise<Target> {
    this.proxy.calm();
    const { clientId, clientSecret } = this.service.ann;
    const client = { clientId, clientSecret };
    const id = await this.service.newMap(this.service.ann);
    const direct = openService({ url: this.url, ...client }, usualTraffic, never).map(id);
    return new Target(id, { url: this.proxy.url, ...client }, direct);
  }
}
