import {
  Batch,
  GeometryBuilder,
  type LayerMetadata,
  type LayerSummary,
  type Reject,
  releaseBuffer,
  Summarizer,
} from "../../../src/model/index.js";
import type { XmlPosition } from "../../shared/xml/reader.js";
import type { OpenContainer } from "../read/document-visitor.js";
import type { FeatureRecord } from "../read/feature-record.js";
import { type DocumentSchema, FieldScan, type PlannedField } from "./field-scan.js";
import type { StyleTable } from "./style-table.js";

const batchRows = 1000;
/** The maximum number of styles that are recorded as used by a layer; with more, it counts as using all. */
const maxStyles = 1 << 16;

/** A split of a layer. Plain data. */
export interface KmlSplit {
  readonly bytes: number;
  /** The position where reading begins; null for a document whose encoding does not allow splits. */
  readonly start: XmlPosition | null;
  readonly to: number;
  /** The containers that are open at the start. */
  readonly containers: readonly OpenContainer[];
  /** The index of its document in the archive; absent for the main document. */
  readonly entry?: number;
  /** Damage that is skipped, and reported as a reject. */
  readonly gap?: Omit<Reject, "feature">;
  readonly [key: string]: unknown;
}

/** The result of scanning a layer. Plain data. */
export interface LayerPlan {
  readonly name: string;
  /** The folder of the layer; undefined for the whole document. */
  readonly folder: string | undefined;
  readonly fields: readonly PlannedField[];
  readonly ids: ReturnType<FieldScan["ids"]>;
  /** The names of the fields of each Schema: a feature with data of the Schema and no value for a field has null there. */
  readonly declared: ReadonlyMap<string, readonly string[]>;
  readonly summary: LayerSummary;
  readonly rejects: number;
  readonly splits: readonly KmlSplit[];
  readonly metadata?: LayerMetadata;
}

/** Collects statistics of the features of one layer. */
export class LayerScan {
  readonly fields: FieldScan;
  readonly summarizer = new Summarizer(false);
  readonly splits: KmlSplit[] = [];
  private readonly geometry = new GeometryBuilder();
  private waiting = 0;
  /** The shared styles that features refer to; null for too many. */
  usedStyles: Set<string> | null = new Set();
  count = 0;
  rejects = 0;

  constructor(
    /** The folder of the layer, whose name is null outside all folders; undefined for the whole document. */
    readonly folder: { readonly path: string; readonly name: string | null } | undefined,
    schemas: ReadonlyMap<string, DocumentSchema>,
    /** Whether features whose geometry cannot be read are kept without it. */
    private readonly keepsRows: boolean,
  ) {
    this.fields = new FieldScan(schemas);
  }

  add(record: FeatureRecord): void {
    this.count++;
    if (record.shapes.problem !== null && !this.keepsRows) {
      this.rejects++;
      return;
    }
    this.fields.add(record);
    record.shapes.write(this.geometry);
    if (++this.waiting === batchRows) this.sumUp();
  }

  useStyle(id: string): void {
    if (!this.usedStyles) return;
    this.usedStyles.add(id);
    if (this.usedStyles.size > maxStyles) this.usedStyles = null;
  }

  /** Ends the layer, and adds the properties of the shared styles that it uses. */
  finish(styles: StyleTable): void {
    this.sumUp();
    const used = this.usedStyles ? [...this.usedStyles].map((id) => styles.get(id)) : styles.all;
    this.fields.addStyles(new Set(used.filter((style) => style !== undefined)), this.count);
  }

  private sumUp(): void {
    if (this.waiting === 0) return;
    const geometry = this.geometry.finish();
    const nothing = { ids: null, fields: [], columns: [], recordNumbers: null, firstRecord: 1 };
    this.summarizer.add(new Batch({ ...nothing, length: this.waiting, geometry }));
    this.waiting = 0;
    releaseBuffer(geometry.xy.buffer);
    this.geometry.reset();
  }
}
