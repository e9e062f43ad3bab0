import { GeoferryError, type Place } from "../../src/errors.js";
import { formatCount, groupDigits } from "../../src/format-count.js";
import type {
  Batch,
  Crs,
  Dataset,
  Layer,
  LayerSummary,
  ScanBatch,
  SkippedRange,
  Split,
  SummaryRequest,
} from "../../src/model/index.js";
import type { ReadContext, Source, SourceFile } from "../../src/plugin/format.js";
import type { OptionValues } from "../../src/plugin/options.js";
import { refuseCutAnswer } from "../shared/cut-answer.js";
import { readCrsMember } from "../shared/json/crs-member.js";
import { defaultSplitBytes } from "../shared/split-size.js";
import type { readOptions } from "./options.js";
import { BatchCollector } from "./read/batch-collector.js";
import { type IssueReporter, trailingCommaMessage } from "./read/feature-parser.js";
import { maxChunkBytes, type SplitContext, SplitReader, type SplitSettings } from "./read/split-reader.js";
import {
  BracketScanner,
  type BracketScanSettings,
  type ServicePage,
  type TopLevelMembers,
} from "./scan/bracket-scanner.js";
import { FeatureSkipper } from "./scan/feature-skipper.js";
import { type FeatureSplit, splitTexts } from "./scan/feature-split.js";
import { detectFileLayout, type FileLayout, hasMembersAtEnd } from "./scan/file-layout.js";
import { SchemaScan } from "./scan/schema-scan.js";
import { SplitFinder } from "./scan/split-finder.js";

type Options = OptionValues<typeof readOptions>;

/** The scan result that saves other threads a scan of their own. */
interface GeoJsonScanResult {
  readonly fileLayout: FileLayout;
  readonly name: string;
  readonly crs: Crs | null;
}

/** The result of a scan of the whole file. */
interface FullScan {
  readonly splits: readonly FeatureSplit[];
  readonly foreign: readonly string[];
  readonly surplusCommas: number;
  readonly page: ServicePage;
}

/** Discards notices and losses during the scan. */
const silentReporter: IssueReporter = {
  keepsBadGeometries: false,
  reportLoss: () => undefined,
  reportNotice: () => undefined,
};

/** Smaller files have too few splits. */
const minSkippedBytes = 1 << 23;
/** Files up to this size are scanned on opening, because the cost is negligible. */
const maxEagerScanBytes = 1 << 20;

export function open(source: Source, options: Options, context: ReadContext): Promise<GeoJsonDataset> {
  return GeoJsonDataset.open(source, options, context, defaultSplitBytes);
}

/** Top-level members that can be derived from the features, or that belong to a service's response. */
const descriptiveMembers: ReadonlySet<string> = new Set([
  "bbox",
  "timeStamp",
  "links",
  "numberMatched",
  "numberReturned",
  "totalFeatures",
  "exceededTransferLimit",
  "xy_coordinate_resolution",
  "z_coordinate_resolution",
]);

export class GeoJsonDataset implements Dataset {
  readonly layers: readonly Layer[];
  readonly scanResult: GeoJsonScanResult;

  private constructor(
    private readonly file: SourceFile,
    layer: GeoJsonLayer,
    scanResult: GeoJsonScanResult,
  ) {
    this.layers = [layer];
    this.scanResult = scanResult;
  }

