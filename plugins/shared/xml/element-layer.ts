/** Layers of documents whose features are elements, of several kinds in one file: what readers of GPX and TCX share. */
import type { Batch, Crs, Dataset, Field, GeometryType, Layer, SkippedRange, Split } from "../../../src/model/index.js";
import type { ReadContext, Source, SourceFile } from "../../../src/plugin/format.js";
import { readSplitBytes, releaseSplitBytes } from "../split-bytes.js";
import { type ElementField, toLayerField } from "./batch-columns.js";
import { type XmlReader, XmlToken } from "./reader.js";

/** The part of the file that is a layer. */
export interface LayerPart {
  readonly name: string;
  /** The kinds of its features. */
  readonly kinds: readonly number[];
  readonly types: readonly GeometryType[];
}

/** A range of the file that begins and ends between features. */
interface ElementSplit extends Split {
  readonly to: number;
  /** The number of features of each kind. */
  readonly counts: readonly number[];
}

/** The result of reading the whole file once. */
interface ElementScan<F extends ElementField, S extends ElementSplit> {
  readonly splits: readonly S[];
  readonly counts: readonly number[];
  /** The fields of each kind of feature, and of all kinds. */
  readonly fields: { readonly byKind: readonly (readonly F[])[]; readonly all: readonly F[] };
  /** The ranges that were skipped because of damage. */
  readonly gaps: readonly SkippedRange[];
}

/** Passes the contents of elements to a builder. */
interface ElementParser {
  /** @returns `XmlToken.more` where the reader has to be filled, `XmlToken.end`, or others */
  read(): number;
}

/** Makes batches of features. */
interface BatchBuilder {
  readonly full: boolean;
  /** The features so far, in earlier splits too. */
  readonly records: number;
  finish(): Batch | null;
  report(): void;
}

/** Opens a file for layers that read it; closes it if that fails. */
export async function openLayers<R>(
  source: Source,
  scan: (file: SourceFile) => Promise<R>,
  toLayers: (file: SourceFile, scanResult: R) => readonly Layer[],
): Promise<Dataset & { readonly layers: readonly Layer[] }> {
  const file = await source.open();
  try {
    const scanResult = await scan(file);
    return { layers: toLayers(file, scanResult), scanResult, [Symbol.asyncDispose]: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

export abstract class ElementLayer<F extends ElementField, S extends ElementSplit, R extends ElementScan<F, S>>
  implements Layer
{
  readonly name: string;
  /** Degrees of WGS84 by the schemas of the formats. */
  readonly crs: Crs;
  readonly fields: readonly Field[];
  readonly geometryTypes: readonly GeometryType[];
  readonly featureCount: number;
  readonly extent = null;
  readonly bytes: number;
  protected readonly elementFields: readonly F[];

  /** @param omitted a field that the options leave out; null for none */
  constructor(
    protected readonly file: SourceFile,
    protected readonly context: ReadContext,
    protected readonly scanResult: R,
    protected readonly part: LayerPart,
    omitted: string | null,
  ) {
    const { kinds, name, types } = part;
    this.name = name;
    this.crs = context.crs.wgs84;
    const fields = kinds.length === 1 ? scanResult.fields.byKind[kinds[0]!]! : scanResult.fields.all;
    this.elementFields = omitted === null ? fields : fields.filter((field) => field.name !== omitted);
    this.fields = this.elementFields.map(toLayerField);
    this.geometryTypes = types;
    this.featureCount = this.countOf(scanResult.counts);
    this.bytes = file.size;
  }

  private countOf(counts: readonly number[]): number {
    return this.part.kinds.reduce((sum, kind) => sum + counts[kind]!, 0);
  }

  async *splits(): AsyncGenerator<S> {
    for (const gap of this.scanResult.gaps) this.context.skipRange(gap);
    for (const split of this.scanResult.splits) if (this.countOf(split.counts) > 0) yield split;
  }

  /** Where the split begins, if its bytes can be read before it is parsed; else null. */
  protected abstract startOf(split: S): number | null;

  async prefetch(split: Split): Promise<Buffer | undefined> {
    const start = this.startOf(split as S);
    return start === null ? undefined : readSplitBytes(this.file, start, (split as S).to);
  }

  async *batches(split?: Split, fetched?: unknown): AsyncGenerator<Batch> {
    let records = 0;
    for await (const current of split ? [split as S] : this.splits())
      records = yield* this.read(current, records, fetched as Buffer | undefined);
    this.context.splitFinished(records, 0);
  }

  /** Reads the features of a split. @returns the number of records so far */
  protected abstract read(split: S, before: number, fetched?: Buffer): AsyncGenerator<Batch, number>;

  /** Reads features to the end of a split. @returns the number of records so far */
  protected async *readFeatures(
    reader: XmlReader,
    parser: ElementParser,
    builder: BatchBuilder,
    fetched?: Buffer,
  ): AsyncGenerator<Batch, number> {
    for (let token = parser.read(); token !== XmlToken.end; token = parser.read()) {
      if (token === XmlToken.more) await reader.fill();
      else if (builder.full) {
        this.context.signal.throwIfAborted();
        yield builder.finish()!;
      }
    }
    const last = builder.finish();
    if (last) yield last;
    builder.report();
    reader.report();
    releaseSplitBytes(fetched);
    return builder.records;
  }
}
