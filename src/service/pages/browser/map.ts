/** Draws a map of the service over the outline of the land, and shows the properties of selected features. */
import type { Map as DrawnMap, GeoJSONSource } from "maplibre-gl";
import { boundingBoxOf, FeatureExtent } from "../../../model/feature-extent.js";
import type { WireFeature } from "../../../remote/wire.js";
import { fetchFeaturePages } from "./feature-pages.js";
import { addListButtons, enablePicking } from "./feature-picking.js";
import { FeatureSelection } from "./selection.js";
import { ShowAllControl } from "./show-all-control.js";
import { createLayers, createStyle } from "./style.js";

type DrawnFeature = NonNullable<Parameters<GeoJSONSource["updateData"]>[0]["add"]>[number];

const mapElement = document.getElementById("map")!;
const statusElement = document.getElementById("map-status")!;
const mapData = mapElement.dataset as Record<"name" | "total" | "features" | "library" | "worker" | "land", string>;
const totalFeatures = Number(mapData.total);

const formatNumber = (value: number): string => value.toLocaleString("en");

async function createMap(): Promise<DrawnMap> {
  const library = (await import(mapData.library)) as typeof import("maplibre-gl");
  library.setWorkerUrl(new URL(mapData.worker, location.href).href);
  const map = new library.Map({
    container: "canvas",
    style: createStyle(new URL(mapData.land, location.href).href),
    zoom: 0.5,
    center: [0, 20],
    maxPitch: 0,
    dragRotate: false,
    fadeDuration: 0,
    // On touch screens, one finger scrolls the page.
    cooperativeGestures: matchMedia("(pointer: coarse)").matches,
    attributionControl: { compact: false, customAttribution: "Land: Natural Earth" },
    locale: { "Map.Title": `Map of ${mapData.name}` },
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

/** Applies the colors of the current color scheme, now and whenever it changes. */
function followColorScheme(map: DrawnMap): void {
  const recolour = () => {
    for (const { id, paint = {} } of createLayers()) {
      for (const [name, value] of Object.entries(paint)) {
        map.setPaintProperty(id, name as Parameters<DrawnMap["setPaintProperty"]>[1], value);
      }
    }
  };
  recolour();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
}

/**
 * Fetches the features into `features` and draws them. The library re-indexes all features with each addition, so they
 * are added each time their number has doubled: the total cost is twice that of the last addition.
 */
async function loadFeatures(map: DrawnMap, features: WireFeature[]): Promise<void> {
  const source = map.getSource<GeoJSONSource>("features")!;
  const extent = new FeatureExtent();
  let waiting: DrawnFeature[] = [];
  let drawn = 0;
  const draw = async () => {
    drawn += waiting.length;
    const added = source.updateData({ add: waiting });
    waiting = [];
    await added;
  };
  for await (const page of fetchFeaturePages(mapData.features)) {
    for (const feature of page) {
      const box = feature.geometry && boundingBoxOf(feature.geometry);
      if (box) {
        extent.add(box);
        waiting.push({ type: "Feature", id: features.length, geometry: feature.geometry as never, properties: null });
      }
      features.push(feature);
    }
    const first = drawn === 0;
    if (waiting.length >= Math.max(1, drawn)) await draw();
    if (first && !movedByUser) zoomToAll(map, extent);
  }
  await draw();
  if (!movedByUser) zoomToAll(map, extent);
  if (extent.box()) map.addControl(new ShowAllControl(() => zoomToAll(map, extent)));
  statusElement.textContent = summarize(features.length, drawn);
}

let movedByUser = false;

function zoomToAll(map: DrawnMap, extent: FeatureExtent): void {
  const box = extent.box();
  if (box) map.fitBounds(box, { animate: false, padding: 40, maxZoom: 13 });
}

function summarize(fetched: number, drawn: number): string {
  if (fetched === 0) return "There are no features yet.";
  const parts = [`The map shows ${formatNumber(drawn)} ${drawn === 1 ? "feature" : "features"}.`];
  if (fetched < totalFeatures) parts.push(`It has ${formatNumber(totalFeatures)} features; the list has all of them.`);
  if (drawn < fetched)
    parts.push(
      `${formatNumber(fetched - drawn)} without a geometry ${fetched - drawn === 1 ? "is" : "are"} only in the list.`,
    );
  return parts.join(" ");
}

mapElement.hidden = false;
mapElement.setAttribute("aria-busy", "true");
statusElement.textContent = "Loading the map…";
try {
  const map = await createMap();
  map.on("movestart", ({ originalEvent }) => {
    movedByUser ||= originalEvent !== undefined;
  });
  followColorScheme(map);
  const features: WireFeature[] = [];
  const selection = new FeatureSelection(map, features, document.getElementById("selection")!);
  enablePicking(map, features, selection);
  await loadFeatures(map, features);
  addListButtons(map, features, selection);
  map.once("idle", () => mapElement.setAttribute("aria-busy", "false"));
  map.triggerRepaint();
} catch (error) {
  console.error(error);
  statusElement.textContent =
    "Cannot draw the map: this browser does not support it, or the features could not be loaded. The list has the same features.";
  mapElement.querySelector<HTMLElement>(".frame")!.hidden = document.querySelector("canvas") === null;
  mapElement.setAttribute("aria-busy", "false");
}