  /** Opens the file with splits of about `wanted` bytes. */
  static async open(source: Source, options: Options, context: ReadContext, wanted: number): Promise<GeoJsonDataset> {
    const file = await source.open();
    try {
      const known = context.scanResult as GeoJsonScanResult | undefined;
      const found = known ? null : await scanFile(source, file, context, wanted);
      const scanResult = known ?? found!.scanResult;
      const layer = new GeoJsonLayer(source, file, options, context, scanResult, wanted, found?.scan ?? null);
      return new GeoJsonDataset(file, layer, scanResult);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.file.close();
  }
}

async function scanFile(source: Source, file: SourceFile, context: ReadContext, wanted: number) {
  const found = await detectFileLayout(
    file,
    source.name,
    /\.(geojsonl|geojsons|ndjson|geojsonl\.json)$/i.test(source.name),
  );
  let members: TopLevelMembers = found.members;
  let scan: FullScan | null = null;
  if (found.layout === "documents" && (file.size <= maxEagerScanBytes || (await hasMembersAtEnd(file)))) {
    const settings = { source: source.name, start: found.start, splitSize: wanted, skipErrors: context.skipErrors };
    const scanner = new BracketScanner(file, { ...settings, mark: found.mark });
    const list: FeatureSplit[] = [];
    try {
      for await (const split of scanner.documents()) list.push(split);
      const { foreign, surplusCommas, page } = scanner;
      scan = { splits: list, foreign, surplusCommas, page };
    } catch (error) {
      // The reader reports damage when it reaches it, after the features before it.
      if (!(error instanceof GeoferryError)) throw error;
    }
    members = scanner.members;
  }
  const crs = await readCrsMember(members.crs, context);
  return { scanResult: { fileLayout: { ...found, members }, name: layerNameOf(members, source.name), crs }, scan };
}

function layerNameOf(members: TopLevelMembers, path: string): string {
  try {
    const name = members.name === undefined ? undefined : (JSON.parse(members.name) as unknown);
    if (typeof name === "string" && name.trim() !== "") return name;
  } catch {
    // Ignores a name that is not JSON; the layer keeps the file's name.
  }
  const file = path.split(/[/\\]/).at(-1)!;
  return file.replace(/\.[^.]*$/, "").replace(/\.geojsonl$/i, "") || file;
}

class GeoJsonLayer implements Layer {
  readonly name: string;
  readonly crs: Crs | null;
  readonly fields = null;
  readonly geometryTypes = null;
  readonly featureCount = null;
  readonly extent = null;
  readonly bytes: number;

  constructor(
    private readonly source: Source,
    private readonly file: SourceFile,
    private readonly options: Options,
    private readonly context: ReadContext,
    private readonly scanResult: GeoJsonScanResult,
    private readonly splitSize: number,
    /** The result of a scan of the whole file, if there was one, which spares further scans. */
    private known: FullScan | null,
  ) {
    this.name = scanResult.name;
    this.crs = scanResult.crs;
    this.bytes = file.size;
  }

  splits(): AsyncGenerator<FeatureSplit> {
    // Damage to be skipped may hide the end of a split.
    if (this.context.skipErrors || this.file.size < minSkippedBytes) return this.split();
    const finder = new SplitFinder(this.file, this.splitSize, new FeatureSkipper(silentReporter));
    return this.split((start, opens) => finder.end(start, opens));
  }

  /**
   * @param ends finds the end of a split without counting brackets
   * @param isSilent omits notices about members beside the features
   */
  private async *split(ends?: BracketScanSettings["ends"], isSilent = false): AsyncGenerator<FeatureSplit> {
    if (this.known) {
      yield* this.known.splits;
      if (!isSilent) this.noticeAround(this.known);
      return;
    }
    const { start, layout, mark } = this.scanResult.fileLayout;
    const { skipErrors } = this.context;
    const settings = { source: this.source.name, start, splitSize: this.splitSize, skipErrors, mark };
    const scanner = new BracketScanner(this.file, ends ? { ...settings, ends } : settings);
    const splits: FeatureSplit[] = [];
    const found =
      layout === "documents"
        ? scanner.documents()
        : layout === "values"
          ? scanner.values()
          : splitTexts(this.file, start, this.splitSize, layout);
    try {
      for await (const split of found) {
        splits.push(split);
        yield split;
      }
      const { foreign, surplusCommas, page } = scanner;
      this.known = { splits, foreign, surplusCommas, page };
    } catch (error) {
      if (!skipErrors || !(error instanceof GeoferryError) || error.kind !== "input") throw error;
      this.context.skipRange(this.restAfter(error));
    }
    if (!isSilent) this.noticeAround(scanner);
  }

