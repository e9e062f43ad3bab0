/** The source of a synchronisation: read by the ordinary pipeline, then known by a row of a table for each feature. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { createError } from "../../errors.js";
import type { Spool } from "../../io/input/spool.js";
import { redact } from "../../io/redact.js";
import type { Extent, Geometry } from "../../model/geometry.js";
import { GeometryExtent } from "../../model/geometry-extent.js";
import type { LayerInfo } from "../../model/layer.js";
import type { Loss, SkippedRange } from "../../model/report.js";
import { convert } from "../../pipeline/convert.js";
import type { ConvertReport } from "../../pipeline/report.js";
import type { Host } from "../../pipeline/request.js";
import { canonicalFeature, defaultRounding, digestText } from "../../remote/snapshot/canonical-feature.js";
import type { KeyReader } from "../../remote/snapshot/feature-side.js";
import { hasNonFiniteNumber } from "../../remote/snapshot/non-finite-numbers.js";
import { geometryKind } from "../../remote/snapshot/snapshot-stats.js";
import type { Workspace } from "../../remote/snapshot/workspace.js";
import type { Properties } from "../../remote/wire.js";
import { roundingForPrecision } from "../diff/rounding.js";
import { isUuid } from "../keys/key-value.js";
import type { SyncRequest } from "../request.js";
import { type FieldStats, FieldStatsCollector } from "./field-stats.js";
import { createIdFieldNotice, findIdFields } from "./id-fields.js";
import { isInScope, OutOfScopeCounter } from "./scope.js";
import { readSourceFileDigests, type SourceFileDigest } from "./source-file-digests.js";
import { SourceRejects } from "./source-rejects.js";
import { readSpooledLines } from "./spooled-lines.js";

/** What a source is, once it was read to its end; its features are in `workspace.source`. */
export interface ReadSource {
  readonly inputs: readonly string[];
  /** Features that the readers met; those filtered out and rejected are among them. */
  readonly readCount: number;
  /** Features in `workspace.source`. */
  readonly features: number;
  /** Features that were read without a geometry, before `--scope` left any out. */
  readonly withoutGeometry: number;
  /** Features that `--scope` left out. */
  readonly outOfScope: number;
  readonly rejects: SourceRejects;
  /** Stretches that were given up (`--skip-errors`). */
  readonly gaps: readonly SkippedRange[];
  readonly losses: readonly Loss[];
  readonly notices: readonly Loss[];
  /** Every feature was read: nothing was given up or rejected, and `--limit` did not end the reading. */
  readonly complete: boolean;
  /** `--limit` may have ended the reading before the source did. */
  readonly isLimited: boolean;
  /** Over the ids and contents of all features and rejects in their order; hexadecimal. */
  readonly fingerprint: string;
  /** What `PlanHeader.source.files` takes. */
  readonly files: readonly SourceFileDigest[];
  /** Of all features, in degrees. */
  readonly extent: Extent | null;
  readonly fields: readonly FieldStats[];
  /** Features have ids as the service gives them. */
  readonly hasIds: boolean;
  /** What the inputs said of themselves. */
  readonly layers: readonly LayerInfo[];
  /** The spooled files by the numbers that rows name them by, with the layers that they are. */
  readonly spooledFiles: readonly SpooledFile[];
}

export interface SpooledFile {
  readonly path: string;
  readonly layer: string;
}

/** A line of the spool as the writer of newline-delimited GeoJSON leaves it. */
export interface SourceFeature {
  readonly type: "Feature";
  readonly id?: string | number;
  readonly geometry: Geometry | null;
  readonly properties: Properties;
}

/**
 * Reads all inputs into `workspace.source`. One pass, nothing of it stays in memory.
 * @param key read into the keys of the features, where it is known which property they are
 * @throws scope-field-missing; what `convert` throws, guard-rejects aside: rejects are judged when the order of coordinates is
 */
export async function readSource(
  request: SyncRequest,
  host: Host,
  workspace: Workspace,
  spool: Spool,
  key?: KeyReader,
): Promise<ReadSource> {
  const { inputs } = request.source;
  const rejects = await SourceRejects.create(request.source, host, join(spool.folder(), "rejects.geojsonl"));
  let layers: readonly LayerInfo[] = [];
  const onLayers = (opened: readonly LayerInfo[]) => {
    layers = opened;
  };
  const report = await spoolFeatures(request, { ...host, onLayers }, spool, rejects);
  rejects.count = report.rejected;
  let spooledFiles: readonly SpooledFile[] = report.outputs.map(({ path, layer }) => ({ path, layer }));
  let index = await indexFeatures(spooledFiles, request, host, workspace, key, rejects);
  const idField =
    request.matching.by === "id" && index.uuids === 0 ? findIdFields(index.fieldStats.stats)[0] : undefined;
  if (idField !== undefined) {
    spooledFiles = await spoolWithIds(spooledFiles, idField, request, host, spool);
    index = await indexFeatures(spooledFiles, request, host, workspace);
  }
  const names = inputs.map((input) => redact(input, host.registry));
  index.outOfScope.check(names.join(", "), index.features);
  for await (const rejected of rejects.readFeatures()) index.hash.update(JSON.stringify(rejected));
  const { skippedRanges, read: readCount, withoutGeometry } = report;
  // Where there are no features, the spool has no fields; nor would the map.
  const losses = report.losses.filter(({ code }) => code !== "fields-dropped");
  const isLimited = request.source.limit !== undefined;
  return {
    inputs: names,
    readCount,
    features: index.features,
    withoutGeometry,
    outOfScope: index.outOfScope.count,
    rejects,
    gaps: skippedRanges,
    losses,
    notices: [...report.notices, ...outOfScopeNotices(request, index.outOfScope.count)],
    complete: skippedRanges.length === 0 && rejects.count === 0 && !isLimited,
    isLimited,
    fingerprint: index.hash.digest("hex"),
    files: await readSourceFileDigests(inputs, host.registry),
    extent: index.extent.extent,
    fields: index.fieldStats.stats,
    hasIds: index.uuids > 0,
    layers,
    spooledFiles,
  };
}

