/** Draws a map of the service over the outline of the land, and shows what its features hold. */
import type { Map as DrawnMap, GeoJSONSource } from "maplibre-gl";
import type { WireFeature } from "../../../remote/wire.js";
import { letChoose, linkList } from "./choosing.js";
import { boxOf, Extent } from "./extent.js";
import { featurePages } from "./feature-pages.js";
import { Selection } from "./selection.js";
import { ShowAll } from "./show-all.js";
import { layers, style } from "./style.js";

type DrawnFeature = NonNullable<Parameters<GeoJSONSource["updateData"]>[0]["add"]>[number];

const root = document.getElementById("map")!;
const status = document.getElementById("map-status")!;
const facts = root.dataset as Record<"name" | "total" | "features" | "library" | "worker" | "land", string>;
const total = Number(facts.total);

const number = (value: number): string => value.toLocaleString("en");

async function makeMap(): Promise<DrawnMap> {
  const library = (await import(facts.library)) as typeof import("maplibre-gl");
  library.setWorkerUrl(new URL(facts.worker, location.href).href);
  const map = new library.Map({
    container: "canvas",
    style: style(new URL(facts.land, location.href).href),
    zoom: 0.5,
    center: [0, 20],
    maxPitch: 0,
    dragRotate: false,
    fadeDuration: 0,
    // One finger scrolls the page.
    cooperativeGestures: matchMedia("(pointer: coarse)").matches,
    attributionControl: { compact: false, customAttribution: "Land: Natural Earth" },
    locale: { "Map.Title": `Map of ${facts.name}` },
  });
  map.keyboard.disableRotation();
  map.touchZoomRotate.disableRotation();
  map.addControl(new library.NavigationControl({ showCompass: false }));
  map.addControl(new library.ScaleControl());
  map.getCanvas().setAttribute("aria-describedby", "map-help");
  await new Promise((resolve, reject) => {
    map.once("load", resolve);
    map.once("error", ({ error }) => reject(error));
  });
  return map;
}

/** Takes its colours anew when the browser goes dark or light, which it may have done meanwhile. */
function followColours(map: DrawnMap): void {
  const recolour = () => {
    for (const { id, paint = {} } of layers()) {
      for (const [name, value] of Object.entries(paint)) {
        map.setPaintProperty(id, name as Parameters<DrawnMap["setPaintProperty"]>[1], value);
      }
    }
  };
  recolour();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
}

/**
 * Fetches the features into `features` and draws them. With each addition the map's thread sorts all of them anew, so
 * they are added when there are twice as many: all the sorting together costs twice the last.
 */
async function load(map: DrawnMap, features: WireFeature[]): Promise<void> {
  const source = map.getSource<GeoJSONSource>("features")!;
  const extent = new Extent();
  let waiting: DrawnFeature[] = [];
  let drawn = 0;
  const draw = async () => {
    drawn += waiting.length;
    const added = source.updateData({ add: waiting });
    waiting = [];
    await added;
  };
  for await (const page of featurePages(facts.features)) {
    for (const feature of page) {
      const box = feature.geometry && boxOf(feature.geometry);
      if (box) {
        extent.add(box);
        waiting.push({ type: "Feature", id: features.length, geometry: feature.geometry as never, properties: null });
      }
      features.push(feature);
    }
    const first = drawn === 0;
    if (waiting.length >= Math.max(1, drawn)) await draw();
    if (first && !movedByHand) showAll(map, extent);
  }
  await draw();
  if (!movedByHand) showAll(map, extent);
  if (extent.box()) map.addControl(new ShowAll(() => showAll(map, extent)));
  status.textContent = summary(features.length, drawn);
}

let movedByHand = false;

function showAll(map: DrawnMap, extent: Extent): void {
  const box = extent.box();
  if (box) map.fitBounds(box, { animate: false, padding: 40, maxZoom: 13 });
}

function summary(fetched: number, drawn: number): string {
  if (fetched === 0) return "There are no features yet.";
  const parts = [`The map shows ${number(drawn)} ${drawn === 1 ? "feature" : "features"}.`];
  if (fetched < total) parts.push(`It has ${number(total)}: the list goes through all of them.`);
  if (drawn < fetched)
    parts.push(`${number(fetched - drawn)} without a place ${fetched - drawn === 1 ? "is" : "are"} in the list only.`);
  return parts.join(" ");
}

root.hidden = false;
root.setAttribute("aria-busy", "true");
status.textContent = "The map is being loaded…";
try {
  const map = await makeMap();
  map.on("movestart", ({ originalEvent }) => {
    movedByHand ||= originalEvent !== undefined;
  });
  followColours(map);
  const features: WireFeature[] = [];
  const selection = new Selection(map, features, document.getElementById("selection")!);
  letChoose(map, features, selection);
  await load(map, features);
  linkList(map, features, selection);
  map.once("idle", () => root.setAttribute("aria-busy", "false"));
  map.triggerRepaint();
} catch (error) {
  console.error(error);
  status.textContent =
    "The map cannot be drawn in this browser, or its features cannot be fetched now. The list has them, too.";
  root.querySelector<HTMLElement>(".frame")!.hidden = document.querySelector("canvas") === null;
  root.setAttribute("aria-busy", "false");
}
