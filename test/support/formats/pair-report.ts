/** What a conversion between two formats keeps and loses of a layer that has each feature of the model once. */
import { basename, join } from "node:path";
import {
  type Batch,
  type FieldType,
  type GeometryColumn,
  geometryTypes,
  type Loss,
  Presence,
  temporalType,
  type Value,
  valueAt,
} from "../../../src/model/index.js";
import type { Format } from "../../../src/plugin/format.js";
import { readFile, TemporaryFolder, writeFile } from "../../../src/testing/index.js";
import { convertFile } from "../host.js";
import { keyField, pairLayer } from "./pair-layer.js";

/** Items of the layer before the conversion, and whether they are present afterwards. */
export interface KeptItems {
  readonly all: readonly string[];
  readonly kept: readonly string[];
}

export interface PairReport {
  readonly types: KeptItems;
  /** New types of fields whose type changed. */
  readonly retyped: ReadonlyMap<FieldType, FieldType>;
  readonly kinds: KeptItems;
  /** Geometry types whose features were rejected. */
  readonly rejectedKinds: readonly string[];
  /** "heights", "measures", "ids" */
  readonly rest: KeptItems;
  readonly losses: readonly Loss[];
  readonly notices: readonly Loss[];
}

interface Row {
  readonly batch: Batch;
  readonly row: number;
}

const noGeometry = "no geometry";

function cellOf({ batch, row }: Row, field: string): Value {
  const column = batch.columns[batch.fields.findIndex(({ name }) => name === field)];
  return column ? valueAt(column, row) : null;
}

async function rowsOf(format: Format, path: string): Promise<Row[]> {
  const layers = await readFile(format, path);
  return layers
    .flatMap(({ batches }) => batches)
    .flatMap((batch) => Array.from({ length: batch.length }, (_, row) => ({ batch, row })));
}

const kindOf = ({ batch, row }: Row): string => geometryTypes[batch.geometry.kinds[row]!] ?? noGeometry;

/** Finite heights or measures of a feature. */
function numbersOf(geometry: GeometryColumn, dimension: "z" | "m"): number {
  const own = [...(geometry[dimension] ?? [])].slice(0, geometry.xy.length / 2).filter(Number.isFinite).length;
  return own + (geometry.members ? numbersOf(geometry.members, dimension) : 0);
}
const dimensionOf = ({ batch, row }: Row, dimension: "z" | "m") =>
  numbersOf(batch.take(Uint32Array.of(row)).geometry, dimension);

/** Countable items of a feature besides values and shape. */
const others: Readonly<Record<string, (row: Row) => number>> = {
  heights: (row) => dimensionOf(row, "z"),
  measures: (row) => dimensionOf(row, "m"),
  ids: ({ batch, row }) => Number(batch.ids?.presence[row] === Presence.value),
};

function collectKept(before: readonly (readonly [thing: string, same: boolean])[]): KeptItems {
  const lost = new Set(before.filter(([, same]) => !same).map(([thing]) => thing));
  const all = [...new Set(before.map(([thing]) => thing))];
  return { all, kept: all.filter((thing) => !lost.has(thing)) };
}

type Pairs = readonly (readonly [Row, Row | undefined])[];

/** The types of fields with values, and their new types; text that is detected as a date counts as unchanged. */
function typesOf(pairs: Pairs, renamed: ReadonlyMap<string, string>): Pick<PairReport, "types" | "retyped"> {
  const found: [FieldType, boolean][] = [];
  const retyped = new Map<FieldType, FieldType>();
  for (const [before, after] of pairs) {
    for (const { name, type } of before.batch.fields) {
      const value = cellOf(before, name);
      const other = after?.batch.fields.find((field) => field.name === (renamed.get(name) ?? name))?.type;
      if (value === null || other === undefined) continue;
      const same = other === type || (type === "text" && temporalType(String(value)) === other);
      found.push([type, same]);
      if (!same) retyped.set(type, other);
    }
  }
  return { types: collectKept(found), retyped };
}

function othersKept(pairs: Pairs): KeptItems {
  const found: [string, boolean][] = [];
  for (const [before, after] of pairs) {
    if (!after) continue;
    for (const [thing, count] of Object.entries(others)) {
      if (count(before) > 0) found.push([thing, count(after) === count(before)]);
    }
  }
  return collectKept(found);
}

/** The losses of several files, without repetitions. */
const firstOfEach = (list: readonly Loss[]): Loss[] => [
  ...new Map(list.map((loss) => [JSON.stringify([loss.code, loss.field]), loss])).values(),
];

const quoted = /^"(.*)" became "(.*?)"(?:, since .*)?$/s;

/** Writes the layer as `from`, converts it to `to`, and compares both as read. */
export async function pairReport(from: Format, to: Format): Promise<PairReport> {
  const scratch = new TemporaryFolder();
  try {
    const before: Row[] = [];
    const after: Row[] = [];
    const losses: Loss[] = [];
    const notices: Loss[] = [];
    for (const { path } of await writeFile(from, scratch.folder, pairLayer(), { name: "layer" })) {
      before.push(...(await rowsOf(from, path)));
      const output = join(scratch.folder, `to-${basename(path).replace(/\..*$/, "")}.${to.extensions[0]}`);
      const report = await convertFile(path, output, {
        from: from.id,
        to: to.id,
        ...(from.id === "csv" ? { sourceCrs: "EPSG:4326" } : {}),
      });
      for (const written of report.outputs) after.push(...(await rowsOf(to, written.path)));
      losses.push(...report.losses);
      notices.push(...report.notices);
    }
    const renamed = new Map(
      losses.flatMap(({ code, field, example }) => {
        const match = code === "field-renamed" ? quoted.exec(example) : null;
        return match ? [[field!, match[2]!] as const] : [];
      }),
    );
    const byKey = new Map(after.map((row) => [Number(cellOf(row, renamed.get(keyField) ?? keyField)), row]));
    const pairs = before.map((row) => [row, byKey.get(Number(cellOf(row, keyField)))] as const);
    return {
      ...typesOf(pairs, renamed),
      kinds: collectKept(pairs.map(([a, b]) => [kindOf(a), b !== undefined && kindOf(a) === kindOf(b)])),
      rejectedKinds: [...new Set(pairs.filter(([, b]) => !b).map(([a]) => kindOf(a)))],
      rest: othersKept(pairs),
      losses: firstOfEach(losses),
      notices: firstOfEach(notices),
    };
  } finally {
    scratch.remove();
  }
}
