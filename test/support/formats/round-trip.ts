import assert from "node:assert/strict";
import { basename, join } from "node:path";
import {
  type Batch,
  type Column,
  type FieldType,
  Kind,
  Presence,
  temporalType,
  type Value,
  valueAt,
} from "../../../src/model/index.js";
import type { Loss } from "../../../src/model/report.js";
import type { ConvertReport } from "../../../src/pipeline/report.js";
import type { Format, WriterCapabilities } from "../../../src/plugin/format.js";
import {
  areEquivalent,
  assertOnlyReportedChanges,
  type LayerContent,
  openWriter,
  readFile,
  TemporaryFolder,
  writeFile,
} from "../../../src/testing/index.js";
import { convertFile } from "../host.js";
import { TripExemptions } from "./exemptions.js";
import { batchOf, type GeneratedLayer, keyField, withKey } from "./generated-layers.js";

/** Options that preserve coordinates exactly and keep one feature per feature. */
export const losslessOptions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // An index changes the order of the features.
  flatgeobuf: { index: "no" },
  geojson: { precision: "15", zPrecision: "15" },
  geojsonseq: { precision: "15", zPrecision: "15" },
  gpx: { precision: "15", zPrecision: "15", multipoints: "reject" },
  kml: { precision: "15", zPrecision: "15" },
};

interface Row {
  readonly batch: Batch;
  readonly row: number;
}

/** A layer as read. */
export interface Table {
  readonly fields: readonly string[];
  /** Types that the layer declares before it is read, if any. */
  readonly declared: ReadonlyMap<string, FieldType>;
  readonly rows: readonly Row[];
}

async function readTable(format: Format, path: string): Promise<Table> {
  const [layer, ...others] = await readFile(format, path);
  assert.ok(layer && others.length === 0, `${path} has ${others.length + (layer ? 1 : 0)} layers`);
  return tableOf(layer);
}

/** The content of a layer that was read. */
export function tableOf(layer: LayerContent): Table {
  assert.deepEqual(layer.rejects, [], "the reader rejects what the writer wrote");
  const declared = layer.info.fields ?? layer.batches.flatMap((batch) => batch.fields);
  return {
    fields: [...new Set(declared.map((field) => field.name))],
    declared: new Map((layer.info.fields ?? []).map(({ name, type }) => [name, type])),
    rows: layer.batches.flatMap((batch) => Array.from({ length: batch.length }, (_, row) => ({ batch, row }))),
  };
}

function columnOf({ batch }: Row, field: string): Column | undefined {
  return batch.columns[batch.fields.findIndex(({ name }) => name === field)];
}

const cellOf = (row: Row, field: string): Value => {
  const column = columnOf(row, field);
  return column ? valueAt(column, row.row) : null;
};

const isAbsent = (row: Row, field: string): boolean =>
  (columnOf(row, field)?.presence[row.row] ?? Presence.absent) === Presence.absent;

const quoted = /^"(.*)" became "(.*?)"(?:, since .*)?$/s;

/** Maps input fields to output fields, according to a report. */
function parseRenamings(losses: readonly Loss[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { code, field, example } of losses) {
    const match = code === "field-renamed" ? quoted.exec(example) : null;
    if (match) names.set(field!, match[2]!);
  }
  return names;
}

/** The report of one direction. */
export interface TripReport {
  readonly losses: readonly Loss[];
  readonly notices: readonly Loss[];
  readonly renamed: ReadonlyMap<string, string>;
  readonly rejected: number;
}

export function toTripReport(reports: readonly ConvertReport[]): TripReport {
  const losses = reports.flatMap((report) => report.losses);
  return {
    losses,
    notices: reports.flatMap((report) => report.notices),
    renamed: parseRenamings(losses),
    rejected: reports.reduce((sum, report) => sum + report.rejected, 0),
  };
}

/** Name of a field at the start, in between, and at the end. */
type Names = readonly [first: string, between: string, last: string];

export class RoundTrip {
  constructor(
    private readonly first: Table,
    private readonly last: readonly Table[],
    private readonly out: TripReport,
    private readonly back: TripReport,
    private readonly exempt: TripExemptions,
    /** Types that both formats support; no loss is counted for missing values. */
    private readonly held: ReadonlySet<FieldType>,
  ) {}

  /** The names of a field of the first layer on its way. */
  private namesOf(field: string): Names {
    const between = this.out.renamed.get(field) ?? field;
    return [field, between, this.back.renamed.get(between) ?? between];
  }

  private said(list: "losses" | "notices", [first, between, last]: Names): Loss[] {
    return [
      ...this.out[list].filter(({ field }) => field === first || field === between),
      ...this.back[list].filter(({ field }) => field === between || field === last),
    ];
  }

  /** Features rejected on the way: their earlier losses are not visible. */
  private get unseen(): number {
    return this.out.rejected + this.back.rejected;
  }

