/** Statistics of the fields of a layer: what `geoferry info --stats` prints, as small charts. */
import type { FieldStatisticsReport, ReportedValue } from "../../../../statistics/field-report.js";
import type { Analysis, LayerAnalysis } from "../../../../view/protocol.js";
import { button, countOf, dataText, groupDigits, make } from "../dom.js";
import type { LayerState } from "../state.js";

export function analysisOf(analysis: Analysis | null, { id }: LayerState): LayerAnalysis | null {
  return analysis?.layers[id] ?? null;
}

/** At most seven significant digits. */
export function numberText(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en");
  const magnitude = Math.abs(value);
  if (magnitude >= 1e15 || magnitude < 1e-6) return String(Number(value.toPrecision(7)));
  return Number(value.toPrecision(7)).toLocaleString("en", { maximumFractionDigits: 10 });
}

const valueText = (value: ReportedValue | null): string =>
  value === null ? "" : typeof value === "number" ? numberText(value) : String(value);

/** Bars of a histogram; the numbers are in the text beside it. */
function renderBars(counts: readonly number[], label: string): HTMLElement {
  const most = Math.max(...counts, 1);
  const bars = make("span", { class: "bars", role: "img", "aria-label": label });
  for (const count of counts) {
    const bar = make("span", {});
    // A range with few values is not blank.
    bar.style.height = `${count === 0 ? 0 : Math.max(6, Math.round((100 * count) / most))}%`;
    bars.append(bar);
  }
  return bars;
}

function shareText(part: number, whole: number): string {
  if (part === 0 || whole === 0) return "0 %";
  const percent = (100 * part) / whole;
  return percent < 1 ? "under 1 %" : percent > 99 && part < whole ? "over 99 %" : `${Math.round(percent)} %`;
}

const total = ({ values, nulls }: FieldStatisticsReport): number => values + nulls;

/** What a column of the table has below its name: its type, the share of nulls, and a little histogram. */
export function renderSummary(type: string, field: FieldStatisticsReport | null): readonly HTMLElement[] {
  if (!field) return [make("span", { class: "field-type" }, type)];
  const { histogram, frequent, nulls, distinct, longest } = field;
  const share = nulls === 0 ? "" : ` · ${shareText(nulls, total(field))} null`;
  const words = [
    `${groupDigits(nulls)} null`,
    `${distinct.exact ? "" : "≈ "}${groupDigits(distinct.count)} distinct`,
    ...(longest ? [`at most ${groupDigits(longest.characters)} characters`] : []),
  ];
  const counts =
    histogram ?? (frequent.values.some(({ count }) => count > 1) ? frequent.values.map(({ count }) => count) : []);
  const length = longest ? `≤ ${groupDigits(longest.characters)} chars` : "";
  const chart = counts.length > 1 ? renderBars(counts, "") : make("span", { class: "field-type" }, length);
  return [
    make("span", { class: "field-type", title: words.join(", ") }, `${type}${share}`),
    make("span", { class: "field-chart" }, chart),
  ];
}

export function renderFields(
  root: HTMLElement,
  layer: LayerState,
  analysis: Analysis | null,
  onColor: (field: number) => void,
): void {
  const found = analysisOf(analysis, layer);
  root.replaceChildren();
  if (layer.info.fields.length === 0) {
    root.append(make("p", { class: "empty" }, "This layer has no fields."));
    return;
  }
  if (!found) {
    const reason =
      analysis === null
        ? "Statistics are being collected…"
        : (analysis.error ?? "There are no statistics of this layer.");
    root.append(make("p", { class: "quiet", role: "status" }, reason));
  }
  const list = make("ul", { class: "fields" });
  layer.info.fields.forEach((field, at) => {
    const statistics = found?.fields.find(({ name }) => name === field.name);
    const width = field.width === undefined ? "" : ` (${field.width}${field.decimals ? `.${field.decimals}` : ""})`;
    const head = make(
      "div",
      { class: "field-head" },
      make("h3", {}, dataText(field.name)),
      make("span", { class: "field-type" }, `${field.type}${width}`),
    );
    if (layer.info.located > 0)
      head.append(
        button("Color by", () => onColor(at), { class: "quiet-button", "aria-label": `Color by ${field.name}` }),
      );
    list.append(make("li", { class: "field-card" }, head, ...(statistics ? renderStatistics(statistics) : [])));
  });
  root.append(list);
  if (found?.geometry) root.append(renderGeometry(found.geometry));
}

