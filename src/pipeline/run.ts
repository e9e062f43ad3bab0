import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { fault } from "../errors.js";
import { createSink, type HostSink } from "../io/sink.js";
import { type Crs, type LayerSummary, type Reject, Summariser } from "../model/index.js";
import type { Assembler, Format, TargetLayer } from "../plugin/format.js";
import { type FitPlan, planFit, summaryOfPart } from "../stages/fit.js";
import type { StageSpec } from "../stages/stage.js";
import { type Findings, HostContext } from "./context.js";
import { type Executor, inOrder } from "./executor.js";
import type { OpenLayer } from "./inputs.js";
import { type ChosenWriter, checkOutput, type OutputFile, type OutputLayer, packing, withSuffix } from "./outputs.js";
import { declaredFields, needsSummary, pieces, toldSummary, withUnrepeated } from "./reading.js";
import type { RejectsFile } from "./rejects.js";
import type { Gathered, OutputReport } from "./report.js";
import type { ConvertRequest, Host } from "./request.js";
import { checkNames, missing, planShape, type Shape, wantedFields } from "./shape.js";
import type { EncodeSpec, TaskSpec, WorkResult } from "./task.js";

/** A part of an output layer, and where its chunks go. */
interface Target {
  readonly layer: TargetLayer;
  readonly path: string;
  assembler: Assembler | undefined;
  /** Index of the layer within its assembler. */
  index: number;
  features: number;
}

/** An output layer with all that is decided about it before its features are written. */
interface Planned {
  readonly inputs: readonly { readonly open: OpenLayer; readonly shape: Shape }[];
  readonly fit: FitPlan;
  readonly crs: Crs | null;
  readonly targets: readonly Target[];
}

/** What a conversion has under way: its sinks, what it wrote so far, what it found. */
export class Run {
  private readonly sinks: HostSink[] = [];
  /** What the assemblers of the file under way say. */
  private readonly contexts: HostContext[] = [];
  private readonly written: { readonly target: Target; readonly crs: Crs | null }[] = [];
  /** What readers said on this thread during a first reading: most of it is said again in the second. */
  private readonly scanned = new Map<OpenLayer, Findings>();
  private done = 0;
  private total = 0;
  private features = 0;

  constructor(
    private readonly request: ConvertRequest,
    private readonly host: Host,
    private readonly executor: Executor,
    private readonly writer: ChosenWriter,
    private readonly target: Crs | null,
    private readonly gathered: Gathered,
    private readonly rejects: RejectsFile,
    private readonly replace: boolean,
    private readonly claims: Set<string>,
  ) {}

  /** Writes one output file; nothing is seen of it before `commit`. */
  async write(file: OutputFile): Promise<void> {
    const planned: Planned[] = [];
    for (const layer of file.layers) planned.push(await this.plan(file.path, layer));
    const assemblers = await this.openAssemblers(
      file.path,
      planned.flatMap((layer) => layer.targets),
    );
    for (const layer of planned) await this.writeLayer(layer);
    for (const assembler of assemblers) await assembler.finish();
    for (const context of this.contexts.splice(0)) this.gathered.add(context.take(0));
    for (const { targets, crs } of planned) for (const target of targets) this.written.push({ target, crs });
  }