  /** The range lost after damage to the text around the features, which locates them. */
  private restAfter({ details, message }: GeoferryError): SkippedRange {
    const { place = {}, reason = message } = details as { place?: Place; reason?: string };
    const { byte } = place;
    return { source: this.source.name, place, bytes: byte === undefined ? null : this.file.size - byte, reason };
  }

  /** Reports irregularities of the text around the features. */
  private noticeAround({ foreign, surplusCommas, page }: Pick<FullScan, "foreign" | "surplusCommas" | "page">): void {
    this.checkPage(page);
    if (surplusCommas > 0) this.context.reportNotice("extra-comma", undefined, trailingCommaMessage, surplusCommas);
    for (const name of foreign) {
      const isContent = !descriptiveMembers.has(name);
      if (isContent) this.context.reportLoss("foreign-member", name, "a member beside the features was left out");
      else this.context.reportNotice("foreign-member", name, "a member that describes the file was left out");
    }
  }

  /** @throws input-corrupt for an answer from which a service left features out */
  private checkPage({ isCut, matched, returned }: ServicePage): void {
    const { context } = this;
    if (matched !== null && returned !== null && returned < matched) {
      const example = `the file has ${groupDigits(returned)} of ${formatCount(matched, "feature")} that matched the request (numberReturned, numberMatched); get its other pages, too`;
      context.reportLoss("page-of-more", undefined, example, matched - returned);
    }
    if (isCut) refuseCutAnswer(this.source, context);
  }

  async prefetch(split: Split): Promise<Buffer | undefined> {
    const { start, bytes } = split as FeatureSplit;
    return bytes > maxChunkBytes ? undefined : this.file.read(start, bytes);
  }

  async *batches(split?: Split, fetched?: unknown): AsyncGenerator<Batch> {
    const passed = { records: 0, lines: 0 };
    for await (const current of split ? [split as FeatureSplit] : this.splits()) {
      const reader = this.reader(current, passed, this.context);
      yield* reader.batches(fetched as Buffer | undefined);
      passed.records = reader.records;
      passed.lines = reader.lines;
    }
    this.context.splitFinished(passed.records, passed.lines);
  }

  async *scanBatches(): AsyncGenerator<ScanBatch> {
    const { signal, skipErrors, keepsBadGeometries } = this.context;
    const silentContext = { ...silentReporter, signal, skipErrors, keepsBadGeometries, reject: () => undefined };
    const collector = new BatchCollector(silentContext, this.options.fid);
    const splitFinder = new SplitFinder(this.file, this.splitSize, collector);
    // Damage to be skipped may hide the end of a split.
    const splits = skipErrors ? this.split() : this.split((start, opens) => splitFinder.end(start, opens));
    for await (const current of splits) {
      signal.throwIfAborted();
      let { bytes } = current;
      const isRead = splitFinder.hasPassed(current);
      const found = isRead
        ? collector.batches
        : this.reader(current, { records: 0, lines: 0 }, silentContext).batches();
      for await (const batch of found) {
        yield { batch, bytes };
        bytes = 0;
      }
    }
  }

  async summary({
    unchangedExtent,
    isLimited,
    needsExtent,
    onBytesScanned,
  }: SummaryRequest): Promise<LayerSummary | null> {
    const { skipErrors } = this.context;
    const { layout } = this.scanResult.fileLayout;
    const isUsual = layout === "documents" || layout === "lines";
    if (skipErrors || isLimited || needsExtent || !isUsual || this.options.fid !== undefined) return null;
    const skim = new SchemaScan(this.file, this.splitSize, silentReporter, unchangedExtent, this.context.signal);
    const splits = this.split((start, opens) => skim.splitFinder.end(start, opens), true);
    return skim.summary(splits, onBytesScanned);
  }

  private reader(split: FeatureSplit, passed: SplitSettings["before"], listener: SplitContext): SplitReader {
    const { mark, layout, members } = this.scanResult.fileLayout;
    // In a FeatureCollection, the member of the collection applies.
    const crs = layout === "documents" ? undefined : members.crs;
    const settings = { source: this.source.name, mark, idField: this.options.fid, crs, before: { ...passed } };
    return new SplitReader(this.file, split, settings, listener);
  }
}
