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
/** Of so many different styles it is kept which ones a layer uses; with more, it counts as using all. */
const maxStyles = 1 << 16;

/** A piece of a layer. Plain data. */
export interface KmlSplit {
  readonly bytes: number;
  /** Where reading begins, null for the beginning of the document, where the encoding does not let it be cut. */
  readonly start: XmlPosition | null;
  readonly to: number;
  /** The containers that are open there. */
  readonly containers: readonly OpenContainer[];
  /** The index of the archive's entry that it is of, absent for the main document. */
  readonly entry?: number;
  /** Damage that is passed over in place of features, and told as a reject. */
  readonly gap?: Omit<Reject, "feature">;
  readonly [key: string]: unknown;
}

/** What a layer is, found by reading the document once. Plain data. */
export interface LayerPlan {
  readonly name: string;
  /** The folder whose features these are; undefined for all of the document. */
  readonly folder: string | undefined;
  readonly fields: readonly PlannedField[];
  readonly ids: ReturnType<FieldScan["ids"]>;
  /** Names of the fields of each Schema: a feature that has data by it and not this field has null there. */
  readonly declared: ReadonlyMap<string, readonly string[]>;
  readonly summary: LayerSummary;
  readonly rejects: number;
  readonly splits: readonly KmlSplit[];
  readonly metadata?: LayerMetadata;
}

/** Finds out what the features of one layer say together. */
export class LayerScan {
  readonly fields: FieldScan;
  readonly summariser = new Summarizer(false);
  readonly splits: KmlSplit[] = [];
  private readonly geometry = new GeometryBuilder();
  private waiting = 0;
  /** Shared styles that features name; null where there are too many to keep. */
  usedStyles: Set<string> | null = new Set();
  count = 0;
  rejects = 0;

  constructor(
    /** The folder whose features these are, its own name null outside of all; undefined for all of the document. */
    readonly folder: { readonly path: string; readonly name: string | null } | undefined,
    schemas: ReadonlyMap<string, DocumentSchema>,
    /** Features whose geometry cannot be read go on without it. */
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

  /** Ends the layer, with what the shared styles that it uses say. */
  finish(styles: StyleTable): void {
    this.sumUp();
    const used = this.usedStyles ? [...this.usedStyles].map((id) => styles.get(id)) : styles.all;
    this.fields.addStyles(new Set(used.filter((style) => style !== undefined)), this.count);
  }

  private sumUp(): void {
    if (this.waiting === 0) return;
    const geometry = this.geometry.finish();
    const nothing = { ids: null, fields: [], columns: [], recordNumbers: null, firstRecord: 1 };
    this.summariser.add(new Batch({ ...nothing, length: this.waiting, geometry }));
    this.waiting = 0;
    releaseBuffer(geometry.xy.buffer);
    this.geometry.reset();
  }
}
