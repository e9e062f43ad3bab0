/** The features that a source could not give, and the file that a person finds them in. */
import { appendFileSync, existsSync } from "node:fs";
import { basename, extname } from "node:path";
import { createError } from "../../errors.js";
import { OutputSet } from "../../io/output/output-set.js";
import type { Geometry } from "../../model/geometry.js";
import { PathPlan } from "../../pipeline/plan/path-plan.js";
import { parseThreshold, type Threshold } from "../../pipeline/plan/thresholds.js";
import type { Host } from "../../pipeline/request.js";
import type { Properties } from "../../remote/wire.js";
import type { SourceRequest } from "../request.js";
import { canWriteRejects } from "./rejects-path.js";
import { readSpooledLines } from "./spooled-lines.js";

/** A line of a rejects file: the feature as far as it could be read, why it was rejected, and where it stood. */
export interface RejectedFeature {
  readonly type: "Feature";
  readonly id?: string | number;
  readonly geometry: Geometry | null;
  readonly properties: Properties | null;
  readonly reject: {
    readonly code: string;
    readonly reason: string;
    /** Where it stood, if it could not be read; none where its key was at fault. */
    readonly layer?: string;
    readonly record?: number;
    /** It went on without its geometry, which alone could not be carried. */
    readonly kept?: boolean;
  };
}

/** What `places` of `../in/places.csv` is; `-` is called stdin, and of an address the name of its file counts. */
function inputStem(input: string): string {
  if (input === "-") return "stdin";
  const isAddress = /^[a-z][a-z0-9+.-]+:\/\//i.test(input);
  const name = basename(isAddress ? input.replace(/[?#].*$/s, "") : input).replace(/[:\\]/g, "-");
  return basename(name, extname(name)) || "source";
}

/** In the working directory: beside the data would be a folder that perhaps is not ours to write to. */
export const defaultRejectsPath = (inputs: readonly string[]): string =>
  `${inputStem(inputs[0] ?? "")}.rejects.geojsonl`;

/**
 * Rejects are kept in the spool until it is clear that they are rejects, and not coordinates in the wrong order; then
 * `publish` puts them where a person finds them. The file of an earlier run is replaced, and goes where there are none;
 * what else is there under the name that `--rejects` gives stays, and is an error.
 */
export class SourceRejects {
  count = 0;

  private constructor(
    /** Where the rejects will be found. */
    readonly path: string,
    /** The file in the spool. */
    readonly spoolPath: string,
    private readonly overwrite: boolean,
    private readonly limit: Threshold | null,
    private readonly rephrase: (sentence: string) => string = (sentence) => sentence,
  ) {}

  /** @throws output-exists, output-failed, usage where the file must not be written */
  static async create(request: SourceRequest, host: Host, spooled: string): Promise<SourceRejects> {
    const { inputs, rejects, maxRejects } = request;
    const path = rejects ?? defaultRejectsPath(inputs);
    const overwrite = rejects === undefined || (await canWriteRejects(path));
    new PathPlan(
      { inputs, output: "-", rejects: path, overwrite },
      {
        format: host.registry.get("geojsonseq"),
        registry: host.registry,
        mayReplace: false,
        changesInPlace: false,
        reservations: new Set(),
        fileStem: null,
      },
    );
    return new SourceRejects(
      path,
      spooled,
      overwrite,
      parseThreshold("--max-rejects", maxRejects),
      host.rewriteMessage,
    );
  }

  /** Rejects a feature that was read well. */
  add(feature: object, code: string, reason: string): void {
    this.addText(JSON.stringify(feature), code, reason);
  }

  /** @param feature its JSON text, which is kept as it is, as it may say what is lost once it is parsed */
  addText(feature: string, code: string, reason: string): void {
    this.count++;
    const reject = JSON.stringify({ code, reason: this.rephrase(reason) });
    appendFileSync(this.spoolPath, `${feature.slice(0, feature.lastIndexOf("}"))},"reject":${reject}}\n`);
  }

  async *readFeatures(): AsyncGenerator<RejectedFeature> {
    if (!existsSync(this.spoolPath)) return;
    for await (const lines of readSpooledLines(this.spoolPath)) {
      for (const { text } of lines) yield JSON.parse(text) as RejectedFeature;
    }
  }

  /**
   * @param read features read, good and bad
   * @param advice what would serve the features that are rejects
   * @throws guard-rejects where `--max-rejects` allows fewer
   */
  checkLimit(read: number, advice: readonly string[]): void {
    const { limit, count } = this;
    if (limit && (count > limit.maxCount || count > limit.maxShare * read))
      throw createError("guard-rejects", { rejected: count, limit: limit.text, advice });
  }

  /** Writes the file. @returns its path, or null where there are no rejects @throws output-failed, output-exists */
  async publish(): Promise<string | null> {
    const outputs = new OutputSet();
    try {
      if (this.count === 0) {
        if (this.overwrite) outputs.remove(this.path);
      } else {
        const sink = await outputs.create(this.path, { overwrite: this.overwrite });
        const file = await sink.create();
        for await (const lines of readSpooledLines(this.spoolPath)) {
          await file.write(Buffer.from(lines.map(({ text }) => `${text}\n`).join("")));
        }
      }
      await outputs.commit();
      return this.count === 0 ? null : this.path;
    } catch (error) {
      await outputs.abort();
      throw error;
    }
  }
}