/** The same source, whose ids are those in a field, which is none any more. @throws what `convert` throws */
export async function readIdsFromField(
  field: string,
  source: ReadSource,
  request: SyncRequest,
  host: Host,
  workspace: Workspace,
  spool: Spool,
  key?: KeyReader,
): Promise<ReadSource> {
  const spooledFiles = await spoolWithIds(source.spooledFiles, field, request, host, spool);
  const { uuids, fieldStats } = await indexFeatures(spooledFiles, request, host, workspace, key);
  const notices = [...source.notices, createIdFieldNotice(source, field, uuids)];
  return { ...source, spooledFiles, fields: fieldStats.stats, hasIds: uuids > 0, notices };
}

function outOfScopeNotices({ source: { inputs }, scope }: SyncRequest, count: number): Loss[] {
  if (scope === null || count === 0) return [];
  const example = `features whose "${scope.property}" is not "${scope.value}" are out of the scope and were left out`;
  return [{ code: "out-of-scope", layer: inputs.join(", "), field: scope.property, count, example }];
}

/** The ordinary conversion, into newline-delimited GeoJSON in the spool: a file for each layer, or one for all inputs. */
function spoolFeatures(
  { source, precision, strict }: SyncRequest,
  host: Host,
  spool: Spool,
  rejects: SourceRejects,
): Promise<ConvertReport> {
  const { maxRejects: _, ...asked } = source;
  return convert(
    {
      ...asked,
      output: join(spool.folder(), "source.geojsonl"),
      to: "geojsonseq",
      writerOptions: writerOptions(precision),
      rejects: rejects.spoolPath,
      strict: strict || source.strict === true,
    },
    host,
  );
}

const writerOptions = (precision: number) => ({
  precision: String(precision),
  zPrecision: String(defaultRounding.metres),
});

/** The same features, with the values of a field as their ids in place of their own. */
async function spoolWithIds(
  spooled: readonly SpooledFile[],
  idField: string,
  { precision }: SyncRequest,
  host: Host,
  spool: Spool,
): Promise<SpooledFile[]> {
  const outputs: SpooledFile[] = [];
  for (const output of spooled) {
    const path = join(spool.folder(), "source.geojsonl");
    const options = { ...writerOptions(precision), idField };
    await convert(
      { inputs: [output.path], output: path, from: "geojsonseq", to: "geojsonseq", writerOptions: options, workers: 1 },
      { ...host, onProgress: () => {} },
    );
    outputs.push({ ...output, path });
  }
  return outputs;
}

interface SourceIndex {
  features: number;
  readonly outOfScope: OutOfScopeCounter;
  /** Features whose own id is one of the service. */
  uuids: number;
  readonly hash: ReturnType<typeof createHash>;
  readonly extent: GeometryExtent;
  readonly fieldStats: FieldStatsCollector;
}

/**
 * Fills `workspace.source`, in place of what was there.
 * @param rejects takes what cannot be compared; absent where it has it from an earlier time
 */
async function indexFeatures(
  spooled: readonly SpooledFile[],
  request: SyncRequest,
  { signal }: Host,
  workspace: Workspace,
  key?: KeyReader,
  rejects?: SourceRejects,
): Promise<SourceIndex> {
  const { source } = workspace;
  source.clear();
  source.keyedBy = key?.property ?? null;
  const index: SourceIndex = {
    features: 0,
    outOfScope: new OutOfScopeCounter(request.scope),
    uuids: 0,
    hash: createHash("sha256"),
    extent: new GeometryExtent(),
    fieldStats: new FieldStatsCollector(),
  };
  const rounding = roundingForPrecision(request.precision);
  for (const { path } of spooled) {
    const file = source.addFile(path);
    for await (const lines of readSpooledLines(path)) {
      if (signal.aborted) throw createError("interrupted", {});
      workspace.transaction(() => {
        for (const { text, start, length } of lines) {
          const feature = JSON.parse(text) as SourceFeature;
          if (!isInScope(feature, request.scope)) {
            index.outOfScope.add(feature);
            continue;
          }
          if (hasNonFiniteNumber(feature.properties)) {
            rejects?.addText(text, "non-finite", "a property has a number that no program reads (beyond 1.8e308)");
            continue;
          }
          const id = feature.id === undefined || feature.id === null ? null : String(feature.id);
          const digest = digestText(canonicalFeature(feature, rounding));
          const row = { id, page: 0, kind: geometryKind(feature.geometry), file, start, length, digest };
          source.add(row, key?.read(feature.properties));
          addToIndex(index, feature, id, digest);
        }
      });
    }
  }
  return index;
}

function addToIndex(index: SourceIndex, feature: SourceFeature, id: string | null, digest: string): void {
  index.features++;
  if (id !== null && isUuid(id)) index.uuids++;
  index.hash.update(`${JSON.stringify(id)} ${digest}\n`);
  index.extent.add(feature.geometry);
  index.fieldStats.add(feature.properties);
}