  private async plan(path: string, layer: OutputLayer): Promise<Planned> {
    checkNames(layer.inputs, this.request);
    const inputs = [];
    for (const open of layer.inputs) {
      const shape = await planShape(open, this.request, this.target, this.gathered);
      inputs.push({ open, shape: { ...shape, stages: [...shape.stages, ...this.stagesOfWriter()] } });
    }
    const crs = this.writableCrs(inputs.map((input) => input.shape.crs));
    const summary = needsSummary(this.writer.accepts) ? await this.summarise(inputs) : null;
    const fit = planFit(summary, this.writer.accepts, this.writer.format.label, this.request.append === true);
    this.reportFit(layer.name, fit);
    const adds = layer.inputs.some((open) => open.existing);
    const targets = fit.parts.map((part): Target => {
      const suffix = part.name === "" ? "" : `_${part.name}`;
      const own =
        this.writer.accepts.layers === "one" && suffix !== "" ? withSuffix(path, suffix, this.writer.format) : path;
      if (own !== path && adds) throw this.otherGeometry(path, fit);
      if (own !== path) checkOutput(own, this.request.inputs, this.replace);
      return {
        layer: {
          name: `${layer.name}${suffix}`,
          crs,
          fields: fit.fields?.map(({ source: _, ...field }) => field) ?? null,
          summary: summary && summaryOfPart(fit, part, summary),
        },
        path: own,
        assembler: undefined,
        index: 0,
        features: 0,
      };
    });
    return { inputs, fit, crs, targets };
  }

  private otherGeometry(path: string, fit: FitPlan): Error {
    const kinds = fit.parts.map((part) => part.name).join(", ");
    const reason = `${fit.target} holds one kind of geometry a file, and with what is appended there would be ${kinds}`;
    return fault("unsupported", { source: path, reason });
  }

  /** What the writer's limits ask of every geometry before the layer is summed up. */
  private stagesOfWriter(): StageSpec[] {
    const { geometryTypes, shortLines = false } = this.writer.accepts;
    // First, so that a collection is merged for what is left of it.
    const stages: StageSpec[] = [{ name: "drop-degenerate", settings: { shortLines } }];
    if (!geometryTypes.includes("GeometryCollection")) stages.push({ name: "merge-collections", settings: {} });
    return stages;
  }

  /** The CRS that the output says: what the layers have in common, if the format can hold it. */
  private writableCrs(all: readonly (Crs | null)[]): Crs | null {
    const first = all[0] ?? null;
    const alike = all.every((crs) => crs?.definition === first?.definition);
    if (!alike && this.target === null && all.every((crs) => crs !== null)) {
      const names = [...new Set(all.map((crs) => crs?.id ?? crs?.name))].join(" and ");
      throw fault("usage", { reason: `--no-reproject would put coordinates in ${names} into one layer` });
    }
    const common = alike ? first : null;
    if (common === null || this.writer.accepts.crs === "any") return common;
    const isPlain = common.id === "EPSG:4326" || common.id === "OGC:CRS84";
    if (isPlain) return common;
    if (this.target === null) return null;
    throw fault("crs-not-writable", { format: this.writer.format.id, crs: common.id ?? common.name });
  }

  /** Tells what a plan changes about names and ids. */
  private reportFit(layer: string, fit: FitPlan): void {
    for (const field of fit.fields ?? []) {
      if (field.source === null) {
        this.gathered.notices.add(
          "id-as-field",
          layer,
          field.name,
          1,
          `${fit.target} has no feature ids; they are in the field "${field.name}"`,
        );
      } else if (field.source !== field.name) {
        this.gathered.losses.add("field-renamed", layer, field.source, 1, `"${field.source}" became "${field.name}"`);
      }
    }
    if (fit.parts.length > 1) {
      const names = fit.parts.map((part) => part.name).join(", ");
      this.gathered.notices.add(
        "layer-split",
        layer,
        undefined,
        1,
        `${fit.target} holds one kind of geometry a file: split into ${names}`,
      );
    }
  }

  private async openAssemblers(path: string, targets: readonly Target[]): Promise<Assembler[]> {
    const format = this.writer.format;
    const module = await format.writer!.load();
    const open = async (at: string, of: readonly Target[]) => {
      const context = new HostContext(of[0]?.layer.name ?? "", this.host.signal, false, undefined, this.host.now);
      this.contexts.push(context);
      this.claim(at);
      const adds = this.request.append === true && at === path;
      const sink = await createSink(at, {
        overwrite: this.replace || adds,
        now: this.host.now,
        ...packing(at, format),
        ...(format.companions ? { companions: format.companions } : {}),
      });
      this.sinks.push(sink);
      checkForeignPrj(at, of[0]?.layer.crs ?? null, format);
      const assembler = await module.assembler(
        sink,
        of.map((target) => target.layer),
        this.writer.ref.options,
        context,
      );
      of.forEach((target, index) => {
        target.assembler = assembler;
        target.index = index;
      });
      return assembler;
    };
    if (this.writer.accepts.layers === "many") return [await open(path, targets)];
    const assemblers: Assembler[] = [];
    for (const target of targets) assemblers.push(await open(target.path, [target]));
    return assemblers;
  }

