import { fault } from "../../src/errors.js";
import { type Field, type FieldType, fieldTypes } from "../../src/model/index.js";
import type { ReadContext, SourceFile } from "../../src/plugin/format.js";
import { Token, type XmlName, XmlReader, type XmlStart } from "../shared/xml.js";
import { coordinateField, Gpx, gpxTypeField, linksField, standardFields, vocabulary } from "./elements.js";
import type { Path } from "./paths.js";
import { fittingType, formOf, guessedType } from "./value-forms.js";
import { GpxWalker, type Visitor } from "./walker.js";

/** A piece of the file between two features. */
export interface GpxSplit {
  readonly [key: string]: unknown;
  readonly bytes: number;
  readonly from: number;
  readonly to: number;
  /** Features of each kind in it. */
  readonly counts: readonly [number, number, number];
}

/** A field of a layer. */
export interface GpxField extends Field {
  /** Some feature has the element more than once: the values of each are an array. */
  readonly repeated: boolean;
}

/** What a reading of the whole file tells; plain data that other threads get. */
export interface Survey {
  /** Where a reader begins that is to read a split, null where there is no feature. */
  readonly start: XmlStart | null;
  readonly splits: readonly GpxSplit[];
  readonly counts: readonly [number, number, number];
  /** The fields of each kind of feature, and of all together, in the order of the schema and of their appearance. */
  readonly fields: readonly (readonly GpxField[])[];
  /** The name in the metadata, empty where there is none. */
  readonly name: string;
  /** Elements of the metadata that no feature has a place for. */
  readonly metadata: readonly string[];
}

interface Facts {
  forms: number;
  repeated: boolean;
  own: boolean;
  /** The feature that had it last. */
  seen: number;
}

/** Reads the whole file once: which fields there are and of which types, and where features begin. */
export async function survey(
  file: SourceFile,
  source: string,
  context: ReadContext,
  splitSize: number,
): Promise<Survey> {
  const reader = new XmlReader(file, { source, context, vocabulary });
  const surveyor = new Surveyor(reader, splitSize);
  const notGpx = (name: string) =>
    fault("input-corrupt", { source, place: {}, reason: `it is no GPX: its outermost element is <${name}>` });
  const walker = new GpxWalker(reader, surveyor, { notGpx });
  for (let token = walker.walk(); token !== Token.end; token = walker.walk()) {
    if (token === Token.more) await reader.fill();
  }
  reader.report();
  if (reader.damage) context.notice("container-damaged", undefined, reader.damage.message);
  if (walker.surplus > 0) {
    const example = "extensions of more than 2048 kinds were left out";
    context.lose("extension-left-out", undefined, example, walker.surplus);
  }
  return surveyor.result();
}

class Surveyor implements Visitor {
  private start: XmlStart | null = null;
  private readonly splits: GpxSplit[] = [];
  private counts: [number, number, number] = [0, 0, 0];
  private splitCounts: [number, number, number] = [0, 0, 0];
  private splitFrom = -1;
  private readonly facts: Map<string, Facts>[] = [new Map(), new Map(), new Map()];
  private readonly byPath: (Facts | undefined)[][] = [[], [], []];
  private readonly standards: (Facts | undefined)[][] = [[], [], []];
  private readonly links = [false, false, false];
  private readonly pointValues = [false, false, false];
  private readonly declared = new Map<string, FieldType>();
  private readonly left = new Set<string>();
  private name = "";
  private kind = 0;
  private features = 0;
  private lastEnd = 0;

  constructor(
    private readonly reader: XmlReader,
    private readonly splitSize: number,
  ) {}

  root(): void {
    this.start = this.reader.childStart();
  }

  begin(kind: number): boolean {
    const { reader } = this;
    const { byte } = reader;
    if (this.splitFrom < 0) {
      this.splitFrom = byte;
    } else if (byte - this.splitFrom >= this.splitSize && reader.splittable) this.endSplit(byte);
    this.kind = kind;
    this.features++;
    return true;
  }

  private endSplit(to: number): void {
    const { splitFrom: from, splitCounts: counts } = this;
    this.splits.push({ bytes: to - from, from, to, counts });
    this.splitFrom = to;
    this.splitCounts = [0, 0, 0];
  }

