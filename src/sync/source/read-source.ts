/** Reads the source of a synchronization with the ordinary pipeline and indexes each feature in a table. */

import { createHash } from "node:crypto";
import { join } from "node:path";
import { canonicalFeature, defaultRounding, digestText } from "../../canonical/canonical-feature.js";
import type { KeyReader } from "../../compare/feature-side.js";
import type { Workspace } from "../../compare/workspace.js";
import { createError } from "../../errors.js";
import type { Spool } from "../../io/input/spool.js";
import { readTextLines } from "../../io/input/text-lines.js";
import { redactEach } from "../../io/redact.js";
import { findInexactInteger } from "../../model/exact-json.js";
import type { Extent, Geometry } from "../../model/geometry.js";
import { GeometryExtent } from "../../model/geometry-extent.js";
import type { LayerInfo } from "../../model/layer.js";
import type { Loss, SkippedRange } from "../../model/report.js";
import { convert } from "../../pipeline/convert.js";
import type { ConvertReport } from "../../pipeline/report.js";
import type { Host } from "../../pipeline/request.js";
import { hasNonFiniteNumber } from "../../remote/snapshot/non-finite-numbers.js";
import { geometryKind } from "../../remote/snapshot/snapshot-stats.js";
import type { Properties } from "../../remote/wire.js";
import { roundingForPrecision } from "../diff/rounding.js";
import { isUuid } from "../keys/key-value.js";
import type { SyncRequest } from "../request.js";
import { type FieldStats, FieldStatsCollector } from "./field-stats.js";
import { createIdFieldNotice, findIdFields } from "./id-fields.js";
import type { RejectsFile } from "./rejects-path.js";
import { isInScope, OutOfScopeCounter } from "./scope.js";
import { readSourceFileDigests, type SourceFileDigest } from "./source-file-digests.js";
import { SourceRejects } from "./source-rejects.js";

/** A completely read source; its features are in `workspace.source`. */
export interface ReadSource {
  readonly inputs: readonly string[];
  /** Number of features read, including filtered and rejected ones. */
  readonly readCount: number;
  /** Number of features in `workspace.source`. */
  readonly features: number;
  /** Number of features read without a geometry, before `--scope` applied. */
  readonly withoutGeometry: number;
  /** Number of features excluded by `--scope`. */
  readonly outOfScope: number;
  readonly rejects: SourceRejects;
  /** Parts skipped because of errors (`--skip-errors`). */
  readonly gaps: readonly SkippedRange[];
  readonly losses: readonly Loss[];
  readonly notices: readonly Loss[];
  /** Whether every feature was read: none was skipped or rejected, and `--limit` did not end the reading. */
  readonly complete: boolean;
  /** Whether `--limit` may have ended the reading early. */
  readonly isLimited: boolean;
  /** Hash of ids and contents of all features and rejects in order, hexadecimal. */
  readonly fingerprint: string;
  /** Value for `PlanHeader.source.files`. */
  readonly files: readonly SourceFileDigest[];
  /** Extent of all features, in degrees. */
  readonly extent: Extent | null;
  readonly fields: readonly FieldStats[];
  /** Whether features have ids in the format of the service. */
  readonly hasIds: boolean;
  /** The field that had the ids; null if they are those of the features. */
  readonly idField: string | null;
  /** Layer metadata of the inputs. */
  readonly layers: readonly LayerInfo[];
  /** The spooled files, indexed by the file numbers of rows, with their layers. */
  readonly spooledFiles: readonly SpooledFile[];
}

export interface SpooledFile {
  readonly path: string;
  readonly layer: string;
}

/** A spooled line as written by the writer of newline-delimited GeoJSON. */
export interface SourceFeature {
  readonly type: "Feature";
  readonly id?: string | number;
  readonly geometry: Geometry | null;
  readonly properties: Properties;
}