  /** @throws output-collision where another conversion of the same run writes there */
  private claim(path: string): void {
    const key = resolve(path).toLowerCase();
    if (path !== "-" && this.claims.has(key)) {
      throw fault("output-collision", { output: path, inputs: [this.request.inputs.join(", "), "another input"] });
    }
    this.claims.add(key);
  }

  /** What all features that come out of the stages say together: a first reading of the inputs. */
  private async summarise(inputs: Planned["inputs"]): Promise<LayerSummary> {
    const told = inputs.length === 1 ? await toldSummary(inputs[0]!.open, inputs[0]!.shape) : null;
    if (told) return told;
    const all = new Summariser(false);
    let left = this.request.limit ?? Number.POSITIVE_INFINITY;
    for (const { open, shape } of inputs) {
      const refine = open.layer.fields === null;
      const summariser = new Summariser(refine);
      const declared = await declaredFields(open, shape);
      if (declared) summariser.add(declared);
      for await (const result of this.results(open, shape, { kind: "summary", refine }, left)) {
        if (result.summary) {
          summariser.merge(result.summary);
          if (!open.existing) left -= result.summary.kinds.reduce((sum, kind) => sum + kind.count, 0);
        }
        this.host.onProgress?.({ done: this.done, total: this.total, features: 0, phase: "scan" });
        if (left <= 0) break;
      }
      this.scanned.set(open, open.context.take(0));
      all.merge(summariser.settled());
    }
    return all.summary();
  }

  private async writeLayer(planned: Planned): Promise<void> {
    const end: EncodeSpec = {
      kind: "encode",
      fit: planned.fit,
      writer: this.writer.ref,
      targets: planned.targets.map((target) => target.layer),
    };
    let left = this.request.limit ?? Number.POSITIVE_INFINITY;
    const seen = new Set<string>();
    let read = 0;
    for (const { open, shape } of planned.inputs) {
      let record = 0;
      let line = 0;
      let located = 0;
      for await (const result of this.results(open, shape, end, left)) {
        this.gathered.add(result);
        if (open.existing && result.rejects.length > 0) throw unreadable(open, result.rejects[0]!);
        if (!open.existing) {
          this.gathered.read += result.read;
          read += result.read;
        }
        for (const name of result.seen) seen.add(name);
        await this.rejects.add(open.source.name, open.layer.name, result.rejects, record, line);
        for (const { part, features, chunk } of result.chunks) {
          const target = planned.targets[part]!;
          await target.assembler!.append(chunk, target.index);
          target.features += features;
          this.features += features;
          if (!open.existing) left -= features;
        }
        this.executor.release(result);
        record += result.records;
        line += result.lines;
        located += result.located;
        this.host.onProgress?.({ done: this.done, total: this.total, features: this.features, phase: "convert" });
        if (left <= 0) break;
      }
      const said = withUnrepeated(open.context.take(0), this.scanned.get(open));
      this.gathered.add(said);
      this.gathered.read += said.rejects.length;
      await this.rejects.add(open.source.name, open.layer.name, said.rejects, 0, 0);
      if (shape.assumed && located > 0) {
        const example =
          "the input does not say its coordinate reference system; taken as longitude/latitude (WGS84), since all coordinates fit";
        this.gathered.notices.add("crs-assumed", open.layer.name, undefined, 1, example);
      }
    }
    if (read > 0 && this.request.limit === undefined) this.checkSeen(planned, seen);
    if (planned.targets.every((target) => target.features === 0)) await this.reportFieldsOfNothing(planned);
  }

