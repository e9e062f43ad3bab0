import type { Area } from "../area.js";

/** A registered operation between two datums, as in the table. */
export interface RegisteredOperation {
  readonly source: string;
  readonly target: string;
  readonly code: string;
  readonly name: string;
  /** Metres, or null where EPSG does not know. */
  readonly accuracy: number | null;
  /** Whether its area is described as offshore; other operations take precedence. */
  readonly offshore: boolean;
  readonly area: Area | null;
  /** Metres, arc-seconds (position vector), ppm, then the pivot in metres; empty for any other. */
  readonly values: readonly number[];
  /** Grid files with alternatives, first the one that PROJ publishes; empty if it needs none. */
  readonly grids: readonly GridChoice[];
  /** A grid in a format that geoferry does not read. */
  readonly unsupportedGrid: string | null;
  /** Arc-seconds that are added to longitude and latitude; null for any other. */
  readonly offset: LongitudeLatitudeOffset | null;
  /** The codes of its steps; empty for a single step. */
  readonly steps: readonly StepCode[];
}

export type LongitudeLatitudeOffset = readonly [longitude: number, latitude: number];

export interface GridChoice {
  readonly file: string;
  /** Whether the file has the shifts of the inverse operation. */
  readonly inverse: boolean;
}

export interface StepCode {
  readonly code: string;
  readonly inverse: boolean;
}

/** Whether the operation is a geocentric shift defined by its values. */
export const hasShiftValues = ({ values }: RegisteredOperation): boolean => values.length > 0;

/** A prefix `-` means the inverse. */
const parseDirection = (text: string): { name: string; inverse: boolean } =>
  text.startsWith("-") ? { name: text.slice(1), inverse: true } : { name: text, inverse: false };

/** The last cell of a line: numbers, `@` files, `#` a grid that is not read, `+` an offset, `&` codes of steps. */
function parseOperationCell(
  cell: string,
): Pick<RegisteredOperation, "values" | "grids" | "unsupportedGrid" | "offset" | "steps"> {
  const way = { values: [], grids: [], unsupportedGrid: null, offset: null, steps: [] };
  const rest = cell.slice(1);
  switch (cell[0]) {
    case "@": {
      const files = rest.split(";").map(parseDirection);
      return { ...way, grids: files.map(({ name: file, inverse }) => ({ file, inverse })) };
    }
    case "#":
      return { ...way, unsupportedGrid: rest };
    case "+": {
      const [longitude, latitude] = rest.split(",").map(Number) as [number, number];
      return { ...way, offset: [longitude, latitude] };
    }
    case "&": {
      const steps = rest.split(",").map(parseDirection);
      return { ...way, steps: steps.map(({ name: code, inverse }) => ({ code, inverse })) };
    }
    default:
      return { ...way, values: cell.split(",").map(Number) };
  }
}

/** Metres. EPSG writes 999 where it is unknown, or nothing; `~` marks an area offshore. */
const parseAccuracy = (cell: string): number | null => {
  const metres = cell.replace("~", "");
  return metres === "" || metres === "999" ? null : Number(metres);
};

export const parseArea = (cell: string): Area | null =>
  cell === "" ? null : (cell.split(",").map(Number) as [number, number, number, number]);

/**
 * Of the lines in which `marked` stands.
 * @param belongs whether it stands there where it must, by the first cells: source, target, code
 */
export function findOperationLines(
  text: string,
  marked: string,
  belongs: (source: string, target: string, code: string) => boolean,
): RegisteredOperation[] {
  const found: RegisteredOperation[] = [];
  for (let at = text.indexOf(marked); at >= 0; at = text.indexOf(marked, at + 1)) {
    const start = marked.startsWith("\n") ? at + 1 : text.lastIndexOf("\n", at) + 1;
    const [source, target, code, name, accuracy, area, values] = text
      .slice(start, text.indexOf("\n", at + 1))
      .split("|");
    if (!belongs(source!, target!, code!)) continue;
    found.push({
      source: source!,
      target: target!,
      code: code!,
      name: name!,
      accuracy: parseAccuracy(accuracy!),
      offshore: accuracy!.endsWith("~"),
      area: parseArea(area!),
      ...parseOperationCell(values!),
    });
  }
  return found;
}

/** Metres, arc-seconds and ppm to which definitions round the numbers of an operation. */
const shiftTolerances: readonly number[] = [6e-3, 6e-3, 6e-3, 6e-4, 6e-4, 6e-4, 6e-3];

/** Whether two shifts have the same values, within the rounding of definitions. */
export const isSameShift = (a: readonly number[], b: readonly number[]): boolean =>
  b.length <= 7 && shiftTolerances.every((digit, index) => Math.abs((a[index] ?? 0) - (b[index] ?? 0)) <= digit);
