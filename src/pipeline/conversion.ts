import type { OutputSet } from "../io/output-set.js";
import type { Crs } from "../model/layer.js";
import type { Executor } from "./executor.js";
import type { ChosenWriter } from "./outputs.js";
import type { PathPlan } from "./paths.js";
import type { RejectsFile } from "./rejects.js";
import type { Gathered } from "./report.js";
import type { ConvertRequest, Host, Progress } from "./request.js";
import type { Update } from "./update.js";

/** What the parts of one conversion work with. */
export interface Conversion {
  readonly request: ConvertRequest;
  readonly host: Host;
  readonly executor: Executor;
  readonly writer: ChosenWriter;
  /** The CRS asked for; null where coordinates are carried untouched. */
  readonly target: Crs | null;
  /** The existing file that is changed in place, or null. */
  readonly update: Update | null;
  readonly paths: PathPlan;
  readonly outputs: OutputSet;
  readonly rejects: RejectsFile;
  readonly gathered: Gathered;
  readonly meter: Meter;
}

/** How far a conversion is. */
export class Meter {
  /** Bytes of input. */
  done = 0;
  total = 0;
  features = 0;

  constructor(private readonly onProgress: ((progress: Progress) => void) | undefined) {}

  tell(phase: Progress["phase"]): void {
    const features = phase === "convert" ? this.features : 0;
    this.onProgress?.({ done: this.done, total: this.total, features, phase });
  }
}
