import { statSync } from "node:fs";
import { createError } from "../errors.js";
import { unionExtents } from "../model/geometry-extent.js";
import { type Crs, type Extent, mergeFields } from "../model/index.js";
import type { SkippedRange } from "../model/report.js";
import type { ConversionContext } from "./conversion-context.js";
import type { EncodedChunk } from "./execute/task.js";
import { type PlannedLayer, type PlannedPart, planLayer } from "./plan/plan-layer.js";
import { noteForeignExtension, type OutputFile } from "./plan/plan-outputs.js";
import type { Proof } from "./proof/proof.js";
import type { Verification } from "./proof/verification.js";
import type { ConvertReport, OutputReport } from "./report.js";
import { type OpenAssembler, openAssemblers } from "./write/assemblers.js";
import type { RejectsFile } from "./write/rejects-file.js";
import { removeStaleOutput } from "./write/stale-outputs.js";
import { writeLayer } from "./write/write-layer.js";

interface WrittenPart {
  readonly part: PlannedPart;
  readonly crs: Crs | null;
  features: number;
  extent: Extent | null;
}

/** The planned layers of one output file, or of several files if the layers are split into parts. */
interface PlannedFile {
  readonly path: string;
  readonly layers: PlannedLayer[];
}

/** The writing part of a conversion: plans and writes the output files, then commits or aborts all of them. */
export class ConversionRun implements AsyncDisposable {
  private readonly assemblers: OpenAssembler[] = [];
  private readonly writtenParts: WrittenPart[] = [];
  private sourceFields: ConvertReport["sourceFields"] = null;
  private sourceFormats: readonly string[] = [];

  private proof: Proof | null = null;

  private constructor(
    private readonly conversion: ConversionContext,
    private readonly verification: Verification | null,
  ) {}

  static async open(conversion: ConversionContext): Promise<ConversionRun> {
    if (!conversion.request.verify) return new ConversionRun(conversion, null);
    const { Verification } = await import("./proof/verification.js");
    return new ConversionRun(conversion, new Verification(conversion));
  }

  /** Plans the layers of each output file; scans the inputs if the writer needs a summary before the first feature. */
  async plan(files: readonly OutputFile[]): Promise<PlannedFile[]> {
    noteForeignExtension(this.conversion);
    const planned: PlannedFile[] = [];
    for (const { path, layers } of files) {
      const file: PlannedFile = { path, layers: [] };
      for (const layer of layers) file.layers.push(await planLayer(this.conversion, path, layer));
      planned.push(file);
    }
    this.sourceFields = mergeFields(planned.flatMap((file) => file.layers.map((layer) => layer.sourceFields)));
    const inputs = planned.flatMap((file) => file.layers.flatMap((layer) => layer.inputs));
    const sources = inputs.filter(({ openLayer }) => !openLayer.isExisting);
    this.sourceFormats = [...new Set(sources.map(({ openLayer }) => openLayer.reader.id))].sort();
    return planned;
  }

  /** Writes one output under a temporary name; `commit` gives it its name. */
  async write({ path, layers }: PlannedFile): Promise<void> {
    const parts = layers.flatMap((layer) => layer.parts);
    const opened: OpenAssembler[] = [];
    await openAssemblers(this.conversion, path, parts, (assembler) => {
      opened.push(assembler);
      this.assemblers.push(assembler);
    });
    for (const { parts } of opened) await this.verification?.plan(parts);
    for (const layer of layers) await this.assembleLayer(layer, opened);
    for (const { assembler, context, appendCheck, parts } of opened) {
      await assembler.finish();
      appendCheck?.report(context);
      appendCheck?.close();
      const findings = context.takeFindings(0);
      this.conversion.reportBuilder.add(findings);
      this.verification?.addLosses(parts, findings.losses);
      await context[Symbol.asyncDispose]();
    }
  }

  /** Passes the chunks of a layer to the assemblers of its parts. */
  private async assembleLayer(planned: PlannedLayer, opened: readonly OpenAssembler[]): Promise<void> {
    const routes = planned.parts.map((part) => {
      const { assembler, parts, context } = opened.find((candidate) => candidate.parts.includes(part))!;
      const written: WrittenPart = { part, crs: planned.crs, features: 0, extent: null };
      this.writtenParts.push(written);
      return { assembler, context, index: parts.indexOf(part), written };
    });
    const rules = this.verification && planned.parts.map((part) => this.verification!.rulesOf(part));
    const append = async ({ partIndex, features, extent, chunk, proof }: EncodedChunk) => {
      const { assembler, context, index, written } = routes[partIndex]!;
      context.layer = written.part.layer.name;
      await assembler.append(chunk, index);
      written.features += features;
      written.extent = unionExtents(written.extent, extent);
      this.conversion.progress.features += features;
      if (proof) this.verification?.add(written.part, proof);
    };
    await writeLayer(this.conversion, planned, append, rules ?? undefined);
  }

