/** Draws the map of a plan or a diff, before and after. All data is in the page. */
import type { GeoJSONSource } from "maplibre-gl";
import * as library from "maplibre-gl";
import { boundingBoxOf, FeatureExtent } from "../../../model/feature-extent.js";
import { type PageRow, pageClasses } from "../page-data.js";
import { mapIds, Selection } from "./selection.js";
import { type Choice, featureLayers, filters, layers, type Side, style } from "./style.js";

type DrawnFeature = NonNullable<Parameters<GeoJSONSource["updateData"]>[0]["add"]>[number];

const readData = <T>(id: string): T => JSON.parse(document.getElementById(id)!.textContent!) as T;

const root = document.getElementById("map")!;
const status = document.getElementById("map-status")!;
const filter = document.getElementById("filter")!;
const rows = readData<readonly PageRow[]>("plan-rows");

function readChoice(): Choice {
  const ticked = [...document.querySelectorAll<HTMLInputElement>("#filter input:checked")].map(({ value }) => value);
  const side = document.querySelector<HTMLInputElement>(".sides input:checked")!.value as Side;
  return { side, classes: pageClasses.filter((name) => ticked.includes(name)) };
}

async function makeMap(): Promise<library.Map> {
  library.setWorkerUrl(URL.createObjectURL(new Blob([readData<string>("worker")], { type: "text/javascript" })));
  const map = new library.Map({
    container: "canvas",
    style: style(readData("land"), readChoice()),
    zoom: 0.5,
    center: [0, 20],
    maxPitch: 0,
    dragRotate: false,
    fadeDuration: 0,
    cooperativeGestures: matchMedia("(pointer: coarse)").matches,
    attributionControl: { compact: false, customAttribution: "Land: Natural Earth" },
    locale: { "Map.Title": root.dataset.title ?? "Map" },
  });
  map.keyboard.disableRotation();
  map.touchZoomRotate.disableRotation();
  map.addControl(new library.NavigationControl({ showCompass: false }));
  map.addControl(new library.ScaleControl());
  await new Promise((resolve, reject) => {
    map.once("load", resolve);
    map.once("error", ({ error }) => reject(error));
  });
  return map;
}

/** Map features of a row: its states before and after, or one feature if it is unchanged. */
function toMapFeatures({ class: name, before, after }: PageRow, row: number): DrawnFeature[] {
  const [old, now] = mapIds(row);
  const feature = (id: number, geometry: object | null | undefined, time: string): DrawnFeature[] =>
    geometry ? [{ type: "Feature", id, geometry: geometry as never, properties: { class: name, time } }] : [];
  if (name === "unmanaged") return feature(old, before?.geometry, "always");
  return [...feature(old, before?.geometry, "before"), ...feature(now, after?.geometry, "after")];
}

const listGeometries = ({ before, after }: PageRow) => [before, after].flatMap((one) => one?.geometry ?? []);

function computeExtent(some: readonly PageRow[]): FeatureExtent {
  const extent = new FeatureExtent();
  for (const geometry of some.flatMap(listGeometries)) {
    const box = boundingBoxOf(geometry);
    if (box) extent.add(box);
  }
  return extent;
}

/** Calls `show` when the user changes the filter or the side. */
function listenForChoice(show: (choice: Choice) => void): void {
  for (const input of document.querySelectorAll("#filter input, .sides input"))
    input.addEventListener("change", () => show(readChoice()));
}

function filterTable({ classes }: Choice): void {
  for (const row of document.querySelectorAll<HTMLElement>("[data-row]"))
    row.hidden = !classes.includes(rows[Number(row.dataset.row)]!.class);
}

function filterMap(map: library.Map, choice: Choice): void {
  for (const [layer, what] of filters(choice)) map.setFilter(layer, what);
}

/** Updates the colors when the color scheme changes. */
function followColorScheme(map: library.Map): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const { id, paint = {} } of layers(readChoice()))
      for (const [name, value] of Object.entries(paint))
        map.setPaintProperty(id, name as Parameters<library.Map["setPaintProperty"]>[1], value);
  });
}

/** Makes the names in the table buttons that select a feature; clicks on a row do the same. */
function linkTable(map: library.Map, selection: Selection): void {
  const show = (row: number) => {
    const box = computeExtent([rows[row]!]).box();
    if (box) map.fitBounds(box, { maxZoom: Math.max(map.getZoom(), 11), padding: 60, animate: false });
    selection.choose(row);
    root.scrollIntoView({ block: "nearest" });
  };
  for (const cell of document.querySelectorAll("[data-row] th")) {
    const button = document.createElement("button");
    button.className = "plain";
    button.append(...cell.childNodes);
    cell.append(button);
  }
  document.querySelector(".rows")?.addEventListener("click", ({ target }) => {
    const row = (target as Element).closest<HTMLElement>("[data-row]");
    if (row && !getSelection()?.toString()) show(Number(row.dataset.row));
  });
  document.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") selection.choose(null);
  });
}

function enableSelection(map: library.Map, selection: Selection): void {
  const rowsNear = ({ x, y }: library.Point): number[] => {
    const found = map.queryRenderedFeatures(
      [
        [x - 6, y - 6],
        [x + 6, y + 6],
      ],
      { layers: [...featureLayers] },
    );
    return [...new Set(found.map(({ id }) => Math.floor(Number(id) / 2)))];
  };
  map.on("click", ({ point }) => selection.chooseNext(rowsNear(point)));
  map.on("mousemove", ({ point }) => {
    map.getCanvas().style.cursor = rowsNear(point).length > 0 ? "pointer" : "";
  });
}

root.hidden = false;
filter.hidden = false;
listenForChoice(filterTable);
root.setAttribute("aria-busy", "true");
status.textContent = "Drawing the map…";
try {
  const map = await makeMap();
  const selection = new Selection(map, rows, document.getElementById("selection")!);
  const drawn = rows.flatMap(toMapFeatures);
  map.getSource<GeoJSONSource>("features")!.setData({ type: "FeatureCollection", features: drawn as never });
  listenForChoice((choice) => filterMap(map, choice));
  followColorScheme(map);
  enableSelection(map, selection);
  linkTable(map, selection);
  const box = computeExtent(rows).box();
  if (box) map.fitBounds(box, { animate: false, padding: 40, maxZoom: 13 });
  const withoutGeometry = rows.filter((row) => listGeometries(row).length === 0).length;
  status.textContent =
    withoutGeometry === 0
      ? ""
      : `${withoutGeometry.toLocaleString("en")} without geometry ${withoutGeometry === 1 ? "is" : "are"} in the table only.`;
  map.once("idle", () => root.setAttribute("aria-busy", "false"));
  map.triggerRepaint();
} catch (error) {
  console.error(error);
  status.textContent = "This browser cannot draw the map. The table has the same features.";
  root.querySelector<HTMLElement>(".frame")!.hidden = document.querySelector("canvas") === null;
  root.setAttribute("aria-busy", "false");
}