  private notice(code: string): Loss | undefined {
    return [...this.out.notices, ...this.back.notices].find((notice) => notice.code === code);
  }

  check(): void {
    const pairs = this.pairs();
    const touched = new Map<string, number>();
    const fields = this.checkFields();
    for (const field of fields) {
      const names = this.namesOf(field);
      const differences = this.differences(pairs, field, names[2]);
      touched.set(field, differences.length);
      const said = this.said("losses", names).filter((loss) => loss.code !== "field-renamed");
      const most = said.reduce((sum, loss) => sum + loss.count, 0);
      const noticed = this.said("notices", names).length > 0;
      if (differences.length > most && !noticed) {
        assert.fail(
          `${differences.length} values of ${JSON.stringify(field)} differ, ${most} were reported: ${differences[0]}`,
        );
      }
    }
    this.checkIds(pairs);
    this.checkLosses(touched);
    this.checkGeometries(pairs);
  }

  /** Features of the first layer with their results. */
  private pairs(): [Row, Row][] {
    const rows = this.last.flatMap((table) => table.rows);
    const rejected = this.out.rejected + this.back.rejected;
    assert.equal(rows.length, this.first.rows.length - rejected, `features that came back, with ${rejected} rejected`);
    if (!this.first.fields.includes(keyField)) return this.first.rows.map((row, i) => [row, rows[i]!]);
    const byKey = new Map(rows.map((row) => [Number(cellOf(row, keyField)), row]));
    assert.equal(byKey.size, rows.length, "a feature came back twice");
    if (this.last.length === 1 && !this.exempt.has("order")) {
      const keys = rows.map((row) => Number(cellOf(row, keyField)));
      assert.deepEqual(
        keys,
        keys.toSorted((a, b) => a - b),
        "the order changed",
      );
    }
    return this.first.rows.flatMap((row): [Row, Row][] => {
      const other = byKey.get(Number(cellOf(row, keyField)));
      return other ? [[row, other]] : [];
    });
  }

  /**
   * Checks that fields and their order are unchanged, except for reported changes; returns the fields that came back.
   */
  private checkFields(): string[] {
    const dropped = [...this.out.losses, ...this.back.losses].filter(({ code }) => code === "fields-dropped");
    const added = [...this.out.notices, ...this.back.notices].filter(({ code }) => addsField.has(code));
    const expected = this.first.fields.map((field) => this.namesOf(field)[2]);
    if (dropped.length > 0) {
      const most = Math.max(...dropped.map(({ count }) => count));
      const rows = this.last.reduce((sum, table) => sum + table.rows.length, 0);
      assert.equal(rows, 0, "fields-dropped is for layers without features");
      assert.ok(most >= expected.length, `fields-dropped counts ${most} of ${expected.length} fields`);
      return [];
    }
    // A field without values disappears if null and absent are the same.
    const optional = new Set(
      this.exempt.has("absent") && this.exempt.has("no value")
        ? this.first.fields.filter((field) => this.first.rows.every((row) => cellOf(row, field) === null))
        : [],
    );
    const names = new Set(added.map(({ field }) => this.back.renamed.get(field!) ?? field!));
    if (this.exempt.has("kind of feature")) names.add(gpxTypeField);
    for (const table of this.last) {
      const misled = new Set(
        [...this.out.notices, ...this.back.notices]
          .filter(({ code }) => code === "geometry-name")
          .map(({ field }) => field!),
      );
      const found = table.fields.filter((field) => expected.includes(field) || !names.has(field));
      const came = found.filter((field) => !misled.has(field));
      const wanted = expected.filter(
        (field, f) => !misled.has(field) && (found.includes(field) || !optional.has(this.first.fields[f]!)),
      );
      const ordered = (list: string[]) => (this.exempt.has("field order") ? list.toSorted() : list);
      assert.deepEqual(ordered(came), ordered(wanted), "the fields that came back");
    }
    return [...this.first.fields];
  }

  /** Describes each changed value or type, and the type of a field without values. */
  private differences(pairs: readonly (readonly [Row, Row])[], field: string, last: string): string[] {
    const found: string[] = [];
    let valued = false;
    for (const [a, b] of pairs) {
      const [before, after] = [cellOf(a, field), cellOf(b, last)];
      if (before === null && after === null) {
        if (isAbsent(a, field) !== isAbsent(b, last) && !this.exempt.has("absent")) {
          found.push(isAbsent(a, field) ? "an absent value became null" : "null became an absent value");
        }
        continue;
      }
      valued = true;
      const [aType, bType] = [columnOf(a, field)!.type, columnOf(b, last)?.type ?? "text"];
      const isType = this.isMixed(aType, field, last)
        ? ["json", aType].includes(bType)
        : this.isType(aType, bType, before);
      // JSON text stays text, even if it looks like a number.
      if (aType === "json" && bType === "text" && isType && before === JSON.stringify(after)) continue;
      if (isType && areEquivalent(before, this.meant(aType, before), after, this.meant(bType, after))) continue;
      found.push(`${aType} ${show(before)} became ${bType} ${show(after)}`);
    }
    return valued ? found : [...found, ...this.undeclared(field, last)];
  }

