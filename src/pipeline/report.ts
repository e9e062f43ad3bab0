import { basename } from "node:path";
import { enclosingArea } from "../crs/area.js";
import type { Operation } from "../crs/index.js";
import {
  defaultAccuracyLimit,
  explainRefusal,
  operationNotes,
  strictAccuracyLimit,
  summarizeUse,
} from "../crs/index.js";
import { createError, describePlace } from "../errors.js";
import { formatCount } from "../format-count.js";
import type { TypedField } from "../model/field.js";
import type { Extent } from "../model/geometry.js";
import type { Loss, OperationUse, SkippedRange } from "../model/report.js";
import { Tally } from "../model/report.js";
import type { Findings } from "./execute/host-context.js";
import type { GeometryCounts } from "./input/check-geometry.js";
import type { OpenLayer } from "./input/open-inputs.js";
import type { Proof } from "./proof/proof.js";
import type { ConvertRequest } from "./request.js";
import { type RejectSummary, toAbsolutePlace } from "./write/rejects-file.js";

export interface OutputReport {
  readonly path: string;
  readonly layer: string;
  readonly features: number;
  /** "EPSG:4326", or the name of the CRS; null if unknown. */
  readonly crs: string | null;
  /** Of the positions written, in coordinates of `crs`, x (longitude, easting) first; null without any. */
  readonly extent: Extent | null;
}

/** An operation that transformed some of the positions. */
export interface UsedOperation {
  readonly operation: string;
  /** Metres; null if unknown. */
  readonly accuracy: number | null;
  readonly positions: number;
}

/** The reprojection of an input layer. */
export interface OperationReport {
  readonly layer: string;
  readonly from: string;
  readonly to: string;
  readonly kind: Operation["kind"];
  readonly name: string;
  /**
   * Metres: the worst accuracy of the used operations, or of all candidates if no position was counted. Null if unknown,
   * for example for positions far outside the target's area of use.
   */
  readonly accuracy: number | null;
  /** The used operations with their number of positions; empty if there was only one candidate. */
  readonly used: readonly UsedOperation[];
  /** File names of the available grids. */
  readonly grids: readonly string[];
  /** More accurate operations whose grid is missing. */
  readonly better: Operation["better"];
}

/** Metres: the worst accuracy of a reprojection that the request allows. */
export const accuracyLimit = ({ accuracy, strict }: Pick<ConvertRequest, "accuracy" | "strict">): number =>
  accuracy ?? (strict ? strictAccuracyLimit : defaultAccuracyLimit);

const crsLabel = ({ id, name }: Operation["from"]): string => id ?? name;

export function operationReport(layer: string, operation: Operation): OperationReport {
  const { from, to, kind, name, accuracy, gridFiles, better } = operation;
  return {
    layer,
    from: crsLabel(from),
    to: crsLabel(to),
    kind,
    name,
    accuracy,
    used: [],
    grids: gridFiles.map((file) => basename(file)),
    better,
  };
}

/** The result of a conversion. */
export interface ConvertReport {
  /** Without secrets of addresses. */
  readonly inputs: readonly string[];
  readonly outputs: readonly OutputReport[];
  /** Features read, including those filtered out and rejected. */
  readonly read: number;
  readonly written: number;
  readonly rejected: number;
  /** Rejected features that were written without their geometry; `written` includes them. */
  readonly kept: number;
  /** Inputs with rejected features or skipped ranges. */
  readonly incompleteInputs: number;
  /** Written features without a geometry. */
  readonly withoutGeometry: number;
  /** The first fields of each of the source's layers, merged by name; null if only its features have them. */
  readonly sourceFields: readonly TypedField[] | null;
  /** Ids of the formats that the inputs were read as. */
  readonly sourceFormats: readonly string[];
  /** Ranges of the inputs that were skipped (`--skip-errors`). */
  readonly skippedRanges: readonly SkippedRange[];
  readonly losses: readonly Loss[];
  readonly notices: readonly Loss[];
  /** One for each layer with a known source and target CRS. */
  readonly operations: readonly OperationReport[];
  /** The rejected features by code and layer, with examples. */
  readonly rejectSummaries: readonly RejectSummary[];
  /** Path of the rejects file; null if there is none. */
  readonly rejects: string | null;
  /** Whether the output was newer than the inputs, so that nothing was converted. */
  readonly upToDate: boolean;
  /** What was proven by reading the output again (`--verify`); null without it. */
  readonly proof: Proof | null;
}

/** The report of a conversion that left its output unchanged. @param inputs without secrets */
export function upToDateReport(inputs: readonly string[]): ConvertReport {
  return {
    inputs,
    outputs: [],
    read: 0,
    written: 0,
    rejected: 0,
    kept: 0,
    incompleteInputs: 0,
    withoutGeometry: 0,
    sourceFields: null,
    sourceFormats: [],
    skippedRanges: [],
    losses: [],
    notices: [],
    operations: [],
    rejectSummaries: [],
    rejects: null,
    upToDate: true,
    proof: null,
  };
}

function mergeUses(use: OperationUse, known: OperationUse | undefined): OperationUse {
  if (known === undefined) return use;
  return { ...use, positionCount: use.positionCount + known.positionCount, box: enclosingArea([use.box, known.box]) };
}

/** Notices that name the accuracy of an operation. */
const accuracyNotices: ReadonlySet<string> = new Set(["crs-operation", "crs-accuracy"]);

