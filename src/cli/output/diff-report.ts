/** The output of `geoferry diff`: a summary with examples on stderr, or with `--json` records on stdout. */
import { once } from "node:events";
import type { FeatureChange, RowReference } from "../../compare/changes/feature-change.js";
import { changeKinds, idOf } from "../../compare/changes/feature-change.js";
import type { ComparedLayer, CompareReport, LayerResult } from "../../compare/compare.js";
import { escapeControlCharacters } from "../../escape-control-characters.js";
import { formatCount, groupDigits } from "../../format-count.js";
import { jsonValueAt, Presence } from "../../model/column.js";
import type { Crs } from "../../model/layer.js";
import type { CommonArguments } from "../command.js";
import { plainText, shownValue } from "./plan-text.js";
import { renderLosses, renderSkippedRanges } from "./render.js";

/** Per layer and kind of change. */
const maxExamples = 3;
/** Per feature. */
const maxChanges = 5;

const writeRecord = (record: object): boolean => process.stdout.write(`${JSON.stringify(record)}\n`);

const crsName = (crs: Crs | null): string | null => (crs === null ? null : (crs.id ?? crs.name));

const keyName = ({ key }: ComparedLayer): string | null =>
  key?.key == null ? null : key.key.by === "id" ? "id" : key.key.name;

export function renderDiffLayer(layer: ComparedLayer, args: CommonArguments): void {
  if (!args.json) return;
  const { name, old, new: recent, fields, crs, precision, key } = layer;
  writeRecord({
    type: "layer",
    layer: name,
    old,
    new: recent,
    fields,
    crs: { old: crsName(crs.old), new: crsName(crs.new), relation: crs.relation },
    key: keyName(layer),
    matchedBy: key === null ? null : key.key === null ? "content" : key.key.by,
    precision,
  });
}

/** Waits while stdout is full. */
export async function renderDiffChange(
  change: FeatureChange,
  layer: ComparedLayer,
  args: CommonArguments,
): Promise<void> {
  if (!args.json) return;
  if (!writeRecord(changeRecord(change, layer))) await once(process.stdout, "drain");
}

const featureOf = ({ batch, row }: RowReference) => batch.featureAt(row);

function changeRecord(
  { layer, change, key, old, new: recent, values, movement }: FeatureChange,
  of: ComparedLayer,
): object {
  const id = idOf((recent ?? old)!);
  const record = { type: "change", layer, change, key, ...(id === null ? {} : { id }) };
  const records = { oldRecord: old?.record ?? null, newRecord: recent?.record ?? null };
  if (old === null || recent === null) {
    const { geometry, properties } = featureOf((old ?? recent)!);
    return { ...record, ...records, crs: crsName(of.comparedCrs), geometry, properties };
  }
  const moved = movement && {
    ...movement,
    old: featureOf(old).geometry,
    new: featureOf(recent).geometry,
  };
  return {
    ...record,
    ...records,
    ...(moved ? { crs: crsName(of.comparedCrs) } : {}),
    values,
    ...(moved ? { movement: moved } : {}),
  };
}

/** The first changes of each kind, as lines, by layer. */
export class DiffExamples {
  private readonly lines = new Map<ComparedLayer, Map<string, string[]>>();

  add(change: FeatureChange, layer: ComparedLayer): void {
    const kinds = this.lines.get(layer) ?? new Map<string, string[]>();
    this.lines.set(layer, kinds);
    const lines = kinds.get(change.change) ?? [];
    kinds.set(change.change, lines);
    if (lines.length < maxExamples) lines.push(exampleLine(change));
  }

  /** @param name of the layer */
  of(layer: { readonly name: string; readonly old: string | null }, change: string): readonly string[] {
    for (const [one, kinds] of this.lines)
      if (one.name === layer.name && one.old === layer.old) return kinds.get(change) ?? [];
    return [];
  }
}

const marks = { added: "+", removed: "-", changed: "~", moved: ">" } as const;

/** The key, or else a title, the id, or the position in the layer. */
export function changeName({ key, old, new: recent }: Pick<FeatureChange, "key" | "old" | "new">): string {
  const row = (recent ?? old)!;
  if (key !== null) return plainText(key);
  const id = idOf(row);
  const title = titleOf(row);
  const name = title ?? (id === null ? null : `id ${String(id)}`);
  return name === null ? `feature ${groupDigits(row.record)}` : plainText(name);
}

const titleNames = ["name", "title", "label"];

function titleOf({ batch, row }: RowReference): string | null {
  const at = batch.fields.findIndex(({ name }) => titleNames.includes(name.toLowerCase()));
  if (at < 0 || batch.columns[at]!.presence[row] !== Presence.value) return null;
  return String(jsonValueAt(batch.columns[at]!, row));
}

