import { createError, type Place } from "../../errors.js";
import type { OutputSet } from "../../io/output/output-set.js";
import type { Reject } from "../../model/report.js";
import type { SinkFile, WriterCapabilities } from "../../plugin/format.js";
import type { Threshold } from "../plan/thresholds.js";
import type { ConvertRequest } from "../request.js";

/** What has a place, with it counted from the start of the source, where `record` and `line` stand before its piece. */
export function toAbsolutePlace<T extends { readonly place: Place }>(found: T, record: number, line: number): T {
  const { place } = found;
  return {
    ...found,
    place: {
      ...place,
      ...(place.record === undefined ? {} : { record: place.record + record }),
      ...(place.line === undefined ? {} : { line: place.line + line }),
    },
  };
}

/** Whether a feature whose geometry alone cannot be carried goes on without it. */
export const nullsBadGeometry = (
  { onBadGeometry = "null" }: Pick<ConvertRequest, "onBadGeometry">,
  { nullGeometry }: Pick<WriterCapabilities, "nullGeometry">,
): boolean => nullGeometry && onBadGeometry === "null";

/** How many of the rejects are of features that do not go on without their geometry. */
export const countDropped = (rejects: readonly Reject[]): number =>
  rejects.reduce((count, { kept }) => (kept ? count : count + 1), 0);

/**
 * The rejected features as newline-delimited GeoJSON, each with a member `reject` that says why and from where. The
 * file comes into being with the first reject and is committed with the output.
 */
export class RejectsFile {
  private file: SinkFile | undefined;
  count = 0;
  /** Those that went on without their geometry. */
  kept = 0;

  /** @param path null where there is nowhere to put them: they are counted all the same */
  constructor(
    private readonly path: string | null,
    private readonly threshold: Threshold | null,
    private readonly outputs: OutputSet,
    /** What would have served the features that were rejected so far. */
    private readonly getAdvice: () => Promise<readonly string[]>,
    /** Reasons name flags; those who read this file may have none. */
    private readonly rewriteMessage: (sentence: string) => string = (sentence) => sentence,
  ) {}

  /** @throws guard-rejects */
  async add(input: string, layer: string, rejects: readonly Reject[], record: number, line: number): Promise<void> {
    if (rejects.length === 0) return;
    this.count += rejects.length;
    this.kept += rejects.length - countDropped(rejects);
    if (this.threshold && this.count > this.threshold.maxCount) await this.throwThresholdExceeded();
    if (this.path === null) return;
    if (!this.file) {
      const sink = await this.outputs.create(this.path, { overwrite: true });
      this.file = await sink.create();
    }
    const lines = rejects.map((reject) => {
      const { code, place, feature, text, kept, ...told } = toAbsolutePlace(reject, record, line);
      const reason = this.rewriteMessage(told.reason);
      const known = feature ?? { type: "Feature", geometry: null, properties: {} };
      return `${JSON.stringify({ ...known, reject: { code, reason, input, layer, ...place, ...(kept ? { kept } : {}), ...(text === undefined ? {} : { text }) } })}\n`;
    });
    await this.file.write(Buffer.from(lines.join("")));
  }

  /** @throws guard-rejects where the share of rejects is over the limit */
  async checkShare(read: number): Promise<void> {
    if (this.threshold && this.count > this.threshold.maxShare * read) await this.throwThresholdExceeded();
  }

  private async throwThresholdExceeded(): Promise<never> {
    throw createError("guard-rejects", {
      rejected: this.count,
      limit: this.threshold?.text ?? "",
      advice: await this.getAdvice(),
    });
  }

  /** The path of the file, or null where there is none; then that of an earlier run goes. */
  close(): string | null {
    if (this.path === null || this.file) return this.path;
    this.outputs.remove(this.path);
    return null;
  }
}
