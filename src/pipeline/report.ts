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
import type { Loss, OperationUse, SkippedRange } from "../model/report.js";
import { Tally } from "../model/report.js";
import type { Findings } from "./execute/host-context.js";
import type { GeometryCounts } from "./input/check-geometry.js";
import type { OpenLayer } from "./input/open-inputs.js";
import type { ConvertRequest } from "./request.js";
import { toAbsolutePlace } from "./write/rejects-file.js";

export interface OutputReport {
  readonly path: string;
  readonly layer: string;
  readonly features: number;
  /** "EPSG:4326", or what the coordinates are called; null where nothing is claimed. */
  readonly crs: string | null;
}

/** One of several operations that was used. */
export interface UsedOperation {
  readonly operation: string;
  /** Metres; null where it is unknown. */
  readonly accuracy: number | null;
  readonly positions: number;
}

/** How the coordinates of a layer of the input became those of the output. */
export interface OperationReport {
  readonly layer: string;
  readonly from: string;
  readonly to: string;
  readonly kind: Operation["kind"];
  readonly name: string;
  /**
   * Metres: the worst of what was used, or may be used where no position was counted; null where it is unknown, as it is
   * of positions far outside of the target's area of use.
   */
  readonly accuracy: number | null;
  /** Of several operations those that were taken, and by how many positions; empty where there was one. */
  readonly used: readonly UsedOperation[];
  /** The grids that it was chosen from, by the names of their files. */
  readonly grids: readonly string[];
  /** Better ones for which a grid is missing. */
  readonly better: Operation["better"];
}

/** Metres: the worst accuracy of a reprojection that a request allows. */
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

/** What a conversion did. */
export interface ConvertReport {
  readonly inputs: readonly string[];
  readonly outputs: readonly OutputReport[];
  /** Features read; those filtered out and rejected are among them. */
  readonly read: number;
  readonly written: number;
  readonly rejected: number;
  /** Rejected features that were carried without their geometry: they are among those written. */
  readonly kept: number;
  /** Of the features written those without a geometry. */
  readonly withoutGeometry: number;
  /** Stretches of the inputs that were given up (`--skip-errors`). */
  readonly skippedRanges: readonly SkippedRange[];
  readonly losses: readonly Loss[];
  readonly notices: readonly Loss[];
  /** One for each layer that was reprojected, or could be left as it was. */
  readonly operations: readonly OperationReport[];
  /** The file with the rejected features, where there is one. */
  readonly rejects: string | null;
  /** True where there was nothing to do. */
  readonly upToDate: boolean;
}

/** Of a conversion that left its output as it is. */
export function upToDateReport(request: Pick<ConvertRequest, "inputs">): ConvertReport {
  return {
    inputs: request.inputs,
    outputs: [],
    read: 0,
    written: 0,
    rejected: 0,
    kept: 0,
    withoutGeometry: 0,
    skippedRanges: [],
    losses: [],
    notices: [],
    operations: [],
    rejects: null,
    upToDate: true,
  };
}

function mergeUses(use: OperationUse, known: OperationUse | undefined): OperationUse {
  if (known === undefined) return use;
  return { ...use, positionCount: use.positionCount + known.positionCount, box: enclosingArea([use.box, known.box]) };
}

/** Notices that name the accuracy of an operation. */
const accuracyNotices: ReadonlySet<string> = new Set(["crs-operation", "crs-accuracy"]);

/** What would serve the positions that no operation served, of the notices of a report. */
export const unservedPositionAdvice = (notices: readonly Loss[]): string[] =>
  notices.flatMap(({ code, example }) => (code === "crs-unreached" || code === "zone-prefix" ? [example] : []));

/** Gathers what every thread found. */
export class ReportBuilder {
  readonly losses = new Tally();
  readonly notices = new Tally();
  private readonly plannedOperations: { readonly layer: string; readonly operation: Operation }[] = [];
  private readonly uses = new Map<string, OperationUse>();
  /** By layer of the inputs: features that went into outputs. */
  readonly geometryCounts = new Map<OpenLayer, GeometryCounts>();
  read = 0;
  /** Features of the inputs that were written, and those of them without a geometry. */
  writtenFeatures = 0;
  withoutGeometry = 0;

  /** By what they say: a source that is read twice has the same gaps twice. */
  private readonly foundRanges = new Map<string, SkippedRange>();