  /** A writer that needs no summary knows the fields by the features alone: without any, they are gone. */
  private async reportFieldsOfNothing({ inputs, fit }: Planned): Promise<void> {
    if (fit.fields) return;
    for (const { open, shape } of inputs) {
      const names = (await declaredFields(open, shape))?.fields.map((field) => field.name) ?? [];
      if (names.length === 0) continue;
      const example = `${fit.target} says its fields by its features, and there are none: ${names.join(", ").slice(0, 200)}`;
      this.gathered.losses.add("fields-dropped", open.layer.name, undefined, names.length, example);
    }
  }

  /** A field that is asked for and that no feature has is a mistake, not an empty result. */
  private checkSeen(planned: Planned, seen: ReadonlySet<string>): void {
    const layers = planned.inputs.map((input) => input.open);
    const declared = layers.flatMap((open) => [...(open.layer.fields ?? []).map((field) => field.name), open.fid]);
    for (const name of wantedFields(this.request)) {
      if (!seen.has(name) && !declared.includes(name)) throw missing(layers, name, []);
    }
  }

  /** Every piece of the layer, worked on and in order. */
  private async *results(
    open: OpenLayer,
    shape: Shape,
    end: TaskSpec["end"],
    limit: number,
  ): AsyncGenerator<WorkResult> {
    const stages =
      Number.isFinite(limit) && !open.existing
        ? [...shape.stages, { name: "limit", settings: { count: limit } }]
        : shape.stages;
    const task = await this.executor.open({
      source: open.source.spec,
      reader: open.reader,
      blueprint: open.blueprint,
      layer: open.index,
      layerName: open.layer.name,
      skipErrors: this.request.skipErrors ?? false,
      stages,
      wanted: wantedFields(this.request),
      end,
      now: this.host.now.getTime(),
    });
    this.total += open.layer.bytes;
    try {
      // One piece more than there are threads: none waits for work, and few results wait for their turn.
      const width = this.executor.width + 1;
      yield* inOrder(pieces(open), width, async (work) => {
        this.host.signal.throwIfAborted();
        const result = await task.run(work);
        this.done += work.split?.bytes ?? 0;
        return result;
      });
    } finally {
      await task.close();
    }
  }

  /** @throws guard-empty where an empty result would replace a file that is not empty */
  guardEmpty(): void {
    if (this.request.allowEmpty || this.request.append) return;
    for (const { target } of this.written) {
      const old = target.path === "-" ? undefined : statSync(target.path, { throwIfNoEntry: false });
      if (target.features === 0 && old && old.size > 0) throw fault("guard-empty", { output: target.path });
    }
  }

  async commit(): Promise<OutputReport[]> {
    this.host.signal.throwIfAborted();
    for (const sink of this.sinks) await sink.commit();
    return this.written.map(({ target, crs }) => ({
      path: target.path,
      layer: target.layer.name,
      features: target.features,
      crs: crs && (crs.id ?? crs.name),
    }));
  }

  async abort(): Promise<void> {
    await Promise.allSettled(this.sinks.map((sink) => sink.abort()));
  }
}

/** What is appended to must come through whole. */
function unreadable(open: OpenLayer, reject: Reject): Error {
  const reason = `${reject.reason}; nothing was appended, since what is there must be read whole first`;
  return fault("input-corrupt", { source: open.source.name, place: reject.place, reason });
}

/**
 * A .prj beside the output that belongs to a Shapefile of the same name is not replaced by that of a table.
 * @throws output-exists
 */
function checkForeignPrj(path: string, crs: Crs | null, format: Format): void {
  if (crs === null || crs.id === "EPSG:4326" || format.companions?.includes("prj")) return;
  const prj = withSuffix(path, "", format).replace(/\.[^./\\]+$/, ".prj");
  if (existsSync(prj) && existsSync(prj.replace(/prj$/, "shp"))) throw fault("output-exists", { output: prj });
}
