/** Divides the features of a layer into classes by the values of a field, for colors. */
import { type BytesColumn, type Column, decodeUtf8, Presence } from "../../model/column.js";
import { Kind } from "../../model/geometry.js";
import { forEachBatch, type LayerData } from "../layer-data.js";
import { type Cell, cellAt, readRows } from "../table/read-rows.js";

/** `values`: a class for each of the most frequent values; `quantiles`: as many features in each class; `equal`: ranges of equal width; `own`: the colors that the features have. */
export const colorMethods = ["values", "quantiles", "equal", "own"] as const;
export type ColorMethod = (typeof colorMethods)[number];

export interface ColorChoice {
  /** Index of the field; ignored by `own`. */
  readonly field: number;
  readonly method: ColorMethod;
}

export interface ColorClass {
  readonly label: string;
  /** Number of features. */
  readonly count: number;
  /** For `own`: `#rrggbb`. */
  readonly color?: string;
}

export interface Classes {
  /** By the numbers of the classes. The last two are those of other values, and of features without a value. */
  readonly legend: readonly ColorClass[];
  /** The class of each feature. */
  readonly of: Uint8Array;
}

/** Classes of values and of numbers; colors beyond these are hard to tell apart. */
const maxValues = 9;
const numberClasses = 5;
/** Colors that features have themselves. */
const maxOwnColors = 200;
/** Values that are counted: with more, a field is not one of categories. */
const maxCounted = 100_000;

/** Classes that every legend ends with. */
const otherLabel = "other values";
const nullLabel = "no value";

export async function classify(data: LayerData, choice: ColorChoice): Promise<Classes> {
  if (choice.method === "own") return classifyColors(data);
  return choice.method === "values" ? classifyValues(data, choice.field) : classifyNumbers(data, choice);
}

function legendOf(classes: readonly Omit<ColorClass, "count">[], of: Uint8Array): Classes {
  const counts = new Float64Array(256);
  for (const one of of) counts[one]!++;
  const all = [...classes, { label: otherLabel }, { label: nullLabel }];
  return { legend: all.map((one, at) => ({ ...one, count: counts[at]! })), of };
}

/** Reads the value of a row of a batch; null if it has none. */
type ReadValue = (row: number) => Cell;

/** @returns the reader of the rows of a batch */
type OpenBatch = (batch: number) => ReadValue;

function classifyValues(data: LayerData, field: number): Promise<Classes> {
  const texts = new ShortTexts();
  return classifyFrequent(data, (batch) => valueReader(data.column(batch, field), texts), maxValues);
}

/** Maximum number of characters of a value by which classes are distinguished. */
const maxValueCharacters = 160;

function valueReader(column: Column | null, texts: ShortTexts): ReadValue {
  if (column === null) return () => null;
  return (row) =>
    column.type === "text" && column.presence[row] === Presence.value
      ? texts.read(column, row)
      : cellAt(column, row, maxValueCharacters);
}

/** Texts of at most six bytes are decoded once, since categories repeat them millions of times. */
class ShortTexts {
  private readonly known = new Map<number, string>();

  read(column: BytesColumn, row: number): string {
    const { bytes, offsets } = column;
    const [from, to] = [offsets[row]!, offsets[row + 1]!];
    if (to - from > 6) return String(cellAt(column, row, maxValueCharacters));
    // The length comes first: zeros can be part of a text. 51 bits are exact.
    let key = to - from;
    for (let k = from; k < to; k++) key = key * 256 + bytes[k]!;
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const text = decodeUtf8(bytes, from, to);
    this.known.set(key, text);
    return text;
  }
}

/**
 * Names that colors have in GeoJSON (simplestyle 1.1.0) and in what geoferry reads from KML: of points, and of lines and
 * areas.
 */
const colorFields = { points: ["marker-color", "icon-color"], others: ["stroke", "fill"] } as const;

/** Fields with colors by their names, those of points first. */
function findColorFields({ fields }: LayerData): readonly [points: readonly number[], others: readonly number[]] {
  const found = (names: readonly string[]) =>
    names.flatMap((name) => {
      const at = fields.findIndex((field) => field.name === name && field.type === "text");
      return at < 0 ? [] : [at];
    });
  const [points, others] = [found(colorFields.points), found(colorFields.others)];
  return [
    [...points, ...others],
    [...others, ...points],
  ];
}

function classifyColors(data: LayerData): Promise<Classes> {
  const [points, others] = findColorFields(data);
  const texts = new ShortTexts();
  const open: OpenBatch = (batch) => {
    const readers = new Map([...points].map((field) => [field, valueReader(data.column(batch, field), texts)]));
    const first = data.firstRows[batch]!;
    return (row) => {
      const fields = isPointKind(data.kinds[first + row]!) ? points : others;
      return fields.map((field) => colorOf(readers.get(field)!(row))).find((color) => color !== null) ?? null;
    };
  };
  return classifyFrequent(data, open, maxOwnColors);
}

const isPointKind = (kind: number): boolean => kind === Kind.Point || kind === Kind.MultiPoint;

/** Whether the first features have colors themselves. */
export function hasOwnColors(data: LayerData): boolean {
  const [fields] = findColorFields(data);
  if (fields.length === 0 || data.rows === 0) return false;
  return readRows(data, range(0, Math.min(data.rows, 1000)), fields).some(({ cells }) =>
    cells.some((cell) => colorOf(cell) !== null),
  );
}

