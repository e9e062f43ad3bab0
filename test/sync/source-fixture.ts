/**
 * A source read from real files, and a map stored like pages of a service; shared by tests of keys and coordinate
 * order.
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KeyReader } from "../../src/compare/feature-side.js";
import { Workspace } from "../../src/compare/workspace.js";
import { GeoferryError } from "../../src/errors.js";
import { Spool } from "../../src/io/input/spool.js";
import type { Geometry } from "../../src/model/geometry.js";
import type { NumberedPage } from "../../src/remote/snapshot/map-page-reader.js";
import { storePages } from "../../src/remote/snapshot/store-pages.js";
import type { Properties, WireFeature } from "../../src/remote/wire.js";
import { roundingForPrecision } from "../../src/sync/diff/rounding.js";
import { chooseKey, type KeyChoice } from "../../src/sync/keys/choose-key.js";
import { type KeyReport, prepareKeys } from "../../src/sync/keys/prepare-keys.js";
import type { PlanMode } from "../../src/sync/plan/plan.js";
import { defaultSyncSettings, type SourceRequest, type SyncRequest } from "../../src/sync/request.js";
import { checkCoordinateOrder } from "../../src/sync/source/coordinate-order.js";
import { type ReadSource, readSource } from "../../src/sync/source/read-source.js";
import { chooseRejectsFile } from "../../src/sync/source/rejects-path.js";
import { createTestHost } from "../support/host.js";

export const mapId = "6f1d7a52-3c1e-4b7f-9f0a-2d8f0c6c1a11";

export interface RequestOverrides extends Partial<Omit<SyncRequest, "source">> {
  readonly source?: Partial<SourceRequest>;
}

/** The request with default flags. */
export function createRequest(inputs: readonly string[], { source, ...rest }: RequestOverrides = {}): SyncRequest {
  return {
    ...defaultSyncSettings,
    source: { inputs, workers: 1, ...source },
    map: mapId,
    ...rest,
  };
}

export const byField = (name: string | null): Pick<SyncRequest, "matching"> => ({ matching: { by: "property", name } });

export interface MapFeatureInput {
  readonly id?: string;
  readonly geometry?: Geometry | null;
  readonly properties: Properties;
}

/** A folder for files and rejects, with a workspace for each reading. */
export class SourceFixture implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), "geoferry-source-"));
  private readonly spools: Spool[] = [];
  private readonly workspaces: Workspace[] = [];

  path(name: string): string {
    return join(this.folder, name);
  }

  file(name: string, content: string): string {
    writeFileSync(this.path(name), content);
    return this.path(name);
  }

  /** A CSV of adjacent points with the given cells. */
  csv(name: string, header: string, rows: readonly string[]): string {
    const lines = rows.map((row, n) => `${row},${(10 + n * 0.001).toFixed(3)},50`);
    return this.file(name, `${[`${header},lon,lat`, ...lines].join("\n")}\n`);
  }

  /** GeoJSON of points with these properties. */
  geojson(name: string, all: readonly Properties[]): string {
    const features = all.map((properties, n) => ({
      type: "Feature",
      properties,
      geometry: { type: "Point", coordinates: [10 + n * 0.001, 50] },
    }));
    return this.file(name, JSON.stringify({ type: "FeatureCollection", features }));
  }

  /** Writes rejects to the folder instead of the working directory of the tests. */
  async read(input: string | readonly string[], request: RequestOverrides = {}, key?: KeyReader) {
    const spool = new Spool();
    this.spools.push(spool);
    const workspace = await Workspace.create(spool);
    this.workspaces.push(workspace);
    const inputs = typeof input === "string" ? [input] : input;
    const wanted = createRequest(inputs, {
      ...request,
      source: { rejects: this.path(`rejects-${this.spools.length}.geojsonl`), ...request.source },
    });
    const source = await readSource(
      wanted,
      createTestHost(),
      workspace,
      spool,
      chooseRejectsFile(wanted, "http://localhost", "m"),
      key,
    );
    return new Reading(wanted, source, workspace);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const workspace of this.workspaces) workspace[Symbol.dispose]();
    for (const spool of this.spools) await spool[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export class Reading {
  private held: { fields: ReadonlyMap<string, number>; extent: ReadSource["extent"] } = {
    fields: new Map(),
    extent: null,
  };

  constructor(
    readonly request: SyncRequest,
    readonly source: ReadSource,
    readonly workspace: Workspace,
  ) {}

  /** The spooled features of the source rows. */
  get features(): { id?: string; geometry: Geometry | null; properties: Properties }[] {
    const { source } = this.workspace;
    return [...source.rows()].map((row) => JSON.parse(source.textOf(row)));
  }

  /** Key and type of each row. */
  keys(side: "source" | "map"): (string | number | null)[] {
    return [...this.workspace[side].rows()].map(({ key, numeric }) => (key !== null && numeric ? Number(key) : key));
  }

  async onMap(features: readonly MapFeatureInput[]): Promise<this> {
    const stored = await storePages(pageOf(features), this.workspace, {
      rounding: roundingForPrecision(this.request.precision),
      exact: false,
    });
    this.held = stored.stats;
    return this;
  }

  choose(remembered: string | null = null): Promise<KeyChoice> {
    return chooseKey(this.request, this.source, this.workspace, this.held, remembered);
  }

  async check(mode: PlanMode = this.request.mode): Promise<KeyReport> {
    return prepareKeys(this.request, this.source, this.workspace, (await this.choose()).key, mode);
  }

  order() {
    return checkCoordinateOrder(this.request, this.source, this.held.extent);
  }
}

async function* pageOf(given: readonly MapFeatureInput[]): AsyncGenerator<NumberedPage> {
  const features = given.map(
    ({ id = randomUUID(), geometry = { type: "Point", coordinates: [10, 50] }, properties }): WireFeature => ({
      type: "Feature",
      id,
      geometry,
      properties,
    }),
  );
  yield { features, etag: null, number: 1 };
}

/** The error of a rejected operation. */
export async function refusal(work: () => unknown): Promise<GeoferryError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof GeoferryError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

export const numbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, n) => from + n);
