/** The feature that was chosen: marked in the table and on the map, with all its old and new values. */
import type { Map as DrawnMap } from "maplibre-gl";
import { formatLocation, formatProperties } from "../../../service/pages/maps/feature-text.js";
import type { PageRow } from "../page-data.js";

/** What a feature is called on the map: twice its row, and one more for what is there after. */
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

  /** The next of those that lie under each other. */
  chooseNext(candidates: readonly number[]): void {
    const before = this.#chosen === null ? -1 : candidates.indexOf(this.#chosen);
    this.choose(candidates[(before + 1) % candidates.length] ?? null);
  }

  #mark(row: number, chosen: boolean): void {
    for (const id of mapIds(row)) this.map.setFeatureState({ source: "features", id }, { chosen });
    document.querySelector(`[data-row="${row}"]`)?.classList.toggle("chosen", chosen);
  }
}

/** Everything that people wrote goes in as text. */
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