  /** `record` and `line` stand before the piece that the findings are of. */
  add(findings: Pick<Findings, "losses" | "notices" | "skippedRanges" | "operationUses">, record = 0, line = 0): void {
    for (const use of findings.operationUses ?? []) {
      const key = JSON.stringify([use.layer, use.from, use.to, use.transformationIndex]);
      this.uses.set(key, mergeUses(use, this.uses.get(key)));
    }
    this.losses.merge(findings.losses);
    this.notices.merge(findings.notices);
    for (const each of findings.skippedRanges) {
      const gap = toAbsolutePlace(each, record, line);
      this.foundRanges.set(JSON.stringify(gap), gap);
    }
  }

  planOperation(layer: string, operation: Operation): void {
    this.plannedOperations.push({ layer, operation });
  }

  /** What was planned, with what of it was used. */
  summarizeOperations(): Promise<OperationReport[]> {
    return Promise.all(
      this.plannedOperations.map(async ({ layer, operation }) => {
        const uses = this.findOperationUses(layer, operation);
        const settled = await summarizeUse(operation, uses);
        const accuracy = this.countOutsideTarget(layer) > 0 ? null : settled.accuracy;
        const report = { ...operationReport(layer, operation), ...settled, accuracy };
        // The name says it of the only one.
        if (operation.transformations.length < 2) return report;
        const used = uses.flatMap(({ transformationIndex, positionCount }): UsedOperation[] => {
          const taken = transformationIndex === null ? undefined : operation.transformations[transformationIndex];
          return taken === undefined
            ? []
            : [{ operation: taken.name, accuracy: taken.accuracy, positions: positionCount }];
        });
        return { ...report, used };
      }),
    );
  }

  /** @throws crs-no-operation where every position of a layer was refused for the accuracy that was asked for */
  async checkAnyTransformed(): Promise<void> {
    for (const { layer, operation } of this.plannedOperations) {
      const reason = await explainRefusal(operation, this.findOperationUses(layer, operation));
      const { from, to, better } = operation;
      if (reason !== null)
        throw createError("crs-no-operation", { from: crsLabel(from), to: crsLabel(to), reason, better });
    }
  }

  /** All notices, and before them what is to be stated about the operations and the positions that went by them. */
  async collectNotices(): Promise<Loss[]> {
    const stated = new Map<string, Loss>();
    for (const { layer, operation } of this.plannedOperations)
      for (const { code, text, count } of await operationNotes(operation, this.findOperationUses(layer, operation))) {
        const example = `${text}${accuracyNotices.has(code) ? this.describeOutsideTarget(layer) : ""}`;
        stated.set(JSON.stringify([layer, code, text]), { code, layer, count, example });
      }
    return [...stated.values(), ...this.notices.list()];
  }

  /** Features of a layer that lie far outside of where the target is meant to be used. */
  private countOutsideTarget(layer: string): number {
    const outside = this.notices.list().filter((notice) => notice.code === "outside-target-area");
    return outside.reduce((sum, notice) => sum + (notice.layer === layer ? notice.count : 0), 0);
  }

  private describeOutsideTarget(layer: string): string {
    const features = this.countOutsideTarget(layer);
    if (features === 0) return "";
    return `; of ${formatCount(features, "feature")} outside of the target's area of use the accuracy is not known (outside-target-area)`;
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

/** "roads.shp, record 12, byte 880: 1,200 bytes were given up: …" */
export function describeSkippedRange({ source, place, bytes, reason }: SkippedRange): string {
  const at = describePlace(place);
  const extent = bytes === null || bytes === 0 ? "what belongs there" : formatCount(bytes, "byte");
  return `${source}${at ? `, ${at}` : ""}: gave up ${extent}: ${reason}`;
}

/** "3 features without their geometry …"; nothing where there are none. */
export function describeKept({ kept }: { readonly kept: number }): string[] {
  const what = `${formatCount(kept, "feature")} without ${kept === 1 ? "its geometry" : "their geometries"}`;
  return kept === 0 ? [] : [`${what}, which could not be carried; --on-bad-geometry reject leaves such features out`];
}

/** "text-cut: name (12 values): …" */
export function describeLoss(loss: Loss): string {
  const where = loss.field === undefined ? "" : ` ${loss.field}`;
  return `${loss.code}${where} (${loss.count}): ${loss.example}`;
}
