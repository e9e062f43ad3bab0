/** Finds the cells that make a column text although at least half of its cells have another type. */
import { quoteForShell } from "../../../../src/errors/shell-quote.js";
import { formatCount } from "../../../../src/format-count.js";
import type { FieldType } from "../../../../src/model/field.js";
import type { Notices } from "../header/first-record.js";

/** Text cells of a column after which it is text, unless at least half of its cells are others. */
const minTextCells = 100;
/** Values that a notice needs at least, and the number of them for each cell that is text. */
const [minValues, minValuesPerText] = [10, 2];
/** Longest cell that is kept as an example, in bytes. */
const maxExampleBytes = 40;

/** A code or label: "007", "+49170", "12a". */
const labelPattern = /^(\+\d[\d ]*|-?0\d+([.,]\d+)?|\d{16,}|\d+ ?[a-z])$/i;

/** The first text cell of a column. `line` is in the scanned records, from 1. */
interface TextCell {
  readonly line: number;
  readonly text: string;
}

/** The counts, as plain data. */
export interface TextOutliersState {
  readonly values: Uint32Array;
  readonly texts: Uint32Array;
  readonly closed: Uint8Array;
  readonly first: ReadonlyMap<number, TextCell>;
}

/** Counts the cells of columns that may be text because of a few cells. */
export class TextOutliers {
  /** Cells that are not blank, by column. */
  readonly values: Uint32Array;
  private readonly texts: Uint32Array;
  /** Columns that are text because of many cells, or of labels. */
  private readonly closed: Uint8Array;
  private readonly first = new Map<number, TextCell>();
  /** Counts before this part: the parts decide by themselves, so that the result does not depend on threads. */
  private readonly before: { readonly values: Uint32Array; readonly texts: Uint32Array };

  constructor(columns: number) {
    this.values = new Uint32Array(columns);
    this.texts = new Uint32Array(columns);
    this.closed = new Uint8Array(columns);
    this.before = { values: new Uint32Array(columns), texts: new Uint32Array(columns) };
  }

  get state(): TextOutliersState {
    const { values, texts, closed, first } = this;
    return { values, texts, closed, first };
  }

  /** Merges the state of the part that follows. @param lines number of lines before it */
  add(next: TextOutliersState, lines: number): void {
    for (let c = 0; c < this.values.length; c++) {
      this.values[c]! += next.values[c]!;
      this.texts[c]! += next.texts[c]!;
      if (next.closed[c] === 1) this.close(c);
    }
    for (const [column, { line, text }] of next.first) this.keep(column, { line: lines + line, text });
  }

  beginPart(): void {
    this.before.values.set(this.values);
    this.before.texts.set(this.texts);
  }

  /** Adds a cell of text. @param line in the scanned records, from 1 */
  addText(column: number, bytes: Uint8Array, from: number, to: number, line: number): void {
    this.texts[column]!++;
    if (this.closed[column] === 1) return;
    const texts = this.texts[column]! - this.before.texts[column]!;
    const values = this.values[column]! - this.before.values[column]!;
    if (to - from > maxExampleBytes || (texts > minTextCells && texts * minValuesPerText > values)) {
      this.close(column);
      return;
    }
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from)
      .toString("utf8")
      .trim();
    if (labelPattern.test(text)) this.close(column);
    else this.keep(column, { line, text });
  }

  isClosed(column: number): boolean {
    return this.closed[column] === 1;
  }

  /** Values and text cells of a column that is text because of some cells; null for other columns. */
  of(column: number): { readonly values: number; readonly texts: number; readonly first: TextCell } | null {
    const [values, texts, first] = [this.values[column]!, this.texts[column]!, this.first.get(column)];
    if (!first || this.closed[column] === 1) return null;
    return values >= minValues && texts * minValuesPerText <= values ? { values, texts, first } : null;
  }

  private keep(column: number, cell: TextCell): void {
    if (this.closed[column] === 0 && !this.first.has(column)) this.first.set(column, cell);
  }

  private close(column: number): void {
    this.closed[column] = 1;
    this.first.delete(column);
  }
}

/** A column that is text because of some cells. */
export interface OutlierColumn {
  readonly name: string;
  /** The type of its other cells. */
  readonly type: FieldType;
  /** Whether `--cast` reads the notation of the other cells. */
  readonly isCastable: boolean;
  readonly values: number;
  readonly texts: number;
  /** The first cell of text, with its line in the file. */
  readonly first: TextCell;
}

const typeWords: Readonly<Partial<Record<FieldType, string>>> = {
  boolean: "true or false",
  int32: "whole numbers",
  int64: "whole numbers",
  double: "numbers",
  date: "dates",
  time: "times",
  datetime: "dates with times",
};

export function outlierNotices(columns: readonly OutlierColumn[]): Notices {
  return columns.map(({ name, type, isCastable, values, texts, first }) => {
    const [verb, others, them] =
      texts === 1 ? ["is", "", "it"] : ["are", ` and ${formatCount(texts - 1, "other")}`, "them"];
    const cast = `--cast ${quoteForShell(`${name}=${type}`)} makes ${them} null`;
    const advice = isCastable
      ? cast
      : `correct ${them} in the file, or leave the ${texts === 1 ? "cell" : "cells"} empty`;
    const example = `${values - texts} of ${values} values are ${typeWords[type]}; ${JSON.stringify(first.text)} in line ${first.line}${others} ${verb} not, so the column is text; ${advice}`;
    return ["column-as-text", name, example, texts] as const;
  });
}