  /** The type of text that is a date, a time or both. */
  private meant(type: FieldType, value: Value): FieldType {
    return type === "text" && this.exempt.has("ISO text") ? (temporalType(String(value)) ?? type) : type;
  }

  /** Whether values of the field were reported as converted to text, so that the others are beside text. */
  private isMixed(type: FieldType, field: string, last: string): boolean {
    const losses = this.said("losses", [field, this.namesOf(field)[1], last]);
    const code = type === "json" ? "type-changed" : `${type}-as-text`;
    return this.exempt.has("mixed column") && losses.some((loss) => loss.code === code);
  }

  private isType(a: FieldType, b: FieldType, value: Value): boolean {
    if (a === b) return true;
    if (a.startsWith("int") && b.startsWith("int")) return this.exempt.has("integer width");
    if (a === "json") return this.exempt.has("plain json");
    return a === "text" && temporalType(String(value)) === b && this.exempt.has("ISO text");
  }

  /** The declared type of a field without values, if it changed. */
  private undeclared(field: string, last: string): string[] {
    const before = this.first.declared.get(field);
    if (before === undefined || this.exempt.has("no value") || !this.held.has(before)) return [];
    return this.last.flatMap(({ declared }) => {
      const after = declared.get(last);
      const same = after === undefined || this.isType(before, after, null);
      return same ? [] : [`${before} without a value became ${after}`];
    });
  }

  private checkIds(pairs: readonly (readonly [Row, Row])[]): void {
    const notice = this.notice("id-as-field");
    const hadIds = pairs.some(([a]) => a.batch.ids?.presence[a.row] === Presence.value);
    const mayGain = this.exempt.has("ids");
    const isRepeated = [...this.out.losses, ...this.back.losses].some(({ code }) => code === "id-repeated");
    assert.ok(!notice || hadIds || mayGain || pairs.length === 0, "id-as-field was said of features without ids");
    for (const [a, b] of pairs) {
      const before = a.batch.ids && valueAt(a.batch.ids, a.row);
      const field = notice && (this.back.renamed.get(notice.field!) ?? notice.field!);
      // In KML, ids written to a field are read as ids again.
      const isField = field !== undefined && columnOf(b, field) !== undefined;
      const after = isField ? cellOf(b, field) : b.batch.ids && valueAt(b.batch.ids, b.row);
      if (before === null && mayGain) continue;
      // KML allows each id once in a document of several layers.
      if (after === null && isRepeated) continue;
      const same = before === null || after === null ? before === after : String(before) === String(after);
      assert.ok(same, `the id ${show(before)} became ${show(after)}`);
    }
  }

  /** Checks that each reported loss occurred, and not more often than reported. */
  private checkLosses(touched: ReadonlyMap<string, number>): void {
    const fields = [...touched.keys()].map((field) => ({ field, names: this.namesOf(field) }));
    const legs = [
      { losses: this.out.losses, from: 0, to: 1 },
      { losses: this.back.losses, from: 1, to: 2 },
    ] as const;
    for (const { losses, from, to } of legs) {
      for (const loss of losses) {
        if (loss.field === undefined) continue;
        if (loss.code === "field-renamed") {
          const [name] = quoted.exec(loss.example)?.slice(2) ?? [];
          assert.ok(name !== undefined && name !== loss.field, `field-renamed says: ${loss.example}`);
          continue;
        }
        if (restoredTexts.has(loss.code) && this.exempt.has("value as text")) continue;
        if (this.isUndoneZone(loss)) continue;
        const ofTwo = cancellingLosses.has(loss.code) && this.exempt.has("null and empty");
        if (ofTwo && [...this.out.losses, ...this.back.losses].some((l) => l.code === "null-empty")) {
          continue;
        }
        const of = fields.filter(({ names }) => names[from] === loss.field || names[to] === loss.field);
        const most = Math.max(0, ...of.map(({ field }) => touched.get(field)!));
        const ofIds = [...this.out.notices, ...this.back.notices].some(
          ({ code, field }) => code === "id-as-field" && field === loss.field,
        );
        assert.ok(
          loss.count <= most + this.unseen || ofIds,
          `${loss.code} of ${JSON.stringify(loss.field)} was reported ${loss.count} times, and ${most} values differ: ${loss.example}`,
        );
      }
    }
  }

