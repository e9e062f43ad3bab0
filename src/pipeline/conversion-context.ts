import type { OutputSet } from "../io/output/output-set.js";
import type { Crs } from "../model/layer.js";
import type { Executor } from "./execute/executor.js";
import type { InPlaceUpdate } from "./plan/in-place-update.js";
import type { PathPlan } from "./plan/path-plan.js";
import type { ChosenWriter } from "./plan/plan-outputs.js";
import type { ReportBuilder } from "./report.js";
import type { ConvertRequest, Host, Progress } from "./request.js";
import type { RejectsFile } from "./write/rejects-file.js";

/** What the parts of one conversion work with. */
export interface ConversionContext {
  readonly request: ConvertRequest;
  readonly host: Host;
  readonly executor: Executor;
  readonly writer: ChosenWriter;
  /** The CRS asked for; null where coordinates are carried untouched. */
  readonly targetCrs: Crs | null;
  /** The existing file that is changed in place, or null. */
  readonly inPlaceUpdate: InPlaceUpdate | null;
  readonly pathPlan: PathPlan;
  readonly outputs: OutputSet;
  readonly rejectsFile: RejectsFile;
  readonly reportBuilder: ReportBuilder;
  readonly progress: ProgressTracker;
}

/** How far a conversion is. */
export class ProgressTracker {
  /** Bytes of input. */
  done = 0;
  total = 0;
  features = 0;

  constructor(private readonly onProgress: ((progress: Progress) => void) | undefined) {}

  report(phase: Progress["phase"]): void {
    const features = phase === "convert" ? this.features : 0;
    this.onProgress?.({ done: this.done, total: this.total, features, phase });
  }
}
