/** Filters the features of a layer in the language of docs/where.md. */
import { createError } from "../../errors.js";
import { Batch } from "../../model/batch.js";
import type { Field } from "../../model/field.js";
import type { GeometryColumn } from "../../model/geometry.js";
import { TruthValue } from "../../stages/where/compare.js";
import { compile } from "../../stages/where/compile.js";
import { fieldsMeantAsValues, parseExpression, referencedFields } from "../../stages/where/parse.js";
import { forEachBatch, type LayerData } from "../layer-data.js";

export interface Filtered {
  /** In order. */
  readonly rows: Uint32Array;
  /** One for each feature of the layer: 1 if it is among the rows. */
  readonly bits: Uint8Array;
}

const nothing = new Uint32Array(0);

/** Only kinds are there: a condition can ask for no more of a geometry. */
const geometryOfKinds = (kinds: Uint8Array): GeometryColumn => ({
  length: kinds.length,
  kinds,
  partOffsets: nothing,
  ringOffsets: nothing,
  positionOffsets: nothing,
  xy: new Float64Array(0),
  z: null,
  m: null,
  boxes: null,
  members: null,
  memberOffsets: null,
});

/** @throws expression-invalid, field-missing, usage */
export async function filterRows(data: LayerData, where: string): Promise<Filtered> {
  const expression = parseExpression(where);
  const wanted = referencedFields(where).map((name) => {
    const field = data.fields.findIndex((one) => one.name === name);
    if (field < 0) throw missingField(data, where, name);
    return field;
  });
  const bits = new Uint8Array(data.rows);
  let count = 0;
  await forEachBatch(data, (batch, firstRow, rows) => {
    const test = compile(expression, partOfBatch(data, batch, firstRow, rows, wanted));
    for (let row = 0; row < rows; row++) {
      if (test(row) !== TruthValue.true) continue;
      bits[firstRow + row] = 1;
      count++;
    }
  });
  const rows = new Uint32Array(count);
  for (let row = 0, used = 0; used < count; row++) if (bits[row] === 1) rows[used++] = row;
  return { rows, bits };
}

function missingField({ fields, name: source }: LayerData, where: string, field: string): Error {
  const asValue = fieldsMeantAsValues(where).includes(field);
  return createError("field-missing", {
    source,
    field,
    fields: fields.map(({ name }) => name),
    ...(asValue ? { asValue } : {}),
  });
}

function partOfBatch(data: LayerData, batch: number, firstRow: number, rows: number, wanted: readonly number[]): Batch {
  const present = wanted.flatMap((field) => {
    const column = data.column(batch, field);
    return column ? [{ field: { ...data.fields[field]!, type: column.type } satisfies Field, column }] : [];
  });
  return new Batch({
    length: rows,
    ids: data.ids(batch),
    fields: present.map(({ field }) => field),
    columns: present.map(({ column }) => column),
    geometry: geometryOfKinds(data.kinds.subarray(firstRow, firstRow + rows)),
    recordNumbers: null,
    firstRecord: 1,
  });
}
