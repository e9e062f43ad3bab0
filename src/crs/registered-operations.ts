import type { Area } from "./area.js";

/** One registered operation between two datums, as the table has it. */
export interface RegisteredOperation {
  readonly source: string;
  readonly target: string;
  readonly code: string;
  readonly name: string;
  /** Metres, or null where EPSG does not know. */
  readonly accuracy: number | null;
  /** Its area is described as offshore: not for a position that another one serves as well. */
  readonly offshore: boolean;
  readonly area: Area | null;
  /** Metres, arc-seconds (position vector), ppm, then the pivot in metres; empty for one that needs a grid. */
  readonly values: readonly number[];
  readonly grid: string | null;
}

export const readArea = (cell: string): Area | null =>
  cell === "" ? null : (cell.split(",").map(Number) as [number, number, number, number]);

/** Of the lines in which `marked` stands, the first such place being where it must. */
export function operationsIn(text: string, marked: string): RegisteredOperation[] {
  const found: RegisteredOperation[] = [];
  for (let at = text.indexOf(marked); at >= 0; at = text.indexOf(marked, at + 1)) {
    const start = text.lastIndexOf("\n", at) + 1;
    const [source, target, code, name, accuracy, area, values] = text
      .slice(marked.startsWith("\n") ? at + 1 : start, text.indexOf("\n", at + 1))
      .split("|");
    if (!marked.includes(`|${target}|`)) continue;
    const grid = values!.startsWith("@") ? values!.slice(1) : null;
    found.push({
      source: source!,
      target: target!,
      code: code!,
      name: name!,
      accuracy: accuracy === "" || accuracy === "~" ? null : Number(accuracy!.replace("~", "")),
      offshore: accuracy!.endsWith("~"),
      area: readArea(area!),
      values: grid === null ? values!.split(",").map(Number) : [],
      grid,
    });
  }
  return found;
}

/** Metres, arc-seconds and ppm to which definitions round the numbers of an operation. */
const rounding: readonly number[] = [6e-3, 6e-3, 6e-3, 6e-4, 6e-4, 6e-4, 6e-3];

/** Whether two operations have the same numbers, as far as definitions tell them. */
export const sameShift = (a: readonly number[], b: readonly number[]): boolean =>
  b.length <= 7 && rounding.every((digit, index) => Math.abs((a[index] ?? 0) - (b[index] ?? 0)) <= digit);