  /** Whether one leg dropped the time zone of a field and the other assumed the same one. */
  private isUndoneZone({ code }: Loss): boolean {
    const both = ["time-zone-dropped", "zone-assumed"];
    const found = new Set([...this.out.losses, ...this.back.losses].map((loss) => loss.code));
    return this.exempt.has("zone") && both.includes(code) && both.every((each) => found.has(each));
  }

  private checkGeometries(pairs: readonly (readonly [Row, Row])[]): void {
    if (this.notice("geometry-name")) return;
    const losses = [...this.out.losses, ...this.back.losses].filter(
      ({ field, code }) => field === undefined && code !== "fields-dropped" && code !== "id-repeated",
    );
    const unseen = losses.filter((loss) => loss.count <= this.unseen);
    const alone = ({ batch, row }: Row) => batch.take(Uint32Array.of(row)).with({ ids: null, fields: [], columns: [] });
    const how = {
      tolerance: 1e-9,
      singleIsMulti: this.exempt.has("single and multi"),
      absentIsNull: true,
      ids: false,
      keepsTypes: [],
    };
    const before = pairs.map(([a]) => alone(a));
    const after = pairs.map(([, b]) => alone(b));
    try {
      assertOnlyReportedChanges(losses, before, after, how);
    } catch (error) {
      if (unseen.length === 0) throw error;
      assertOnlyReportedChanges(
        losses.filter((loss) => !unseen.includes(loss)),
        before,
        after,
        how,
      );
    }
  }
}

/** Losses covered by the exemption "null and empty". */
const cancellingLosses = new Set(["text-empty", "null-empty"]);

/** Losses covered by the exemption "value as text". */
const restoredTexts = new Set(["date-as-text", "int64-as-text"]);

/** The field that GPX adds to every feature. */
const gpxTypeField = "_gpxType";

/** Notices about a field that the source did not have. */
const addsField = new Set(["id-as-field", "field-added"]);

function show(value: Value): string {
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  return (typeof value === "string" ? JSON.stringify(value) : String(value)).slice(0, 80);
}

/** Whether features of the layer may be split: into several files, or to the rejects. */
function partsWays(accepts: WriterCapabilities, { geometry }: Batch): boolean {
  const kinds = new Set(geometry.kinds);
  const held = accepts.geometryTypes.map((type) => Kind[type] as number);
  if ([...kinds].some((kind) => (kind === Kind.none ? !accepts.nullGeometry : !held.includes(kind)))) return true;
  const families = accepts.families?.filter(({ types }) => types.some((type) => kinds.has(Kind[type]))) ?? [];
  return families.length > 1;
}

/** CSV has no reference system, and specifying one for a table without geometry is an error. */
export async function crsFor(format: Format, paths: readonly string[]): Promise<{ sourceCrs?: string }> {
  if (format.id !== "csv") return {};
  for (const path of paths) {
    const { rows } = await readTable(format, path);
    if (rows.length > 0 && rows.every(({ batch, row }) => batch.geometry.kinds[row] === Kind.none)) return {};
  }
  return { sourceCrs: "EPSG:4326" };
}

/** Converts the layer, written as `a`, to `b` and back. @throws AssertionError for unreported differences */
export async function roundTrip(a: Format, b: Format, layer: GeneratedLayer): Promise<void> {
  const scratch = new TemporaryFolder();
  const exempt = new TripExemptions([a.id, b.id]);
  const go = async (from: Format, input: string, to: Format, name: string) =>
    convertFile(input, join(scratch.folder, `${name}.${to.extensions[0]}`), {
      from: from.id,
      to: to.id,
      ...(await crsFor(from, [input])),
      writerOptions: losslessOptions[to.id] ?? {},
    });
  try {
    const accepts = [
      (await openWriter(a, losslessOptions[a.id])).capabilities,
      (await openWriter(b, losslessOptions[b.id])).capabilities,
    ] as const;
    const held = new Set(accepts[0].fieldTypes.filter((type) => accepts[1].fieldTypes.includes(type)));
    const keyed = exempt.has("order") || accepts.some((each) => partsWays(each, batchOf(layer)));
    const batch = batchOf(keyed ? withKey(layer) : layer);
    const options = { options: losslessOptions[a.id] ?? {}, name: "a" };
    for (const file of await writeFile(a, scratch.folder, batch, options)) {
      const first = await readTable(a, file.path);
      const stem = basename(file.path).replace(/\..*$/, "");
      const out = await go(a, file.path, b, `${stem}-b`);
      const back: ConvertReport[] = [];
      for (const [n, output] of out.outputs.entries()) back.push(await go(b, output.path, a, `${stem}-back-${n}`));
      const last: Table[] = [];
      for (const { path } of back.flatMap((report) => report.outputs)) last.push(await readTable(a, path));
      new RoundTrip(first, last, toTripReport([out]), toTripReport(back), exempt, held).check();
    }
  } finally {
    scratch.remove();
  }
}
