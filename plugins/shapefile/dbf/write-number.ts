import { TextBuffer } from "../../shared/text/text-buffer.js";

/** How a number was written to a cell; `false` if it does not fit. */
export type NumberWriteResult = "exact" | "rounded" | false;

/** Writes a 32-bit integer that ends before `end`; returns false if it has more than `width` characters. */
export function writeInteger(value: number, target: Uint8Array, end: number, width: number): boolean {
  let at = end;
  let rest = value < 0 ? -value : value;
  const start = end - width;
  do {
    if (at === start) return fillBlanks(target, at, end);
    const tenth = Math.floor(rest / 10);
    target[--at] = 48 + rest - tenth * 10;
    rest = tenth;
  } while (rest > 0);
  if (value < 0) {
    if (at === start) return fillBlanks(target, at, end);
    target[at - 1] = 45;
  }
  return true;
}

function fillBlanks(target: Uint8Array, from: number, to: number): false {
  target.fill(32, from, to);
  return false;
}

function writeText(text: string, target: Uint8Array, end: number): void {
  const at = end - text.length;
  for (let i = 0; i < text.length; i++) target[at + i] = text.charCodeAt(i);
}

/** A number's shortest exact text without an exponent: `1.5e-7` as `0.00000015`. */
export function expandExponent(text: string): string {
  const parts = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (!parts) return text;
  const [, sign, whole, fraction = "", power] = parts;
  const digits = whole! + fraction;
  const point = whole!.length + Number(power);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  if (point >= digits.length) return sign! + digits + "0".repeat(point - digits.length);
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

const shortestText = new TextBuffer(64);

/** The exact texts of a double, the most readable first. */
const exactForms: readonly ((text: string, value: number) => string)[] = [
  (text) => (text.includes("e") ? expandExponent(text) : text),
  (_, value) => value.toExponential().replace("e+", "e"),
  (text) => expandExponent(text).replace(/^(-?)0\./, "$1."),
];

/**
 * Writes a number as text that ends before `end`. Prefers the shortest text that reads as the same number, without an
 * exponent if possible; if it does not fit the width, rounds to the decimals that fit; if that does not fit either,
 * writes nothing.
 */
export function writeNumber(
  value: number | bigint,
  target: Uint8Array,
  end: number,
  cell: { readonly width: number; readonly decimals: number },
): NumberWriteResult {
  const { width } = cell;
  if (typeof value === "number" && cell.decimals > 0 && Math.abs(value) >= 1e-6 && Math.abs(value) < 1e15) {
    shortestText.number(value);
    if (shortestText.length <= width) {
      shortestText.moveTo(target, end);
      return "exact";
    }
    shortestText.length = 0;
  }
  const text = String(value);
  if (typeof value === "bigint") {
    if (text.length > width) return false;
    writeText(text, target, end);
    return "exact";
  }
  if (!Number.isFinite(value)) return false;
  // All readers treat a column without decimals as integers, so it must hold neither a fraction nor an exponent.
  const whole = cell.decimals === 0;
  for (const form of exactForms) {
    const written = form(text, value);
    if (written.length > width || (whole && /[.e]/.test(written))) continue;
    writeText(written, target, end);
    return "exact";
  }
  for (let decimals = Math.min(cell.decimals, width); decimals >= 0; decimals--) {
    const fixed = value.toFixed(decimals);
    if (fixed.length > width || fixed.includes("e")) continue;
    writeText(fixed, target, end);
    return "rounded";
  }
  return false;
}