function exampleLine(change: FeatureChange): string {
  const name = `${marks[change.change]} ${changeName(change)}`;
  const parts = change.values
    .slice(0, maxChanges)
    .map(
      ({ field, old, new: recent }) =>
        `${plainText(field)} ${shownValue(old) ?? "nothing"} → ${shownValue(recent) ?? "nothing"}`,
    );
  const more = change.values.length - maxChanges;
  if (change.movement) parts.push(movementWords(change));
  if (parts.length === 0) return name;
  return `${name}: ${parts.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** "moved 12.3 m", "4 positions → 5, at most 0.2 m apart" */
export function movementWords({ movement, old, new: recent }: FeatureChange): string {
  const { distance, heightChange, positions } = movement!;
  const [before, after] = positions;
  if (before === 0) return "geometry nothing → new";
  if (after === 0) return "geometry removed";
  const heights =
    heightChange === null ? "" : `height ${heightChange > 0 ? "+" : "−"}${formatMetres(Math.abs(heightChange))}`;
  const isReshaped = before !== after;
  const apart = distance === null ? "" : formatMetres(distance);
  if (isReshaped)
    return `${formatCount(before, "position")} → ${groupDigits(after)}${apart === "" ? "" : `, at most ${apart} apart`}`;
  if (distance === 0) return heights === "" ? describeKind(old, recent) : heights;
  const moved = apart === "" ? "other coordinates" : `moved ${apart}`;
  return heights === "" ? moved : `${moved}, ${heights}`;
}

const describeKind = (old: RowReference | null, recent: RowReference | null): string =>
  old && recent ? `geometry ${featureOf(old).geometry?.type} → ${featureOf(recent).geometry?.type}` : "other geometry";

/** "0.012 m", "12.3 m", "4,567 m", "123 km" */
export function formatMetres(metres: number): string {
  if (metres >= 100_000) return `${groupDigits(Math.round(metres / 1000))} km`;
  if (metres >= 1000) return `${groupDigits(Math.round(metres))} m`;
  return `${Number(metres.toPrecision(metres >= 1 ? 4 : 2))} m`;
}

export function renderDiff(report: CompareReport, examples: DiffExamples, args: CommonArguments): void {
  const { layers, skippedRanges, notices, losses, rejected, rejectReason } = report;
  if (!args.json && !args.quiet) process.stderr.write(diffText(report, examples));
  renderLosses(notices, losses, args);
  renderSkippedRanges(skippedRanges, args);
  if (args.json) {
    const { old, new: recent, counts, differs } = report;
    for (const { name, counts: own } of layers) writeRecord({ type: "layer-counts", layer: name, counts: own });
    writeRecord({
      type: "summary",
      old,
      new: recent,
      differs,
      counts,
      rejected,
      rejectReason,
      skippedRanges: skippedRanges.length,
    });
  } else if (rejected > 0) {
    const reason = rejectReason === null ? "" : `, the first because ${escapeControlCharacters(rejectReason)}`;
    process.stderr.write(`  ${formatCount(rejected, "feature")} not compared${reason}; geoferry check lists them\n`);
  }
}

export function diffText({ old, new: recent, layers, differs }: CompareReport, examples: DiffExamples): string {
  const title = `${escapeControlCharacters(old)} → ${escapeControlCharacters(recent)}`;
  const body = layers
    .map((layer) => layerText(layer, examples, layers.length > 1 ? { old, new: recent } : null))
    .join("");
  return `${title}: ${differs ? "differences" : "no differences"}\n${body}`;
}

function layerText(layer: LayerResult, examples: DiffExamples, inputs: Inputs | null): string {
  const { counts } = layer;
  let text = "";
  if (inputs) text += `${`layer ${escapeControlCharacters(layer.name)}: ${layerWords(layer, inputs)}`.trimEnd()}\n`;
  text += schemaLines(layer)
    .map((line) => `  ${line}\n`)
    .join("");
  // Features that are all equal need no key.
  const isMatched = layer.key !== null && counts.old + counts.new > 2 * counts.equal;
  if (isMatched) text += `  ${matchWords(layer)}\n`;
  const rows = [...changeKinds.map((name) => [name, counts[name]] as const), ["equal", counts.equal] as const];
  const width = Math.max(...rows.map(([, count]) => groupDigits(count).length));
  for (const [name, count] of rows) {
    text += `  ${name.padEnd(8)} ${groupDigits(count).padStart(width)}\n`;
    if (name === "equal") continue;
    const shown = examples.of(layer, name);
    for (const line of shown) text += `      ${line}\n`;
    if (shown.length > 0 && count > shown.length) text += `      … ${groupDigits(count - shown.length)} more\n`;
  }
  return text;
}

type Inputs = Pick<CompareReport, "old" | "new">;

function layerWords({ old, new: recent }: ComparedLayer, inputs: Inputs): string {
  if (old === null) return `only in ${escapeControlCharacters(inputs.new)}`;
  return recent === null ? `only in ${escapeControlCharacters(inputs.old)}` : "";
}

/** How the features of a layer were matched. @param advises names the option for another key */
export function matchWords(layer: ComparedLayer, advises = true): string {
  const name = keyName(layer);
  if (name === null) return "matched by geometry and attributes";
  const by = layer.key?.key?.by === "id" ? "matched by the ids of features" : `matched by ${plainText(name)}`;
  if (layer.key?.how !== "chosen" || !advises) return by;
  return `${by}, which ${layer.key.key?.by === "id" ? "identify" : "identifies"} every feature; --key names another field`;
}

/** One line for each difference of fields and reference systems. */
export function schemaLines({ fields, crs }: ComparedLayer): string[] {
  const lines = fields.map(({ field, change, old, new: recent }) => {
    const name = plainText(field);
    if (change === "type") return `field ${name}: ${old} → ${recent}`;
    return change === "added" ? `field added: ${name} (${recent})` : `field removed: ${name} (${old})`;
  });
  const names = [crsName(crs.old), crsName(crs.new)] as const;
  if (crs.relation === "different")
    lines.push(`crs ${names[0]} → ${names[1]}${crs.isReprojected ? "; compared in WGS 84" : ""}`);
  return lines;
}