  /** Reads the outputs again, before `commit` gives them their names. @throws verify-failed */
  async verify(): Promise<void> {
    if (!this.verification) return;
    await this.conversion.outputs.prepare();
    this.proof = await this.verification.run(this.assemblers);
  }

  /**
   * Removes an earlier output that this one replaces under other names.
   * @throws guard-empty if an output without features would replace one with features
   */
  removeStaleOutputs(): void {
    const { request, inPlaceUpdate, pathPlan, writer, outputs, reportBuilder } = this.conversion;
    if (writer.fileStem !== null) {
      this.checkReplacedTables();
      return;
    }
    const removedPath = removeStaleOutput(
      pathPlan,
      writer,
      [...new Set(this.writtenParts.map(({ part }) => part.path))],
      outputs,
      reportBuilder,
    );
    if (request.allowEmpty || request.append) return;
    const replaced = this.writtenParts
      .filter(
        ({ part, features }) =>
          features === 0 && (!inPlaceUpdate || (part.existingLayer && part.existingLayer.featureCount !== 0)),
      )
      .map(({ part }) => part.path);
    if (removedPath !== null && replaced.length === this.writtenParts.length) replaced.push(removedPath);
    for (const path of replaced) {
      const old = path === "-" ? undefined : statSync(path, { throwIfNoEntry: false });
      if (old && old.size > 0) throw createError("guard-empty", { output: path });
    }
  }

  /** @throws guard-empty if a table with rows would be replaced by an empty one */
  private checkReplacedTables(): void {
    const { request, inPlaceUpdate } = this.conversion;
    if (request.allowEmpty || inPlaceUpdate?.mode !== "replace") return;
    const emptied = this.writtenParts.find(
      ({ part, features }) => features === 0 && part.existingLayer !== null && part.existingLayer.featureCount !== 0,
    );
    if (emptied) throw createError("guard-empty", { output: `${request.output}: ${emptied.part.existingLayer!.name}` });
  }

  /** Closes the rejects file and reports what `commit` will publish. */
  async createReport(): Promise<ConvertReport> {
    const { request, pathPlan, reportBuilder, rejectsFile } = this.conversion;
    const rejects = rejectsFile.close();
    const outputs = this.writtenParts.map(
      ({ part, crs, features, extent }): OutputReport => ({
        path: part.path,
        layer: part.layer.name,
        features,
        crs: crs && (crs.id ?? crs.name),
        extent,
      }),
    );
    return {
      inputs: pathPlan.inputNames,
      outputs,
      read: reportBuilder.read,
      written: outputs.reduce((sum, output) => sum + output.features, 0),
      rejected: rejectsFile.count,
      kept: rejectsFile.kept,
      incompleteInputs: countIncompleteInputs(request.inputs, rejectsFile, reportBuilder.skippedRanges),
      withoutGeometry: reportBuilder.withoutGeometry,
      sourceFields: this.sourceFields,
      sourceFormats: this.sourceFormats,
      skippedRanges: reportBuilder.skippedRanges,
      losses: reportBuilder.losses.list(),
      notices: await reportBuilder.collectNotices(),
      operations: await reportBuilder.summarizeOperations(),
      rejectSummaries: rejectsFile.summarizeRejects(),
      rejects,
      upToDate: false,
      proof: this.proof,
    };
  }

  /** @param checkLast called when all is written, just before the first file gets its name */
  async commit(report: ConvertReport, checkLast: () => Promise<void>): Promise<void> {
    this.conversion.host.signal.throwIfAborted();
    const inPlace = this.assemblers.filter(({ isInPlace }) => isInPlace);
    // Renames can be undone, the commit of a database cannot: databases are committed after all files are renamed.
    const { host, request, outputs } = this.conversion;
    const commitDatabases = async () => {
      for (const { assembler } of inPlace) await assembler.commit?.();
      await host.onCommitted?.(report);
    };
    await outputs.commit(inPlace.length > 0 || host.onCommitted ? commitDatabases : undefined, async (files) => {
      await checkLast();
      await host.onCommit?.(request.output, files, report);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.verification?.[Symbol.asyncDispose]();
  }

  async abort(): Promise<void> {
    await Promise.allSettled(this.assemblers.map(({ assembler }) => assembler.abort?.()));
    await Promise.allSettled(this.assemblers.map(({ context }) => context[Symbol.asyncDispose]()));
    for (const { appendCheck } of this.assemblers) appendCheck?.close();
    await this.conversion.outputs.abort();
  }
}

/** Counts inputs with rejected features or skipped ranges. Sources in one zip count up to the number of inputs. */
function countIncompleteInputs(
  inputs: readonly string[],
  rejects: RejectsFile,
  skippedRanges: readonly SkippedRange[],
): number {
  const sources = new Set([...rejects.inputs, ...skippedRanges.map(({ source }) => source)]);
  return Math.min(sources.size, inputs.length);
}
