import type { OutputSet } from "../io/output/output-set.js";
import type { Crs } from "../model/layer.js";
import type { Executor } from "./execute/executor.js";
import type { OpenLayer } from "./input/open-inputs.js";
import type { InPlaceUpdate } from "./plan/in-place-update.js";
import type { PathPlan } from "./plan/path-plan.js";
import type { ChosenWriter } from "./plan/plan-outputs.js";
import type { ReportBuilder } from "./report.js";
import type { ConvertRequest, Host, Progress } from "./request.js";
import type { RejectsFile } from "./write/rejects-file.js";

/** Everything that the parts of one conversion share. */
export interface ConversionContext {
  readonly request: ConvertRequest;
  readonly host: Host;
  readonly executor: Executor;
  readonly writer: ChosenWriter;
  /** The open layers of the inputs. */
  readonly inputLayers: readonly OpenLayer[];
  /** The CRS of the output; null if coordinates are copied unchanged. */
  readonly targetCrs: Crs | null;
  /** The existing file or database that is changed in place, or null. */
  readonly inPlaceUpdate: InPlaceUpdate | null;
  readonly pathPlan: PathPlan;
  readonly outputs: OutputSet;
  readonly rejectsFile: RejectsFile;
  readonly reportBuilder: ReportBuilder;
  readonly progress: ProgressTracker;
}

/** Counts the bytes read and the features written, and reports them to the host. */
export class ProgressTracker {
  /** Bytes of input read so far, and in total. */
  done = 0;
  total = 0;
  features = 0;

  constructor(private readonly onProgress: ((progress: Progress) => void) | undefined) {}

  report(phase: Progress["phase"]): void {
    const features = phase === "convert" || phase === "verify" ? this.features : 0;
    this.onProgress?.({ done: this.done, total: this.total, features, phase });
  }
}
