import {
  type Batch,
  type Column,
  type Field,
  type FieldType,
  Kind,
  type KindSummary,
  Presence,
  Summariser,
  type SummaryState,
} from "../../src/model/index.js";
import { isOneFamily } from "../shared/kind-families.js";
import { Coordinates } from "./coordinates.js";
import { FeatureParser, type Teller } from "./feature-parser.js";
import { Stencils } from "./feature-stencil.js";
import { JsonCursor, Token } from "./json-cursor.js";
import { Properties } from "./properties.js";
import { RawColumn } from "./raw-column.js";
import { type FieldState, Unclear, ValueFacts } from "./value-facts.js";

/** Features that must be parsed cost more here than in a reading: so many, and one in so many, are worth it. */
const fewParsed = 64;
const parsedShare = 16;
const mostFields = 2048;

const newKind = (): KindSummary => ({
  count: 0,
  hasZ: false,
  hasM: false,
  box: [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY],
});

/** Where a field was met first. */
interface Met {
  readonly record: number;
  readonly place: number;
}

/**
 * Sums up features without making anything of them: of their values it looks at types and sizes, of their coordinates
 * at how many numbers a position has. Only features that are written as others were are skimmed (`Stencils`); the
 * few others are parsed. Gives up (`Unclear`) wherever a reading could come to another sum.
 */
export class FeatureSkimmer {
  readonly cursor = new JsonCursor();
  private readonly properties = new Properties();
  private readonly ids = new RawColumn("id", new Uint8Array(0));
  private readonly coordinates = new Coordinates();
  private readonly stencils = new Stencils(this.cursor, this.properties, this.ids, this.coordinates, true);
  /** Of the columns of `properties`, in their order. */
  private readonly facts: ValueFacts[] = [];
  private readonly idFacts = new ValueFacts("id");
  private readonly kinds = Array.from({ length: 8 }, newKind);
  private records = 0;
  /** For the features that are not skimmed. */
  private readonly parser: FeatureParser;
  private readonly summariser = new Summariser(true);
  private readonly met = new Map<string, Met>();
  private parsed = 0;

  /** @param points whether points may be summed up; if not, one is enough to give up */
  constructor(
    teller: Teller,
    private readonly points: boolean,
  ) {
    const refuse = () => {
      throw new Unclear();
    };
    this.parser = new FeatureParser(teller, refuse, undefined);
  }

  load(bytes: Buffer): void {
    this.cursor.load(bytes);
    this.parser.load(bytes);
  }

  /** Looks at the feature at the cursor. @throws Damage where it is no JSON, and is not counted then; Unclear */
  read(): void {
    const { cursor } = this;
    const start = cursor.at;
    if (cursor.bytes[start] === 123 && this.stencils.read(0) && this.isOfItsKind()) {
      this.add();
      return;
    }
    this.properties.clear(0);
    this.properties.forgetRepeated();
    this.ids.clear(0);
    cursor.at = start;
    this.parse(start);
  }

  /** Whether the coordinates skimmed are those of a point where they should be. */
  private isOfItsKind(): boolean {
    return (this.stencils.kind === Kind.Point) === this.coordinates.isPosition;
  }

  private add(): void {
    const { stencils, properties, facts, ids, idFacts, cursor } = this;
    const { bytes } = cursor;
    const valid = this.parser.isUtf8;
    const { count } = properties;
    if (properties.repeated.length > 0 || count > mostFields) throw new Unclear();
    this.records++;
    for (let c = 0; c < count; c++) {
      const column = properties.columnAt(c);
      const token = column.tokenAt(0);
      if (c === facts.length) facts.push(new ValueFacts(column.name));
      if (token === Token.absent) continue;
      const values = facts[c]!;
      if (values.first === 0) values.first = this.records;
      values.add(token, bytes, column.startAt(0), column.endAt(0), valid);
      column.clear(0);
    }
    if (stencils.hasId) {
      idFacts.add(ids.tokenAt(0), bytes, ids.startAt(0), ids.endAt(0), valid);
      ids.clear(0);
    }
    this.addGeometry(this.kinds[stencils.kind]!);
  }

