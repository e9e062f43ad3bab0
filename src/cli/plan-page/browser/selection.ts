/** The selected feature: highlighted in table and map, with its old and new values in a panel. */
import type { Map as DrawnMap } from "maplibre-gl";
import { formatLocation, formatProperties } from "../../../service/pages/maps/feature-text.js";
import type { PageRow } from "../page-data.js";

/** Map feature ids of a row: 2 × row for the state before, 2 × row + 1 for the state after. */
export const mapIds = (row: number): readonly [before: number, after: number] => [2 * row, 2 * row + 1];

export class Selection {
  #chosen: number | null = null;

  constructor(
    private readonly map: DrawnMap,
    private readonly rows: readonly PageRow[],
    private readonly panel: HTMLElement,
  ) {}

  choose(row: number | null): void {
    if (this.#chosen !== null) this.#mark(this.#chosen, false);
    this.#chosen = row;
    this.panel.hidden = row === null;
    this.panel.replaceChildren();
    if (row === null) return;
    this.#mark(row, true);
    this.panel.append(...renderSelection(this.rows[row]!, () => this.choose(null)));
    this.panel.scrollTop = 0;
  }

  /** Cycles through overlapping features. */
  chooseNext(candidates: readonly number[]): void {
    const before = this.#chosen === null ? -1 : candidates.indexOf(this.#chosen);
    this.choose(candidates[(before + 1) % candidates.length] ?? null);
  }

  #mark(row: number, chosen: boolean): void {
    for (const id of mapIds(row)) this.map.setFeatureState({ source: "features", id }, { chosen });
    document.querySelector(`[data-row="${row}"]`)?.classList.toggle("chosen", chosen);
  }
}

/** Inserts all values as text, not as markup. */
function renderSelection({ class: what, name, before, after }: PageRow, close: () => void): HTMLElement[] {
  const head = document.createElement("header");
  const button = createElement("button", "Close");
  button.className = "plain";
  button.addEventListener("click", close);
  head.append(createElement("h3", `${what}: ${name}`), button);
  const table = document.createElement("table");
  table.className = "values";
  table.append(createRow("th", ["", "before", "after"]));
  const [old, now] = [before, after].map(
    (one) => new Map(one ? [["place", formatLocation(one.geometry)], ...formatProperties(one.properties)] : []),
  );
  for (const property of new Set([...old!.keys(), ...now!.keys()])) {
    const row = createRow("td", [property, old!.get(property) ?? "", now!.get(property) ?? ""]);
    table.append(row);
  }
  return [head, table];
}

function createRow(tag: "th" | "td", texts: readonly string[]): HTMLElement {
  const row = document.createElement("tr");
  row.append(...texts.map((text, at) => createElement(at === 0 ? "th" : tag, text)));
  return row;
}

function createElement(tag: string, text: string): HTMLElement {
  const made = document.createElement(tag);
  made.textContent = text;
  made.dir = "auto";
  return made;
}