/** Advice for positions that no operation could transform, from the notices of a report. */
export const unservedPositionAdvice = (notices: readonly Loss[]): string[] =>
  notices.flatMap(({ code, example }) => (code === "crs-unreached" || code === "zone-prefix" ? [example] : []));

/** Merges the findings of all threads into a report. */
export class ReportBuilder {
  readonly losses = new Tally();
  readonly notices = new Tally();
  private readonly plannedOperations: { readonly layer: string; readonly operation: Operation }[] = [];
  private readonly uses = new Map<string, OperationUse>();
  /** Written features by input layer. */
  readonly geometryCounts = new Map<OpenLayer, GeometryCounts>();
  read = 0;
  /** Written features of the inputs, and how many of them have no geometry. */
  writtenFeatures = 0;
  withoutGeometry = 0;

  /** By content, since a source that is scanned and then converted reports its skipped ranges twice. */
  private readonly foundRanges = new Map<string, SkippedRange>();

  /** @param record records before the piece @param line lines before the piece */
  add(findings: Pick<Findings, "losses" | "notices" | "skippedRanges" | "operationUses">, record = 0, line = 0): void {
    for (const use of findings.operationUses ?? []) {
      const key = JSON.stringify([use.layer, use.from, use.to, use.transformationIndex]);
      this.uses.set(key, mergeUses(use, this.uses.get(key)));
    }
    this.losses.merge(findings.losses);
    this.notices.merge(findings.notices);
    for (const each of findings.skippedRanges) {
      const range = toAbsolutePlace(each, record, line);
      this.foundRanges.set(JSON.stringify(range), range);
    }
  }

  planOperation(layer: string, operation: Operation): void {
    this.plannedOperations.push({ layer, operation });
  }

  /** The planned operations with their use. */
  summarizeOperations(): Promise<OperationReport[]> {
    return Promise.all(
      this.plannedOperations.map(async ({ layer, operation }) => {
        const uses = this.findOperationUses(layer, operation);
        const summary = await summarizeUse(operation, uses);
        const accuracy = this.countOutsideTarget(layer) > 0 ? null : summary.accuracy;
        const report = { ...operationReport(layer, operation), ...summary, accuracy };
        if (operation.transformations.length < 2) return report;
        const used = uses.flatMap(({ transformationIndex, positionCount }): UsedOperation[] => {
          const transformation =
            transformationIndex === null ? undefined : operation.transformations[transformationIndex];
          return transformation === undefined
            ? []
            : [{ operation: transformation.name, accuracy: transformation.accuracy, positions: positionCount }];
        });
        return { ...report, used };
      }),
    );
  }

  /** @throws crs-no-operation if every position of a layer was refused because of the requested accuracy */
  async checkAnyTransformed(): Promise<void> {
    for (const { layer, operation } of this.plannedOperations) {
      const reason = await explainRefusal(operation, this.findOperationUses(layer, operation));
      const { from, to, better } = operation;
      if (reason !== null)
        throw createError("crs-no-operation", { from: crsLabel(from), to: crsLabel(to), reason, better });
    }
  }

  /** All notices; first those about operations and the positions that they transformed. */
  async collectNotices(): Promise<Loss[]> {
    const operationNotices = new Map<string, Loss>();
    for (const { layer, operation } of this.plannedOperations)
      for (const { code, text, count } of await operationNotes(operation, this.findOperationUses(layer, operation))) {
        const example = `${text}${accuracyNotices.has(code) ? this.describeOutsideTarget(layer) : ""}`;
        operationNotices.set(JSON.stringify([layer, code, text]), { code, layer, count, example });
      }
    return [...operationNotices.values(), ...this.notices.list()];
  }

  /** Number of features of a layer outside the target's area of use. */
  private countOutsideTarget(layer: string): number {
    const outside = this.notices.list().filter((notice) => notice.code === "outside-target-area");
    return outside.reduce((sum, notice) => sum + (notice.layer === layer ? notice.count : 0), 0);
  }

  private describeOutsideTarget(layer: string): string {
    const features = this.countOutsideTarget(layer);
    if (features === 0) return "";
    return `; the accuracy is unknown for ${formatCount(features, "feature")} outside the target's area of use (outside-target-area)`;
  }

  /** The most used one first. */
  private findOperationUses(layer: string, { from, to }: Operation): OperationUse[] {
    return [...this.uses.values()]
      .filter((use) => use.layer === layer && use.from === crsLabel(from) && use.to === crsLabel(to))
      .sort((a, b) => b.positionCount - a.positionCount);
  }

  get skippedRanges(): SkippedRange[] {
    return [...this.foundRanges.values()];
  }
}

/** "roads.shp, record 12, byte 880: skipped 1,200 bytes: …" */
export function describeSkippedRange({ source, place, bytes, reason }: SkippedRange): string {
  const at = describePlace(place);
  const extent = bytes === null || bytes === 0 ? "missing data" : formatCount(bytes, "byte");
  return `${source}${at ? `, ${at}` : ""}: skipped ${extent}: ${reason}`;
}

/** "3 features lost their geometries …"; empty if there are none. */
export function describeKept({ kept }: { readonly kept: number }): string[] {
  const what = `${formatCount(kept, "feature")} lost ${kept === 1 ? "its geometry" : "their geometries"}`;
  return kept === 0 ? [] : [`${what}, which cannot be written; --on-bad-geometry reject leaves such features out`];
}

/** "text-cut: name (12 values): …" */
export function describeLoss(loss: Loss): string {
  const where = loss.field === undefined ? "" : ` ${loss.field}`;
  return `${loss.code}${where} (${loss.count}): ${loss.example}`;
}
