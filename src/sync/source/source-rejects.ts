/** Collects the rejected features of a source and writes their file. */

import { appendFileSync, existsSync } from "node:fs";
import { createError } from "../../errors.js";
import { readTextLines } from "../../io/input/text-lines.js";
import { OutputSet } from "../../io/output/output-set.js";
import type { Geometry } from "../../model/geometry.js";
import { PathPlan } from "../../pipeline/plan/path-plan.js";
import { parseThreshold, type Threshold } from "../../pipeline/plan/thresholds.js";
import type { Host } from "../../pipeline/request.js";
import type { Properties } from "../../remote/wire.js";
import type { SourceRequest } from "../request.js";
import { checkRejectsFile, type RejectsFile } from "./rejects-path.js";

/** A line of a rejects file: the feature as far as it is readable, the reason and its location. */
export interface RejectLine {
  readonly type: "Feature";
  readonly id?: string | number;
  readonly geometry: Geometry | null;
  readonly properties: Properties | null;
  readonly reject: {
    readonly code: string;
    readonly reason: string;
    /** See `RejectsFile`. */
    readonly origin?: string;
    /** Location of an unreadable feature; absent for an invalid key. */
    readonly layer?: string;
    readonly record?: number;
    /** Whether the feature was kept without its geometry, which could not be converted. */
    readonly kept?: boolean;
  };
}

/**
 * Keeps rejects in the spool until it is clear that they were not caused by swapped coordinates; then `publish` writes
 * them to their path. Replaces the rejects file of an earlier run with the same origin, and deletes it if there are no
 * rejects; any other file at that path is kept and causes an error.
 */
export class SourceRejects {
  count = 0;

  private constructor(
    /** Where the rejects are published. */
    readonly file: RejectsFile,
    /** Path in the spool. */
    readonly spoolPath: string,
    private readonly limit: Threshold | null,
    private readonly rephrase: (sentence: string) => string = (sentence) => sentence,
  ) {}

  /** @throws output-exists, output-failed, usage if the file must not be written */
  static async create(
    { inputs, maxRejects }: SourceRequest,
    host: Host,
    file: RejectsFile,
    spooled: string,
  ): Promise<SourceRejects> {
    new PathPlan(
      { inputs, output: "-", rejects: file.path, overwrite: true },
      {
        format: host.registry.get("geojsonseq"),
        registry: host.registry,
        mayReplace: false,
        changesInPlace: false,
        reservations: new Set(),
        fileStem: null,
      },
    );
    checkRejectsFile(file);
    return new SourceRejects(file, spooled, parseThreshold("--max-rejects", maxRejects), host.rewriteMessage);
  }

  /** Rejects a readable feature. */
  add(feature: object, code: string, reason: string): void {
    this.addText(JSON.stringify(feature), code, reason);
  }

  /** @param feature JSON text, kept verbatim since parsing may lose details */
  addText(feature: string, code: string, reason: string): void {
    this.count++;
    const reject = JSON.stringify({ code, reason: this.rephrase(reason) });
    appendFileSync(this.spoolPath, `${feature.slice(0, feature.lastIndexOf("}"))},"reject":${reject}}\n`);
  }

  async *readFeatures(): AsyncGenerator<RejectLine> {
    if (!existsSync(this.spoolPath)) return;
    for await (const lines of readTextLines(this.spoolPath)) {
      for (const { text } of lines) yield JSON.parse(text) as RejectLine;
    }
  }

  /**
   * @param read number of features read, valid or not
   * @param advice suggestions for handling the rejected features
   * @throws guard-rejects if there are more than `--max-rejects` allows
   */
  checkLimit(read: number, advice: readonly string[]): void {
    const { limit, count } = this;
    if (limit && (count > limit.maxCount || count > limit.maxShare * read))
      throw createError("guard-rejects", { rejected: count, limit: limit.text, advice });
  }

  /** Writes the file. @returns its path, or null if there are no rejects @throws output-failed, output-exists */
  async publish(): Promise<string | null> {
    const { path, origin } = this.file;
    const outputs = new OutputSet();
    // The reject is the last member of each line.
    const end = `,"origin":${JSON.stringify(origin)}}}\n`;
    try {
      if (this.count === 0) outputs.remove(path);
      else {
        const sink = await outputs.create(path, { overwrite: true });
        const file = await sink.create();
        for await (const lines of readTextLines(this.spoolPath)) {
          await file.write(Buffer.from(lines.map(({ text }) => text.slice(0, -2) + end).join("")));
        }
      }
      await outputs.commit();
      return this.count === 0 ? null : path;
    } catch (error) {
      await outputs.abort();
      throw error;
    }
  }
}
