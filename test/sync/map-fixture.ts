/** Synchronizes features with a map through a proxy that injects faults. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";
import { Workspace } from "../../src/compare/workspace.js";
import { Spool } from "../../src/io/input/spool.js";
import { defaultTraffic, type MapClient, type Traffic } from "../../src/remote/client/map-client.js";
import { createServiceClient } from "../../src/remote/client/service-client.js";
import { readSnapshot } from "../../src/remote/snapshot/read-snapshot.js";
import type { WireFeature } from "../../src/remote/wire.js";
import { buildApp } from "../../src/service/app.js";
import type { ApplyContext, ApplyReport, ServiceBehavior } from "../../src/sync/apply/apply-context.js";
import { applyPlan, finishInterruptedUpdates } from "../../src/sync/apply/apply-plan.js";
import { patchSemantics } from "../../src/sync/apply/patch-semantics.js";
import { diffToPlan } from "../../src/sync/diff/diff-to-plan.js";
import { roundingForPrecision } from "../../src/sync/diff/rounding.js";
import { findFreeBackupPath } from "../../src/sync/journal/backup.js";
import type { OpenPlan, PlanMode, SyncKey } from "../../src/sync/plan/plan.js";
import type { SyncRequest } from "../../src/sync/request.js";
import { MapState, type StoredBaseline } from "../../src/sync/state/map-state.js";
import { updateBaseline } from "../../src/sync/state/update-baseline.js";
import { ServiceFixture } from "../service/service-fixture.js";
import type { StoreKind } from "../service/store-kinds.js";
import { FaultProxy } from "../support/servers/fault-proxy.js";
import { type FeatureInput, featureKey, fillSide, request } from "./diff-scenario.js";

const byRef: SyncKey = { by: "property", name: "ref" };

export interface SyncOptions {
  readonly mode?: PlanMode;
  readonly key?: SyncKey | null;
  readonly request?: Partial<SyncRequest>;
  /** Fingerprint of the source; set it to make runs recognize each other. */
  readonly fingerprint?: string;
  readonly complete?: boolean;
  readonly traffic?: Partial<Traffic>;
  readonly tools?: Partial<ApplyContext>;
  /** Called between planning and applying. */
  readonly meanwhile?: () => Promise<unknown>;
}

const never = new AbortController().signal;

export const serviceBehaviorOf = (state: MapState): ServiceBehavior => ({
  get patchSemantics() {
    return patchSemantics.find((manner) => manner === state.getNote("patch-manner")) ?? null;
  },
  savePatchSemantics: (manner) => state.setNote("patch-manner", manner),
});

