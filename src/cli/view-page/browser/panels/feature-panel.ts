/** The selected feature: its values, and where it is. */
import type { Field } from "../../../../model/field.js";
import type { FeatureDetail } from "../../../../view/protocol.js";
import { toLatitude, toLongitude } from "../../../../view/world.js";
import { button, dataText, groupDigits, make } from "../dom.js";
import type { LayerState } from "../state.js";
import { cellText } from "../table/cell-text.js";

export interface FeaturePanelEvents {
  onClose(): void;
  onZoom(feature: FeatureDetail): void;
  /** The next or previous of several features at one place. */
  onStep(change: number): void;
}

/** One of several features at a place. */
export interface PickPosition {
  readonly at: number;
  readonly listed: number;
  readonly count: number;
}

/** Characters of a title. */
const maxTitle = 120;

/** Fields whose value is the title of a feature. */
const titleNames = ["title", "name", "label", "reason"];

function titleOf({ cells, row }: FeatureDetail, fields: readonly Field[]): string {
  for (const wanted of titleNames) {
    const at = fields.findIndex(({ name }) => name.toLowerCase() === wanted);
    const text = at < 0 ? "" : cellText(cells[at] ?? null).trim();
    if (text !== "") return text.length > maxTitle ? `${text.slice(0, maxTitle - 1)}…` : text;
  }
  const texts = fields.map(({ type }, at) => (type === "text" ? cellText(cells[at] ?? null).trim() : ""));
  const first = texts.find((text) => text !== "" && text.length <= maxTitle);
  return first ?? `Feature ${groupDigits(row + 1)}`;
}

export function renderFeature(
  root: HTMLElement,
  layer: LayerState,
  feature: FeatureDetail,
  picked: PickPosition | null,
  events: FeaturePanelEvents,
): void {
  const { info } = layer;
  const head = make(
    "header",
    {},
    make("h2", { id: "feature-title" }, dataText(titleOf(feature, info.fields))),
    button("×", events.onClose, { class: "icon-button", "aria-label": "Close", title: "Close (Escape)" }),
  );
  const about = make("p", { class: "quiet" }, dataText(info.name), ` · row ${groupDigits(feature.row + 1)}`);
  root.replaceChildren(head, about);
  if (picked && picked.count > 1) root.append(renderSteps(picked, events));
  root.append(renderValues(feature, info.fields), ...renderPlace(feature, events));
  root.hidden = false;
  root.scrollTop = 0;
}

function renderSteps({ at, listed, count }: PickPosition, { onStep }: FeaturePanelEvents): HTMLElement {
  const more = count > listed ? ` (the first ${groupDigits(listed)} are listed)` : "";
  return make(
    "p",
    { class: "steps" },
    button("‹", () => onStep(-1), { class: "icon-button", "aria-label": "Previous feature at this place" }),
    make("span", {}, `${groupDigits(at + 1)} of ${groupDigits(count)} at this place${more}`),
    button("›", () => onStep(1), { class: "icon-button", "aria-label": "Next feature at this place" }),
  );
}

function renderValues({ id, cells }: FeatureDetail, fields: readonly Field[]): HTMLElement {
  const list = make("dl", { class: "values" });
  const add = (name: string, value: string | null) => {
    const shown = value === null ? make("dd", { class: "null" }, "null") : make("dd", { dir: "auto" });
    if (value !== null) shown.textContent = value;
    list.append(make("dt", {}, dataText(name)), shown);
  };
  if (id !== null) add("id", cellText(id));
  fields.forEach(({ name }, f) => {
    const cell = cells[f] ?? null;
    add(name, cell === null ? null : cellText(cell));
  });
  return list;
}

function renderPlace(feature: FeatureDetail, { onZoom }: FeaturePanelEvents): HTMLElement[] {
  const { center, geometry, wkt } = feature;
  const place = make("div", { class: "place" });
  if (!center) place.append(make("p", { class: "quiet" }, geometry === null ? "No geometry" : `${geometry}, empty`));
  else {
    place.append(
      make("p", { class: "quiet" }, `${geometry} at ${degreesText(toLatitude(center[1]), toLongitude(center[0]))}`),
      button("Zoom to feature", () => onZoom(feature), { class: "quiet-button" }),
    );
  }
  if (wkt === null) return [place];
  return [place, make("details", {}, make("summary", {}, "Coordinates (WGS 84)"), make("pre", {}, wkt))];
}

/** Rounded to 0.000001 degrees, 11 cm. */
export const degreesText = (latitude: number, longitude: number, decimals = 6): string =>
  `${Math.abs(latitude).toFixed(decimals)}°\u00a0${latitude < 0 ? "S" : "N"}, ${Math.abs(longitude).toFixed(decimals)}°\u00a0${longitude < 0 ? "W" : "E"}`;
