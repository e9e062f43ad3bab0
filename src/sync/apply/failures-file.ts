import { appendFile, open } from "node:fs/promises";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { stringifyExactly } from "../../model/exact-json.js";
import type { PlannedFeature } from "../plan/plan.js";
import type { RejectsFile } from "../source/rejects-path.js";

/** Why a feature was not applied to the map. */
export interface Refusal {
  /** Machine-readable: "refused", "too-large", "not-kept", "outcome-unknown". */
  readonly code: string;
  readonly reason: string;
  /** Path within the feature that the service reports; null if it reports none. */
  readonly path: string | null;
}

/**
 * Rejected features as newline-delimited GeoJSON with a `reject` member, in the format of conversion rejects: users can
 * correct the file and push it again.
 */
export class FailuresFile {
  private readonly path: string;
  private readonly origin: string;
  private hasFailures = false;
  private queue: Promise<unknown> = Promise.resolve();

  /** @param file may already contain rejects of the source; features are appended */
  constructor({ path, origin }: RejectsFile) {
    this.path = path;
    this.origin = origin;
  }

  /** @throws output-failed */
  add(feature: PlannedFeature, { code, reason, path }: Refusal): Promise<void> {
    const reject = { code, reason, ...(path === null ? {} : { path }), origin: this.origin };
    const added = this.queue.then(() =>
      this.wrapWriteErrors(() => appendFile(this.path, `${stringifyExactly({ ...feature, reject })}\n`)),
    );
    this.queue = added.catch(() => {});
    this.hasFailures = true;
    return added;
  }

  /** Flushes the file to disk. @returns its path, or null if no feature was added @throws output-failed */
  async flush(): Promise<string | null> {
    if (!this.hasFailures) return null;
    await this.queue;
    await this.wrapWriteErrors(async () => {
      await using file = await open(this.path, "r+");
      await file.sync();
    });
    return this.path;
  }

  private async wrapWriteErrors(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw createError("output-failed", { output: this.path, reason: describeSystemError(error) }, error);
    }
  }
}