  standard(index: number): void {
    const of = this.standards[this.kind]!;
    of[index] ??= this.factsOf(standardFields[index]!.name, false);
    const { content } = this.reader;
    if (content.end > content.start) this.value(of[index]);
  }

  extension(path: Path): void {
    this.value(this.factsOfPath(path));
  }

  attribute(path: Path, value: string): void {
    const { content } = this.reader;
    content.begin();
    content.addText(value, "");
    this.value(this.factsOfPath(path));
    content.drop();
  }

  private factsOfPath(path: Path): Facts {
    const of = this.byPath[this.kind]!;
    of[path.index] ??= this.factsOf(path.name, path.own);
    return of[path.index]!;
  }

  private factsOf(name: string, own: boolean): Facts {
    const facts = this.facts[this.kind]!;
    let known = facts.get(name);
    if (!known) {
      known = { forms: 0, repeated: false, own, seen: 0 };
      facts.set(name, known);
    }
    return known;
  }

  private value(facts: Facts): void {
    const { content } = this.reader;
    const { start, end } = content;
    if (end > start) facts.forms |= formOf(content.bytes, start, end);
    if (facts.seen === this.features) facts.repeated = true;
    facts.seen = this.features;
  }

  link(): void {
    this.links[this.kind] = true;
  }

  geometryType(): void {}
  segment(): void {}

  beginPoint(): boolean {
    return !this.pointValues[this.kind];
  }

  pointStandard(): void {
    this.pointValues[this.kind] = true;
  }

  pointExtension(): void {
    this.pointValues[this.kind] = true;
  }

  pointAttribute(): void {
    this.pointValues[this.kind] = true;
  }

  pointLink(): void {
    this.pointValues[this.kind] = true;
  }

  endPoint(): void {}
  badHeight(): void {}

  end(): void {
    this.counts[this.kind]!++;
    this.splitCounts[this.kind]!++;
    this.reader.content.clear();
    this.lastEnd = this.reader.byteAfter;
  }

  declaration(name: string, type: string): void {
    const known = fieldTypes.find((each) => each === type);
    if (known) this.declared.set(name, known);
  }

  metadata(name: XmlName): void {
    if (name.local === "name" && this.name === "") this.name = this.reader.content.text();
    else if (name.local !== "name" && name.local !== "time" && name.local !== "bounds") this.left.add(name.local);
  }

  result(): Survey {
    if (this.splitFrom >= 0 && this.lastEnd > this.splitFrom) this.endSplit(this.lastEnd);
    return {
      start: this.start,
      splits: this.splits,
      counts: this.counts,
      fields: [[Gpx.wpt], [Gpx.rte], [Gpx.trk], [Gpx.wpt, Gpx.rte, Gpx.trk]].map((kinds) => this.fieldsOf(kinds)),
      name: this.name,
      metadata: [...this.left],
    };
  }

  private fieldsOf(kinds: readonly number[]): GpxField[] {
    const facts = this.factsOfKinds(kinds);
    const fields: GpxField[] = [{ name: gpxTypeField, type: "text", repeated: false }];
    const add = (name: string, type: FieldType, repeated = false) => {
      if (!fields.some((field) => field.name === name)) fields.push({ name, type, repeated });
    };
    for (const { name, type } of standardFields) {
      const known = facts.get(name);
      if (known) add(name, fittingType(known.forms, known.own ? (this.declared.get(name) ?? "text") : type));
    }
    if (kinds.some((kind) => this.links[kind])) add(linksField, "json");
    for (const [name, { forms, repeated, own }] of facts) {
      const declared = own ? this.declared.get(name) : undefined;
      const type = declared ? fittingType(forms, declared) : guessedType(forms);
      if (name !== coordinateField) add(name, repeated ? "json" : type, repeated);
    }
    if (facts.has(coordinateField) || kinds.some((kind) => this.pointValues[kind])) add(coordinateField, "json");
    return fields;
  }

  private factsOfKinds(kinds: readonly number[]): Map<string, Facts> {
    const united = new Map<string, Facts>();
    for (const kind of kinds) {
      for (const [name, facts] of this.facts[kind]!) {
        const known = united.get(name);
        if (!known) united.set(name, { ...facts });
        else {
          known.forms |= facts.forms;
          known.repeated ||= facts.repeated;
          known.own &&= facts.own;
        }
      }
    }
    return united;
  }
}
