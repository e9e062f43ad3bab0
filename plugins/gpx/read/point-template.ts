import { parseNumber } from "../../shared/text/parse-number.js";
import { isSpace } from "../../shared/xml/bytes.js";
import { maxPairs, NumberPairScanner } from "../../shared/xml/number-pairs.js";
import type { XmlReader } from "../../shared/xml/reader.js";
import { XmlRecordTemplate } from "../../shared/xml/record-template.js";
import type { XmlTemplateBuilder } from "../../shared/xml/template-builder.js";
import { ElementCode } from "../elements.js";
import type { ValuePath } from "./paths.js";
import type { GpxVisitor } from "./visitor.js";

/** What a text of a waypoint, or of a point of a line, does, where nothing else than the tags around it tells. */
export interface PointSlotAction {
  readonly does: number;
  /** Of standard elements. */
  readonly index: number;
  readonly path: ValuePath | null;
}

export const PointSlotKind = { longitude: 0, latitude: 1, height: 2, standard: 3, unwanted: 4, extension: 5 } as const;

export const createSlotAction = (does: number, index = -1, path: ValuePath | null = null): PointSlotAction => ({
  does,
  index,
  path,
});

const longitudeAction = createSlotAction(PointSlotKind.longitude);
const latitudeAction = createSlotAction(PointSlotKind.latitude);

/** The height that a text says, NaN where it says none; what is no number is told. */
export function parseHeight(bytes: Buffer, from: number, to: number, visitor: GpxVisitor): number {
  const height = parseNumber(bytes, from, to);
  if (Number.isNaN(height) && to > from) visitor.badHeight();
  return height;
}

/** Points that are written one like the other, and what is taken down of the one that is read tag by tag. */
export class PointTemplate {
  readonly stencil = new XmlRecordTemplate<PointSlotAction>();
  private readonly pairs: NumberPairScanner<PointSlotAction>;
  /** The place of the point that was met last. */
  longitude = Number.NaN;
  latitude = Number.NaN;
  /** Its height, once it was repeated. */
  height = Number.NaN;

  constructor(
    private readonly reader: XmlReader,
    private readonly visitor: GpxVisitor,
    /** Whether these are points of lines, not waypoints. */
    private readonly ofLines: boolean,
  ) {
    this.pairs = new NumberPairScanner(visitor.wantsPlaces);
  }

  /** Whether a point comes next that is as one before, with a place that needs no second look. */
  meets(): boolean {
    const { reader, stencil } = this;
    if (!reader.fits(stencil)) return false;
    if (!this.visitor.wantsPlaces) return true;
    const { count, deeds, from, to } = stencil;
    this.longitude = this.latitude = Number.NaN;
    // Attributes stand first.
    for (let at = 0; at < count && deeds[at]!.does <= PointSlotKind.latitude; at++) {
      const number = parseNumber(reader.bytes, from[at]!, to[at]!);
      if (deeds[at]!.does === PointSlotKind.longitude) this.longitude = number;
      else this.latitude = number;
    }
    if (!Number.isNaN(this.longitude) && !Number.isNaN(this.latitude)) return true;
    reader.back();
    return false;
  }

  /** Gives the values of the point that was met to the visitor. */
  repeat(): void {
    const { visitor, ofLines, stencil } = this;
    const { bytes } = this.reader;
    const { count, deeds, from, to } = stencil;
    this.height = Number.NaN;
    for (let at = 0; at < count; at++) {
      const { does, index, path } = deeds[at]!;
      if (does <= PointSlotKind.latitude) continue;
      let start = from[at]!;
      let end = to[at]!;
      // A text in a CDATA section may have white space around it.
      while (start < end && isSpace(bytes[start]!)) start++;
      while (end > start && isSpace(bytes[end - 1]!)) end--;
      if (does === PointSlotKind.unwanted) visitor.standard(index, bytes, 0, 0);
      else if (does === PointSlotKind.height) this.height = parseHeight(bytes, start, end, visitor);
      else if (does === PointSlotKind.extension) {
        if (ofLines) visitor.pointExtension(path!, bytes, start, end);
        else visitor.extension(path!, bytes, start, end);
      } else if (ofLines) visitor.pointStandard(index, bytes, start, end);
      else visitor.standard(index, bytes, start, end);
    }
  }

  /** Gives the points of a line that follow the one met last to the visitor, where neither says more than its place. */
  repeatPlaces(): void {
    const { reader, visitor, stencil, pairs } = this;
    if (stencil.count !== 2 || !pairs.takes(stencil)) return;
    const { numbers } = pairs;
    const x = stencil.deeds[0]!.does === PointSlotKind.longitude ? 0 : 1;
    for (let count = maxPairs; count === maxPairs; ) {
      count = reader.follow(pairs);
      for (let k = 0; k < count && visitor.wantsPlaces; k++) {
        if (visitor.beginPoint(numbers[2 * k + x]!, numbers[2 * k + 1 - x]!)) visitor.endPoint(Number.NaN);
      }
    }
  }

  /** Right after a point's tag: what is taken down of it, null where no one wants to know. */
  begin(): XmlTemplateBuilder<PointSlotAction> | null {
    const { attributes, tokenFrom } = this.reader;
    this.stencil.begin(tokenFrom);
    const { draft } = this.stencil;
    if (!draft) return null;
    const x = attributes.indexOf(ElementCode.lon);
    const y = attributes.indexOf(ElementCode.lat);
    const places = [[x, longitudeAction] as const, [y, latitudeAction] as const];
    if (x < 0 || y < 0) draft.spoil();
    else
      for (const [index, deed] of x < y ? places : places.reverse()) {
        draft.text(deed, attributes.fromOf(index), attributes.toOf(index));
      }
    return draft;
  }

  /** Right after a point's end. */
  end(): void {
    this.stencil.end(this.reader.bytes, this.reader.tokenTo);
  }
}
