import { appendFile, open } from "node:fs/promises";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import type { PlannedFeature } from "../plan/plan.js";

/** Why a feature is not on the map. */
export interface Refusal {
  /** For programs: "refused", "too-large", "not-kept", "outcome-unknown". */
  readonly code: string;
  readonly reason: string;
  /** Where in the feature, as the service says it; null where it says nothing. */
  readonly path: string | null;
}

/**
 * Features that the service did not take, as newline-delimited GeoJSON with a member `reject`, as rejects of a
 * conversion are: what is wrong can be mended there, and the file pushed again.
 */
export class FailuresFile {
  private hasFailures = false;
  private queue: Promise<unknown> = Promise.resolve();

  /** @param path those of the source may stand there already: features are added to it */
  constructor(private readonly path: string) {}

  /** @throws output-failed */
  add(feature: PlannedFeature, { code, reason, path }: Refusal): Promise<void> {
    const reject = { code, reason, ...(path === null ? {} : { path }) };
    const added = this.queue.then(() =>
      this.wrapWriteErrors(() => appendFile(this.path, `${JSON.stringify({ ...feature, reject })}\n`)),
    );
    this.queue = added.catch(() => {});
    this.hasFailures = true;
    return added;
  }

  /** @returns its path, or null where no feature was added; all are on the disk @throws output-failed */
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