/** A map with its state folder and credentials. */
export class MapFixture {
  readonly folder = mkdtempSync(join(tmpdir(), "geoferry-apply-"));
  constructor(
    readonly id: string,
    readonly connection: { readonly url: string; readonly clientId: string; readonly clientSecret: string },
    /** URL of the service itself. */
    readonly direct: MapClient,
  ) {
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  client(traffic: Partial<Traffic> = {}, signal: AbortSignal = never): MapClient {
    return createServiceClient(this.connection, { ...defaultTraffic, ...traffic }, signal).map(this.id);
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

  /** All features of the map, read without the proxy. */
  async features(): Promise<readonly WireFeature[]> {
    const all: WireFeature[] = [];
    for (let page = 1; ; page++) {
      const { features } = (await this.direct.page(page))!;
      all.push(...features);
      if (features.length < 500) return all;
    }
  }

  /** The properties of all features, sorted by `ref`. */
  async properties(): Promise<readonly Record<string, unknown>[]> {
    const all = (await this.features()).map(({ properties }) => properties);
    return all.sort((a, b) => String(a.ref).localeCompare(String(b.ref), "en", { numeric: true }));
  }

  async put(...features: readonly FeatureInput[]): Promise<void> {
    for (let i = 0; i < features.length; i += 1000) {
      const texts = features.slice(i, i + 1000).map((one) => JSON.stringify({ type: "Feature", ...one }));
      await this.direct.create(texts, randomUUID());
    }
  }

  async sync(source: readonly FeatureInput[], wish: SyncOptions = {}): Promise<ApplyReport> {
    await using spool = new Spool();
    const { state } = await MapState.open(this.folder);
    using _state = state;
    const { traffic, tools, meanwhile } = wish;
    const client = this.client({ retries: 2, ...traffic }, tools?.signal);
    const common = this.tools({ client, spool, serviceBehavior: serviceBehaviorOf(state), ...tools });
    const earlier = await finishInterruptedUpdates(common);
    if (earlier?.error) return earlier;
    const compared = state.openBaseline("test");
    const plan = await this.plan(source, wish, compared, client);
    await meanwhile?.();
    return await applyPlan(plan, {
      ...common,
      isKnownResult: (entry, held) => compared.isKnownResult(entry, held),
      onMapReread: async (after, record) => {
        const { areCreatesMatched } = await updateBaseline(plan, after, compared, record);
        return areCreatesMatched;
      },
    });
  }

  /** Compares both sides. */
  async plan(
    source: readonly FeatureInput[],
    wish: SyncOptions = {},
    baseline: StoredBaseline | null = null,
    client = this.client(wish.traffic),
  ): Promise<OpenPlan> {
    const { mode = "full", key = byRef, fingerprint = randomUUID(), complete = true } = wish;
    const asked = {
      ...request,
      map: this.id,
      mode: mode === "delete" ? "full" : mode,
      settleTime: 20,
      ...wish.request,
    };
    await using spool = new Spool();
    using workspace = await Workspace.create(spool);
    const snapshot = await readSnapshot(client, workspace, { rounding: roundingForPrecision(asked.precision) });
    fillSide(workspace, workspace.source, source, key, asked.precision);
    for (const row of [...workspace.map.rows()])
      workspace.map.setKey(row.seq, featureKey(JSON.parse(workspace.map.textOf(row)) as WireFeature, key));
    const facts = { inputs: ["places.geojson"], rejected: 0, unidentified: 0, gaps: 0, files: [] };
    return await diffToPlan(
      {
        workspace,
        request: asked,
        mode,
        service: client.url,
        key,
        source: { ...facts, fingerprint, features: source.length, complete },
        snapshot,
        baseline,
      },
      { path: join(this.folder, "plan.ndjson"), overwrite: true },
    );
  }

  tools(given: Pick<ApplyContext, "client" | "spool" | "serviceBehavior"> & Partial<ApplyContext>): ApplyContext {
    return {
      stateFolder: this.folder,
      traffic: { concurrency: 4, retries: 2 },
      signal: never,
      backupPath: findFreeBackupPath(this.folder, this.id, new Date()),
      rejectsFile: { path: this.rejects, origin: "test" },
      ...given,
    };
  }
}

/** The real service on a store, listening, with a proxy in front of it. */
export class ProxiedService {
  private constructor(
    private readonly service: ServiceFixture,
    private readonly url: string,
    readonly proxy: FaultProxy,
  ) {}

  static async start({ open }: StoreKind): Promise<ProxiedService> {
    const { store, close } = await open();
    const app = buildApp({ store, settings: {}, now: Date.now });
    const url = await app.listen({ host: "127.0.0.1", port: 0 });
    const proxy = await FaultProxy.start(url);
    afterAll(async () => {
      await proxy[Symbol.asyncDispose]();
      await app.close();
      await close();
    });
    const service = new ServiceFixture(store, app);
    service.now = Date.now();
    await service.begin();
    return new ProxiedService(service, url, proxy);
  }

  /** An empty map; resets the proxy. */
  async newTarget(): Promise<MapFixture> {
    this.proxy.calm();
    const { clientId, clientSecret } = this.service.ann;
    const client = { clientId, clientSecret };
    const id = await this.service.newMap(this.service.ann);
    const direct = createServiceClient({ url: this.url, ...client }, defaultTraffic, never).map(id);
    return new MapFixture(id, { url: this.proxy.url, ...client }, direct);
  }
}