function renderStatistics(field: FieldStatisticsReport): HTMLElement[] {
  const { histogram, min, max, mean, quantiles, distinct, nulls, longest, key, notFinite, frequent } = field;
  const facts: [string, string][] = [
    [
      "Values",
      `${groupDigits(field.values)}${nulls > 0 ? `, ${groupDigits(nulls)} null (${shareText(nulls, total(field))})` : ", no nulls"}`,
    ],
    [
      "Distinct",
      `${distinct.exact ? "" : "≈ "}${groupDigits(distinct.count)}${key === "yes" ? ", a key" : key === "probable" ? ", probably a key" : ""}`,
    ],
  ];
  if (min !== null) facts.push(["Range", `${valueText(min)} to ${valueText(max)}`]);
  if (mean !== null) facts.push(["Mean", numberText(mean)]);
  if (quantiles) facts.push(["Median", `${quantiles.exact ? "" : "≈ "}${numberText(quantiles.values["50"])}`]);
  if (notFinite > 0) facts.push(["Not finite", groupDigits(notFinite)]);
  if (longest) facts.push(["Longest", countOf(longest.characters, "character")]);
  const list = make("dl", { class: "facts" });
  for (const [name, value] of facts) list.append(make("dt", {}, name), make("dd", { dir: "auto" }, value));
  const chart =
    histogram && min !== max ? renderHistogram(histogram, field) : renderFrequent(frequent.values, total(field));
  return chart ? [list, chart] : [list];
}

function renderHistogram(histogram: readonly number[], { min, max }: FieldStatisticsReport): HTMLElement {
  const label = `Histogram in ten ranges: ${histogram.map(groupDigits).join(", ")}`;
  return make(
    "div",
    { class: "histogram" },
    renderBars(histogram, label),
    make("div", { class: "axis" }, make("span", {}, valueText(min)), make("span", {}, valueText(max))),
  );
}

function renderFrequent(values: FieldStatisticsReport["frequent"]["values"], rows: number): HTMLElement | null {
  if (values.length === 0) return null;
  const most = values[0]!.count;
  const list = make("ul", { class: "frequent", "aria-label": "Frequent values" });
  for (const { value, count } of values.slice(0, 6)) {
    const bar = make("span", { class: "frequent-bar", "aria-hidden": "true" });
    bar.style.width = `${(100 * count) / most}%`;
    const text = valueText(value);
    list.append(
      make(
        "li",
        {},
        bar,
        make("span", { class: "frequent-value" }, dataText(text === "" ? "empty text" : text)),
        make("span", { class: "count", title: shareText(count, rows) }, groupDigits(count)),
      ),
    );
  }
  return list;
}

function renderGeometry(geometry: NonNullable<LayerAnalysis["geometry"]>): HTMLElement {
  const { types, nulls, vertices, parts, holes, duplicates, length, area } = geometry;
  const facts: [string, string][] = [
    [
      "Types",
      Object.entries(types)
        .map(([type, count]) => `${type} ${groupDigits(count)}`)
        .join(", ") || "none",
    ],
    [
      "Vertices",
      `${groupDigits(vertices)} in ${groupDigits(parts)} parts${holes > 0 ? `, ${groupDigits(holes)} holes` : ""}`,
    ],
    ["Duplicates", `${duplicates.exact ? "" : "≈ "}${groupDigits(duplicates.count)}`],
  ];
  if (nulls > 0) facts.push(["Without geometry", groupDigits(nulls)]);
  if (length !== null) facts.push(["Length", `${numberText(length)} m`]);
  if (area !== null) facts.push(["Area", `${numberText(area)} m²`]);
  const list = make("dl", { class: "facts" });
  for (const [name, value] of facts) list.append(make("dt", {}, name), make("dd", {}, value));
  return make(
    "section",
    { class: "field-card" },
    make("div", { class: "field-head" }, make("h3", {}, "Geometries")),
    list,
  );
}