async function classifyFrequent(data: LayerData, open: OpenBatch, most: number): Promise<Classes> {
  /** Different values, in the order of their first row, and how many features have each. */
  const numbers = new Map<Cell, number>();
  const counts: number[] = [];
  const numberOf = new Uint32Array(data.rows);
  await forEachBatch(data, (batch, firstRow, rows) => {
    const read = open(batch);
    for (let row = 0; row < rows; row++) {
      const value = read(row);
      let number = value === null ? noNumber : numbers.get(value);
      if (number === undefined) {
        number = numbers.size < maxCounted ? numbers.size : otherNumber;
        if (number !== otherNumber) numbers.set(value, number);
      }
      numberOf[firstRow + row] = number;
      if (number < maxCounted) counts[number] = (counts[number] ?? 0) + 1;
    }
  });
  const frequent = [...numbers]
    .sort(([a, one], [b, other]) => counts[other]! - counts[one]! || compareCells(a, b))
    .slice(0, most);
  // Numbers in their order; the most frequent categories first.
  if (frequent.every(([value]) => typeof value === "number")) frequent.sort(([a], [b]) => compareCells(a, b));
  const classOf = new Uint8Array(numbers.size).fill(frequent.length);
  frequent.forEach(([, number], at) => {
    classOf[number] = at;
  });
  const of = Uint8Array.from(numberOf, (number) =>
    number === noNumber ? frequent.length + 1 : (classOf[number] ?? frequent.length),
  );
  const isOwn = most === maxOwnColors;
  return legendOf(
    frequent.map(([value]) => ({ label: labelOf(value), ...(isOwn ? { color: String(value) } : {}) })),
    of,
  );
}

/** Stand for features without a value, and for values beyond those that are counted. */
const noNumber = 0xffff_ffff;
const otherNumber = noNumber - 1;

const range = (from: number, count: number): Uint32Array => Uint32Array.from({ length: count }, (_, at) => from + at);

const compareCells = (a: Cell, b: Cell): number =>
  typeof a === "number" && typeof b === "number" ? a - b : String(a) < String(b) ? -1 : 1;

const labelOf = (value: Cell): string => (value === "" ? "empty text" : String(value));

/** A color as styles have it: `#rgb` or `#rrggbb`. */
function colorOf(value: Cell): string | null {
  const [, digits] = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(String(value).trim()) ?? [];
  if (digits === undefined) return null;
  return `#${digits.length === 3 ? digits.replace(/./g, "$&$&") : digits}`.toLowerCase();
}

/** The finite number in a row; NaN if there is none. */
function numberAt(column: Column | null, row: number): number {
  if (!column || column.presence[row] !== Presence.value || !("values" in column)) return Number.NaN;
  const value = Number(column.values[row]);
  return Number.isFinite(value) ? value : Number.NaN;
}

async function classifyNumbers(data: LayerData, { field, method }: ColorChoice): Promise<Classes> {
  const numbers = new Float64Array(data.rows);
  await forEachBatch(data, (batch, firstRow, rows) => {
    const column = data.column(batch, field);
    for (let row = 0; row < rows; row++) numbers[firstRow + row] = numberAt(column, row);
  });
  const sorted = numbers.filter((value) => !Number.isNaN(value)).sort();
  const bounds = method === "equal" ? equalBounds(sorted) : quantileBounds(sorted);
  const classes = Math.max(0, bounds.length - 1);
  const of = new Uint8Array(data.rows);
  for (let row = 0; row < data.rows; row++) {
    const value = numbers[row]!;
    if (Number.isNaN(value)) of[row] = classes + 1;
    else {
      let one = 0;
      while (one < classes - 1 && value >= bounds[one + 1]!) one++;
      of[row] = one;
    }
  }
  return legendOf(labelRanges(bounds), of);
}

function equalBounds(sorted: Float64Array): number[] {
  if (sorted.length === 0) return [];
  const [least, greatest] = [sorted[0]!, sorted.at(-1)!];
  if (least === greatest) return [least, greatest];
  return Array.from({ length: numberClasses + 1 }, (_, at) => least + ((greatest - least) / numberClasses) * at);
}

/** Fewer classes if many numbers are equal. */
function quantileBounds(sorted: Float64Array): number[] {
  if (sorted.length === 0) return [];
  const bounds = Array.from(
    { length: numberClasses },
    (_, at) => sorted[Math.floor((at * sorted.length) / numberClasses)]!,
  );
  const distinct = [...new Set(bounds)];
  return [...distinct, sorted.at(-1)!];
}

/** A class has its lower bound, and all but the last one not its upper bound. */
function labelRanges(bounds: readonly number[]): { label: string }[] {
  const span = bounds.length === 0 ? 0 : bounds.at(-1)! - bounds[0]!;
  const text = (value: number) => formatBound(value, span);
  return bounds.slice(1).map((upper, at) => {
    const [from, to] = [text(bounds[at]!), text(upper)];
    return { label: from === to ? from : at === bounds.length - 2 ? `${from} to ${to}` : `${from} to below ${to}` };
  });
}

/** As many decimals as tell the classes apart. */
function formatBound(value: number, span: number): string {
  const magnitude = Math.floor(Math.log10(span / numberClasses || 1));
  const decimals = Number.isInteger(value) && magnitude >= 0 ? 0 : Math.max(0, Math.min(12, 2 - magnitude));
  return value.toLocaleString("en", { maximumFractionDigits: decimals });
}
