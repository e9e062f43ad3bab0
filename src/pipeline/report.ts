import { basename } from "node:path";
import { counted } from "../counted.js";
import { areaAroundAll } from "../crs/area.js";
import type { Operation } from "../crs/index.js";
import { refusalAfter, settledBy, statementsOf, strictLimit, usualLimit } from "../crs/index.js";
import { describePlace, fault } from "../errors.js";
import type { Gap, Loss, OperationUse } from "../model/report.js";
import { Tally } from "../model/report.js";
import type { Findings } from "./context.js";
import type { Located } from "./geometry-missing.js";
import type { OpenLayer } from "./inputs.js";
import { absolute } from "./rejects.js";
import type { ConvertRequest } from "./request.js";

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
  accuracy ?? (strict ? strictLimit : usualLimit);

const titleOf = ({ id, name }: Operation["from"]): string => id ?? name;

export function operationReport(layer: string, operation: Operation): OperationReport {
  const { from, to, kind, name, accuracy, gridFiles, better } = operation;
  return {
    layer,
    from: titleOf(from),
    to: titleOf(to),
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
  readonly gaps: readonly Gap[];
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
export function nothingToDo(request: Pick<ConvertRequest, "inputs">): ConvertReport {
  return {
    inputs: request.inputs,
    outputs: [],
    read: 0,
    written: 0,
    rejected: 0,
    kept: 0,
    withoutGeometry: 0,
    gaps: [],
    losses: [],
    notices: [],
    operations: [],
    rejects: null,
    upToDate: true,
  };
}

function together(use: OperationUse, known: OperationUse | undefined): OperationUse {
  if (known === undefined) return use;
  return { ...use, positions: use.positions + known.positions, box: areaAroundAll([use.box, known.box]) };
}

/** Notices that name the accuracy of an operation. */
const statesAccuracy: ReadonlySet<string> = new Set(["crs-operation", "crs-accuracy"]);

/** What would serve the positions that no operation served, of the notices of a report. */
export const adviceOf = (notices: readonly Loss[]): string[] =>
  notices.flatMap(({ code, example }) => (code === "crs-unreached" || code === "zone-prefix" ? [example] : []));

/** Gathers what every thread found. */
export class Gathered {
  readonly losses = new Tally();
  readonly notices = new Tally();
  private readonly planned: { readonly layer: string; readonly operation: Operation }[] = [];
  private readonly uses = new Map<string, OperationUse>();
  /** By layer of the inputs: features that went into outputs. */
  readonly located = new Map<OpenLayer, Located>();
  read = 0;
  /** Features of the inputs that were written, and those of them without a geometry. */
  carried = 0;
  withoutGeometry = 0;

  /** By what they say: a source that is read twice has the same gaps twice. */
  private readonly gapsFound = new Map<string, Gap>();

  /** `record` and `line` stand before the piece that the findings are of. */
  add(findings: Pick<Findings, "losses" | "notices" | "gaps" | "uses">, record = 0, line = 0): void {
    for (const use of findings.uses ?? []) {
      const key = JSON.stringify([use.layer, use.from, use.to, use.route]);
      this.uses.set(key, together(use, this.uses.get(key)));
    }
    this.losses.merge(findings.losses);
    this.notices.merge(findings.notices);
    for (const each of findings.gaps) {
      const gap = absolute(each, record, line);
      this.gapsFound.set(JSON.stringify(gap), gap);
    }
  }

  plan(layer: string, operation: Operation): void {
    this.planned.push({ layer, operation });
  }

  /** What was planned, with what of it was used. */
  operations(): Promise<OperationReport[]> {
    return Promise.all(
      this.planned.map(async ({ layer, operation }) => {
        const uses = this.usesOf(layer, operation);
        const settled = await settledBy(operation, uses);
        const accuracy = this.beyondTarget(layer) > 0 ? null : settled.accuracy;
        const report = { ...operationReport(layer, operation), ...settled, accuracy };
        // The name says it of the only one.
        if (operation.routes.length < 2) return report;
        const used = uses.flatMap(({ route, positions }): UsedOperation[] => {
          const taken = route === null ? undefined : operation.routes[route];
          return taken === undefined ? [] : [{ operation: taken.name, accuracy: taken.accuracy, positions }];
        });
        return { ...report, used };
      }),
    );
  }

  /** @throws crs-no-operation where every position of a layer was refused for the accuracy that was asked for */
  async checkServed(): Promise<void> {
    for (const { layer, operation } of this.planned) {
      const reason = await refusalAfter(operation, this.usesOf(layer, operation));
      const { from, to, better } = operation;
      if (reason !== null) throw fault("crs-no-operation", { from: titleOf(from), to: titleOf(to), reason, better });
    }
  }

  /** All notices, and before them what is to be stated about the operations and the positions that went by them. */
  async allNotices(): Promise<Loss[]> {
    const stated = new Map<string, Loss>();
    for (const { layer, operation } of this.planned)
      for (const { code, text, count } of await statementsOf(operation, this.usesOf(layer, operation))) {
        const example = `${text}${statesAccuracy.has(code) ? this.exceptBeyondTarget(layer) : ""}`;
        stated.set(JSON.stringify([layer, code, text]), { code, layer, count, example });
      }
    return [...stated.values(), ...this.notices.list()];
  }

  /** Features of a layer that lie far outside of where the target is meant to be used. */
  private beyondTarget(layer: string): number {
    const outside = this.notices.list().filter((notice) => notice.code === "outside-target-area");
    return outside.reduce((sum, notice) => sum + (notice.layer === layer ? notice.count : 0), 0);
  }

  private exceptBeyondTarget(layer: string): string {
    const features = this.beyondTarget(layer);
    if (features === 0) return "";
    return `; of ${counted(features, "feature")} outside of the target's area of use the accuracy is not known (outside-target-area)`;
  }

  /** The most used one first. */
  private usesOf(layer: string, { from, to }: Operation): OperationUse[] {
    return [...this.uses.values()]
      .filter((use) => use.layer === layer && use.from === titleOf(from) && use.to === titleOf(to))
      .sort((a, b) => b.positions - a.positions);
  }

  get gaps(): Gap[] {
    return [...this.gapsFound.values()];
  }
}

/** "roads.shp, record 12, byte 880: 1,200 bytes were given up: …" */
export function describeGap({ source, place, bytes, reason }: Gap): string {
  const at = describePlace(place);
  const extent = bytes === null || bytes === 0 ? "what belongs there" : counted(bytes, "byte");
  return `${source}${at ? `, ${at}` : ""}: gave up ${extent}: ${reason}`;
}

/** "3 features without their geometry …"; nothing where there are none. */
export function describeKept({ kept }: { readonly kept: number }): string[] {
  const what = `${counted(kept, "feature")} without ${kept === 1 ? "its geometry" : "their geometries"}`;
  return kept === 0 ? [] : [`${what}, which could not be carried; --on-bad-geometry reject leaves such features out`];
}

/** "text-cut: name (12 values): …" */
export function describeLoss(loss: Loss): string {
  const where = loss.field === undefined ? "" : ` ${loss.field}`;
  return `${loss.code}${where} (${loss.count}): ${loss.example}`;
}