  private addGeometry(kind: KindSummary): void {
    const { coordinates, stencils } = this;
    kind.count++;
    if (stencils.kind !== Kind.Point) {
      kind.hasZ ||= stencils.dimensions > 2;
      return;
    }
    if (!this.points) throw new Unclear();
    kind.hasZ ||= coordinates.hasZ;
    const { box } = kind;
    const x = coordinates.xy[0]!;
    const y = coordinates.xy[1]!;
    if (x < box[0]) box[0] = x;
    if (y < box[1]) box[1] = y;
    if (x > box[2]) box[2] = x;
    if (y > box[3]) box[3] = y;
  }

  private parse(start: number): void {
    const { cursor, parser } = this;
    if (++this.parsed > fewParsed + this.records / parsedShare) throw new Unclear();
    parser.records = this.records;
    parser.cursor.at = start;
    parser.read(false);
    this.records++;
    cursor.at = parser.cursor.at;
    if (parser.isPlain) this.stencils.learn(start);
    if (parser.full) this.addParsed();
  }

  private addParsed(): void {
    const batch = this.parser.finish();
    if (!batch) return;
    batch.fields.forEach((field, place) => {
      this.meet(field, place, batch.columns[place]!, batch);
    });
    this.summariser.add(batch);
  }

  private meet({ name }: Field, place: number, { presence }: Column, batch: Batch): void {
    if (this.met.has(name)) return;
    const row = presence.findIndex((what) => what !== Presence.absent);
    this.met.set(name, { record: batch.recordAt(row), place });
  }

  /** To be called before other bytes are loaded. @throws Unclear as soon as there is a second kind of layer */
  settle(): void {
    this.addParsed();
    const counts = this.kinds.map(({ count }, kind) => count + this.summariser.state.kinds[kind]!.count);
    if (!isOneFamily(counts) || (counts[Kind.Point]! > 0 && !this.points)) throw new Unclear();
  }

  /** What all features say together, as a Summariser says it; boxes are those of points alone. @throws Unclear */
  state(): SummaryState {
    const fields = new Map(this.facts.map((facts) => [facts.name, facts.state]));
    const places = new Map(this.met);
    this.facts.forEach(({ name, first }, place) => {
      const record = places.get(name)?.record ?? Number.POSITIVE_INFINITY;
      if (first > 0 && first < record) places.set(name, { record: first, place });
    });
    const parsed = this.summariser.state;
    const names = [...places].sort(([, a], [, b]) => a.record - b.record || a.place - b.place);
    const whole = new Summariser(true);
    whole.merge({
      fields: new Map(names.map(([name]) => [name, fields.get(name) ?? nothing()])),
      kinds: this.kinds,
      idType: this.idFacts.state.type,
      idBytes: this.idFacts.state.maxBytes,
    });
    for (const [name, { type }] of parsed.fields) checkTogether(fields.get(name)?.type ?? null, type);
    checkTogether(this.idFacts.state.type, parsed.idType);
    whole.merge(parsed);
    const { kinds } = whole.state;
    if (kinds.some(({ count }, kind) => kind > Kind.Point && count > 0)) forgetBoxes(kinds);
    return whole.state;
  }
}

const nothing = (): FieldState => {
  const none = { type: null, width: undefined, decimals: undefined, temporal: undefined };
  return { ...none, values: 0, maxBytes: 0 };
};

function forgetBoxes(kinds: KindSummary[]): void {
  for (const kind of kinds) kind.box = newKind().box;
}

/** Values of these types, which may stand side by side, are of a type that holds them one by one. @throws Unclear */
function checkTogether(a: FieldType | null, b: FieldType | null): void {
  if (a === null || b === null || a === b) return;
  const both = [a, b];
  const isNumber = both.every((type) => type === "int32" || type === "int64" || type === "double");
  if (!isNumber || (both.includes("int64") && both.includes("double"))) throw new Unclear();
}
