/** The list of layers, with what belongs to the active one: its colors and their legend. */
import type { ColorChoice, ColorClass } from "../../../../view/protocol.js";
import { button, countOf, dataText, groupDigits, make } from "../dom.js";
import { colorsOf, type LayerState, type PageState } from "../state.js";
import { isNumeric } from "../table/cell-text.js";

export interface LayerListEvents {
  onActivate(layer: LayerState): void;
  onToggle(layer: LayerState): void;
  onZoom(layer: LayerState): void;
  onColor(layer: LayerState, choice: ColorChoice | null): void;
}

const maxLegend = 14;

export function renderLayers(root: HTMLElement, state: PageState, events: LayerListEvents): void {
  const focused = document.activeElement?.id;
  const items = state.layers.map((layer) => renderLayer(layer, layer === state.active, events));
  root.replaceChildren(...items);
  if (focused) document.getElementById(focused)?.focus();
}

function renderLayer(layer: LayerState, isActive: boolean, events: LayerListEvents): HTMLElement {
  const { info, id } = layer;
  const item = make("li", { class: `layer${isActive ? " active" : ""}` });
  const visible = make("input", {
    type: "checkbox",
    id: `visible-${id}`,
    "aria-label": `Show ${info.name} on the map`,
  });
  visible.checked = layer.isVisible && info.located > 0;
  visible.disabled = info.located === 0;
  visible.addEventListener("change", () => events.onToggle(layer));
  const name = make("button", { type: "button", class: "layer-name", id: `layer-${id}` }, dataText(info.name));
  if (isActive) name.setAttribute("aria-current", "true");
  name.addEventListener("click", () => events.onActivate(layer));
  const row = make(
    "div",
    { class: "layer-row" },
    visible,
    swatch(layer),
    name,
    make("span", { class: "count" }, countText(layer)),
  );
  item.append(row, make("p", { class: "layer-about" }, aboutText(layer)));
  if (isActive && info.located > 0) item.append(...renderOptions(layer, events));
  return item;
}

function countText({ counts, info, query }: LayerState): string {
  const shown = groupDigits(counts.rows);
  return query.where === null ? shown : `${shown} of ${groupDigits(info.rows)}`;
}

function aboutText({ info }: LayerState): string {
  if (info.role === "rejects") return "Could not be read, with the reasons";
  if (info.role === "problems") return "Found by check";
  const kinds = info.geometryTypes.join(", ") || "no geometry";
  const missing = info.rows - info.located;
  const parts = [
    `${kinds}${info.hasZ ? " with Z" : ""}`,
    info.crs ? (info.crs.id ?? info.crs.name) : "no CRS declared",
  ];
  if (missing > 0 && info.located > 0) parts.push(`${countOf(missing, "feature")} not on the map`);
  return parts.join(" · ");
}

/** How features of the layer are drawn, as a class of the style sheet. */
function shapeOf(layer: LayerState): string {
  return layer.info.geometryTypes.some((type) => /Polygon/.test(type))
    ? "area"
    : layer.info.geometryTypes.some((type) => /Line/.test(type))
      ? "line"
      : layer.info.located > 0
        ? "dot"
        : "none";
}

function swatch(layer: LayerState): HTMLElement {
  const colors = colorsOf(layer);
  const mark = make("span", { class: `swatch ${shapeOf(layer)}`, "aria-hidden": "true" });
  mark.style.setProperty("--swatch", layer.legend ? "transparent" : colors[0]!);
  if (layer.legend) {
    const used = layer.legend.flatMap(({ count }, at) => (count > 0 ? [colors[at]!] : []));
    const some = used.slice(0, 4);
    const stops = some.map((color, at) => `${color} ${(100 * at) / some.length}% ${(100 * (at + 1)) / some.length}%`);
    mark.style.background = `linear-gradient(90deg, ${stops.join(", ")})`;
  }
  return mark;
}

function renderOptions(layer: LayerState, events: LayerListEvents): HTMLElement[] {
  const { info, id } = layer;
  const field = make("select", { id: `color-${id}` });
  field.append(new Option("one color", ""));
  if (info.ownColors) field.append(new Option("own colors", "own-0"));
  const group = make("optgroup", { label: "by field" });
  group.append(...info.fields.map(({ name }, at) => new Option(name, `field-${at}`)));
  if (info.fields.length > 0) field.append(group);
  field.value = layer.color === null ? "" : layer.color.method === "own" ? "own-0" : `field-${layer.color.field}`;
  field.addEventListener("change", () => events.onColor(layer, choiceOf(layer, field.value)));
  const zoom = button("Zoom to layer", () => events.onZoom(layer), { class: "quiet-button", id: `zoom-${id}` });
  const options = make(
    "div",
    { class: "layer-options" },
    make("label", { for: field.id }, "Color"),
    field,
    ...methodChoice(layer, events),
    zoom,
  );
  if (layer.legend) return [options, renderLegend(layer, layer.legend)];
  return layer.color ? [options, make("p", { class: "legend quiet", role: "status" }, "Counting values…")] : [options];
}

function choiceOf({ info }: LayerState, value: string): ColorChoice | null {
  if (value === "") return null;
  const [kind, at] = value.split("-");
  const field = Number(at);
  if (kind === "own") return { field, method: "own" };
  return { field, method: isNumeric(info.fields[field]!.type) ? "quantiles" : "values" };
}

const methodNames = { quantiles: "equal counts", equal: "equal ranges", values: "single values" } as const;

/** Numbers can be divided into classes in several ways. */
function methodChoice(layer: LayerState, events: LayerListEvents): HTMLElement[] {
  const { color, info, id } = layer;
  if (!color || color.method === "own" || !isNumeric(info.fields[color.field]!.type)) return [];
  const method = make("select", { id: `method-${id}` });
  for (const [value, name] of Object.entries(methodNames)) method.append(new Option(name, value));
  method.value = color.method;
  method.addEventListener("change", () =>
    events.onColor(layer, { field: color.field, method: method.value as keyof typeof methodNames }),
  );
  return [make("label", { for: method.id }, "Classes"), method];
}

function renderLegend(layer: LayerState, legend: readonly ColorClass[]): HTMLElement {
  const colors = colorsOf(layer);
  const { color, info } = layer;
  const list = make("ul", {
    class: "legend",
    "aria-label": color?.method === "own" ? "Legend" : `Legend: ${info.fields[color!.field]!.name}`,
  });
  const used = legend.map((one, at) => ({ ...one, at })).filter(({ count }) => count > 0);
  for (const { label, count, at } of used.slice(0, maxLegend)) {
    const mark = make("span", { class: `swatch ${shapeOf(layer)}`, "aria-hidden": "true" });
    mark.style.setProperty("--swatch", colors[at]!);
    list.append(
      make(
        "li",
        {},
        mark,
        make("span", { class: "legend-label" }, dataText(label)),
        make("span", { class: "count" }, groupDigits(count)),
      ),
    );
  }
  if (used.length > maxLegend) list.append(make("li", { class: "quiet" }, `and ${used.length - maxLegend} more`));
  return list;
}
