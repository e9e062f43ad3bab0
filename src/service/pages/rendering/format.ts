/** Formats numbers, times and counts for display. */
import { type Html, html } from "./html.js";

const numberFormat = new Intl.NumberFormat("en");
const timeFormat = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });

export const formatNumber = (value: number): string => numberFormat.format(value);

/** "1 feature", "5,000 features" */
export const pluralize = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`;

/** "21 Nov 2026, 21:35 UTC"; date and time each stay on one line. */
export function formatTime(milliseconds: number): Html {
  const text = `${timeFormat.format(milliseconds)} UTC`.replaceAll(" ", "\u00a0").replace(",\u00a0", ", ");
  return html`<time datetime="${new Date(milliseconds).toISOString()}">${text}</time>`;
}

/** A user-supplied name, isolated so that its text direction does not affect the surrounding text. */
export const isolateName = (name: string): Html => html`<bdi>${name}</bdi>`;
