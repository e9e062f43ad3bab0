/** A stacked bar chart of the runs of a job as SVG; each bar has its value as title. */
import { type Html, html } from "../../service/pages/rendering/html.js";

export interface Series {
  readonly name: string;
  /** CSS class of the color. */
  readonly className: "a" | "b" | "c";
  /** One value for each run, at least 0. */
  readonly values: readonly number[];
}

const [width, height, left, bottom, top] = [800, 150, 64, 18, 8];

/** Rounds up to 1, 2, 5, 10, 20 … */
function roundUpForAxis(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * (1 - 1e-12))!;
}

const formatNumber = (value: number): string =>
  value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 1 : 0 });

/**
 * The series of a run are stacked.
 * @param labels one for each run
 */
export function renderChart(title: string, series: readonly Series[], labels: readonly string[]): Html {
  const sums = labels.map((_, run) => series.reduce((sum, { values }) => sum + values[run]!, 0));
  const maximum = roundUpForAxis(Math.max(...sums));
  const slot = (width - left) / labels.length;
  const bar = Math.max(1, Math.min(24, slot * 0.8));
  const scale = (height - bottom - top) / maximum;
  const bars = labels.flatMap((label, run) => {
    let y = height - bottom;
    return series.flatMap(({ name, className, values }) => {
      const value = values[run]!;
      if (value === 0) return [];
      const barHeight = Math.max(1, value * scale);
      y -= barHeight;
      const x = left + run * slot + (slot - bar) / 2;
      return html`<rect class="${className}" x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${bar.toFixed(1)}" height="${barHeight.toFixed(1)}"><title>${label}: ${name} ${formatNumber(value)}</title></rect>`;
    });
  });
  const keys =
    series.length > 1 && series.map(({ name, className }) => html`<span class="key ${className}"></span>${name}`);
  const lines = [0, maximum / 2, maximum].map((value) => {
    const y = (height - bottom - value * scale).toFixed(1);
    return html`<line class="axis" x1="${left}" x2="${width}" y1="${y}" y2="${y}"/><text x="${left - 6}" y="${Number(y) + 4}" text-anchor="end">${formatNumber(value)}</text>`;
  });
  const ends = [
    html`<text x="${left}" y="${height - 4}">${labels[0]}</text>`,
    labels.length > 1 && html`<text x="${width}" y="${height - 4}" text-anchor="end">${labels.at(-1)}</text>`,
  ];
  return html`<figure><figcaption>${title}${keys}</figcaption><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}: the latest run ${formatNumber(sums.at(-1)!)}">${lines}${bars}${ends}</svg></figure>
`;
}