/**
 * Reads all inputs into `workspace.source` in one pass, without keeping features in memory.
 * @param key reads the feature keys, if the key property is known
 * @throws scope-field-missing; errors of `convert` except guard-rejects, since `checkCoordinateOrder` checks the
 * rejects later
 */
export async function readSource(
  request: SyncRequest,
  host: Host,
  workspace: Workspace,
  spool: Spool,
  rejectsFile: RejectsFile,
  key?: KeyReader,
): Promise<ReadSource> {
  const { inputs } = request.source;
  const rejects = await SourceRejects.create(
    request.source,
    host,
    rejectsFile,
    join(spool.folder(), "rejects.geojsonl"),
  );
  let layers: readonly LayerInfo[] = [];
  const onLayers = (opened: readonly LayerInfo[]) => {
    layers = opened;
  };
  // Before the features are read: if a file changes in between, the plan counts as outdated.
  const files = await readSourceFileDigests(inputs, host.registry);
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
  const names = redactEach(inputs, host.registry);
  index.outOfScope.check(names.join(", "), index.features);
  for await (const rejected of rejects.readFeatures()) index.hash.update(JSON.stringify(rejected));
  const { skippedRanges, read: readCount, withoutGeometry } = report;
  // Without features, the spool has no fields, and neither would the map.
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
    files,
    extent: index.extent.extent,
    fields: index.fieldStats.stats,
    hasIds: index.uuids > 0,
    idField: idField ?? null,
    layers,
    spooledFiles,
  };
}

/** Rereads the source with ids from a field, which is then no longer a property. @throws errors of `convert` */
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
  return { ...source, spooledFiles, fields: fieldStats.stats, hasIds: uuids > 0, idField: field, notices };
}

function outOfScopeNotices({ source: { inputs }, scope }: SyncRequest, count: number): Loss[] {
  if (scope === null || count === 0) return [];
  const example = `features whose "${scope.property}" is not "${scope.value}" are out of scope and were omitted`;
  return [{ code: "out-of-scope", layer: inputs.join(", "), field: scope.property, count, example }];
}

/** Converts to newline-delimited GeoJSON in the spool: one file per layer, or one for all inputs. */
function spoolFeatures(
  { source, precision, strict }: SyncRequest,
  host: Host,
  spool: Spool,
  rejects: SourceRejects,
): Promise<ConvertReport> {
  const { maxRejects: _, ...conversionOptions } = source;
  return convert(
    {
      ...conversionOptions,
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

/** Rewrites the features with ids from a field. */
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
  /** Number of features whose id has the format of the service. */
  uuids: number;
  readonly hash: ReturnType<typeof createHash>;
  readonly extent: GeometryExtent;
  readonly fieldStats: FieldStatsCollector;
}

/**
 * Fills `workspace.source`, replacing its content.
 * @param rejects receives features that cannot be compared; absent if it already has them
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
    for await (const lines of readTextLines(path)) {
      if (signal.aborted) throw createError("interrupted", {});
      workspace.transaction(() => {
        for (const { text, start, length } of lines) {
          const feature = JSON.parse(text) as SourceFeature;
          if (!isInScope(feature, request.scope)) {
            index.outOfScope.add(feature);
            continue;
          }
          if (hasNonFiniteNumber(feature.properties)) {
            rejects?.addText(text, "non-finite", "a property has a number beyond the range of a double (1.8e308)");
            continue;
          }
          const inexact = findInexactInteger(text);
          if (inexact !== null) {
            rejects?.addText(text, "integer-inexact", inexactReason(inexact));
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

const inexactReason = (digits: string): string =>
  `a property has the integer ${digits.slice(0, 60)}, which programs would round; as text (--cast FIELD=text) it keeps its digits`;

function addToIndex(index: SourceIndex, feature: SourceFeature, id: string | null, digest: string): void {
  index.features++;
  if (id !== null && isUuid(id)) index.uuids++;
  index.hash.update(`${JSON.stringify(id)} ${digest}\n`);
  index.extent.add(feature.geometry);
  index.fieldStats.add(feature.properties);
}
