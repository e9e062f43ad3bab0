/** Fills both sides of a comparison from features, as the readers of sources and maps do. */
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalFeature, digestText } from "../../src/canonical/canonical-feature.js";
import type { FeatureSide } from "../../src/compare/feature-side.js";
import { Workspace } from "../../src/compare/workspace.js";
import { Spool } from "../../src/io/input/spool.js";
import { Kind } from "../../src/model/geometry.js";
import { Fingerprint, SnapshotStats } from "../../src/remote/snapshot/snapshot-stats.js";
import type { RemoteKey } from "../../src/remote/wire.js";
import { type DiffInput, diffToPlan } from "../../src/sync/diff/diff-to-plan.js";
import { roundingForPrecision } from "../../src/sync/diff/rounding.js";
import type { OpenPlan, PlanAction, PlanMode, PlannedFeature, SyncKey } from "../../src/sync/plan/plan.js";
import { defaultSyncSettings, type SyncRequest } from "../../src/sync/request.js";

export type FeatureInput = Omit<PlannedFeature, "type">;

export const pointFeature = (
  longitude: number,
  latitude: number,
  properties: Record<string, unknown>,
  id?: string,
): FeatureInput => ({
  ...(id === undefined ? {} : { id }),
  geometry: { type: "Point", coordinates: [longitude, latitude] },
  properties,
});

export const request: SyncRequest = {
  ...defaultSyncSettings,
  source: { inputs: ["places.geojson"] } as unknown as SyncRequest["source"],
  map: "6f1d7a52-3c1e-4b7f-9f0a-2d8f0c6c1a11",
  mode: "full",
  matching: { by: "property", name: "ref" },
};

export interface DiffScenario {
  readonly source: readonly FeatureInput[];
  readonly map: readonly FeatureInput[];
  readonly mode?: PlanMode;
  readonly key?: SyncKey | null;
  readonly request?: Partial<SyncRequest>;
  readonly facts?: Partial<DiffInput["source"]>;
  /** Keys of rejected features. */
  readonly rejected?: readonly string[];
  readonly state?: DiffInput["baseline"];
}

export function featureKey(feature: FeatureInput, key: SyncKey | null): RemoteKey | null {
  if (key === null) return null;
  if (key.by === "id") return feature.id ?? null;
  const value = Object.hasOwn(feature.properties, key.name) ? feature.properties[key.name] : null;
  return typeof value === "number" || (typeof value === "string" && value !== "") ? value : null;
}

export function fillSide(
  workspace: Workspace,
  side: FeatureSide,
  features: readonly FeatureInput[],
  key: SyncKey | null,
  precision: number,
) {
  const path = join(workspace.folder, `${side.name}.ndjson`);
  const file = side.addFile(path);
  let start = 0;
  let text = "";
  features.forEach((loose, index) => {
    const feature = { type: "Feature", ...loose };
    const line = JSON.stringify(feature);
    const length = Buffer.byteLength(line);
    side.add({
      id: loose.id ?? null,
      page: side.name === "map" ? Math.floor(index / 500) + 1 : 0,
      kind: loose.geometry ? Kind[loose.geometry.type] : Kind.none,
      file,
      start,
      length,
      digest: digestText(canonicalFeature(loose, roundingForPrecision(precision))),
    });
    side.setKey(index + 1, featureKey(loose, key));
    text += `${line}\n`;
    start += length + 1;
  });
  appendFileSync(path, text);
}

/** Gives map features ids: the given ones or new ones. */
export const withIds = (features: readonly FeatureInput[]): FeatureInput[] =>
  features.map((one) => ({ ...one, id: one.id ?? randomUUID() }));

/** In the format of a snapshot. */
export function computeFingerprint(side: FeatureSide): string {
  const fingerprint = new Fingerprint();
  for (const { id, digest } of side.rows()) fingerprint.toggle(id!, digest);
  return fingerprint.toString();
}

/** Compares both sides and reads the whole plan. */
export async function planScenario(scene: DiffScenario): Promise<{ plan: OpenPlan; actions: PlanAction[] }> {
  const {
    source,
    mode = "full",
    key = { by: "property", name: "ref" },
    facts,
    rejected = [],
    state: baseline = null,
  } = scene;
  const asked = { ...request, ...scene.request };
  const map = withIds(scene.map);
  const spool = new Spool();
  const workspace = await Workspace.create(spool);
  try {
    fillSide(workspace, workspace.source, source, key, asked.precision);
    fillSide(workspace, workspace.map, map, key, asked.precision);
    workspace.database.exec("CREATE TABLE rejected (key TEXT PRIMARY KEY) WITHOUT ROWID");
    for (const one of rejected) workspace.database.prepare("INSERT INTO rejected VALUES (?)").run(one);
    const seen = new SnapshotStats();
    for (const feature of map) seen.add(feature);
    const path = join(workspace.folder, "plan.ndjson");
    const made = await diffToPlan(
      {
        workspace,
        request: asked,
        mode,
        service: "https://maps.example.org",
        key,
        source: {
          inputs: ["places.geojson"],
          fingerprint: "00",
          features: source.length,
          complete: true,
          rejected: 0,
          unidentified: 0,
          gaps: 0,
          files: [],
          ...facts,
        },
        snapshot: {
          etag: null,
          fingerprint: computeFingerprint(workspace.map),
          features: map.length,
          decimals: seen.decimals,
        },
        baseline,
      },
      { path, overwrite: false },
    );
    const actions: PlanAction[] = [];
    for await (const action of made.actions()) actions.push(action);
    return { plan: made, actions };
  } finally {
    workspace[Symbol.dispose]();
    await spool[Symbol.asyncDispose]();
  }
}

/** The same plan with its actions in memory, since its file is deleted. */
export async function planScenarioInMemory(scene: DiffScenario): Promise<OpenPlan> {
  const { plan: made, actions } = await planScenario(scene);
  const { creates: _, ...opened } = made;
  return {
    ...opened,
    async *actions(kinds?: readonly PlanAction["action"][]) {
      yield* actions.filter(({ action }) => !kinds || kinds.includes(action));
    },
  };
}
