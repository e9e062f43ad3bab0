/** Selects features by pointer, by keyboard, and from the list beside the map. */
import type { Map as DrawnMap, PointLike } from "maplibre-gl";
import { boundingBoxOf, positionsOf } from "../../../model/feature-extent.js";
import type { WireFeature } from "../../../remote/wire.js";
import { createElement, type FeatureSelection } from "./selection.js";
import { featureLayers } from "./style.js";

/** Radius of a click or touch in pixels; a finger is wider than a mouse pointer. */
const hitRadiusPixels = matchMedia("(pointer: coarse)").matches ? 14 : 5;

/** Indexes of drawn features in a box or in the whole view, topmost first, without duplicates. */
function renderedFeatures(
  map: DrawnMap,
  box?: [PointLike, PointLike],
  layers: readonly string[] = featureLayers,
): number[] {
  const found = map.queryRenderedFeatures(box, { layers: [...layers] });
  return [...new Set(found.map(({ id }) => Number(id)))];
}

const hitBox = ({ x, y }: { x: number; y: number }): [PointLike, PointLike] => [
  [x - hitRadiusPixels, y - hitRadiusPixels],
  [x + hitRadiusPixels, y + hitRadiusPixels],
];

/** All drawn features by distance from the center; 0 for areas and lines that cover it. */
function sortByDistanceFromCenter(map: DrawnMap, features: readonly WireFeature[]): number[] {
  const middle = map.project(map.getCenter());
  const there = new Set(renderedFeatures(map, hitBox(middle), ["areas", "lines"]));
  const distance = (index: number): number => {
    if (there.has(index)) return 0;
    let least = Infinity;
    for (const [longitude, latitude] of positionsOf(features[index]!.geometry!)) {
      least = Math.min(least, map.project([longitude!, latitude!]).dist(middle));
    }
    return least;
  };
  const away = renderedFeatures(map).map((index) => ({ index, distance: distance(index) }));
  return away.sort((one, other) => one.distance - other.distance).map(({ index }) => index);
}

export function enablePicking(map: DrawnMap, features: readonly WireFeature[], selection: FeatureSelection): void {
  map.on("click", ({ point }) => selection.chooseNext(renderedFeatures(map, hitBox(point))));
  map.on("mousemove", ({ point }) => {
    map.getCanvas().style.cursor = renderedFeatures(map, hitBox(point)).length > 0 ? "pointer" : "";
  });

  // Enter cycles through the features in this order until the map moves.
  let inOrder: readonly number[] | null = null;
  map.on("move", () => {
    inOrder = null;
  });
  map.getCanvas().addEventListener("keydown", ({ key }) => {
    if (key === "Escape") selection.choose(null);
    if (key !== "Enter") return;
    inOrder ??= sortByDistanceFromCenter(map, features);
    selection.chooseNext(inOrder);
  });
}

/** Adds a button to each list entry whose feature has a geometry. */
export function addListButtons(map: DrawnMap, features: readonly WireFeature[], selection: FeatureSelection): void {
  const indexes = new Map(features.map(({ id }, index) => [id, index]));
  for (const entry of document.querySelectorAll<HTMLElement>("[data-feature]")) {
    const index = indexes.get(entry.dataset.feature!);
    const geometry = index === undefined ? null : features[index]!.geometry;
    const box = geometry && boundingBoxOf(geometry);
    if (!box) continue;
    const button = createElement("button", "Show on the map");
    button.className = "second";
    button.addEventListener("click", () => {
      // Limits the zoom, so that the surroundings of the feature stay visible.
      map.fitBounds(box, { maxZoom: Math.max(map.getZoom(), 7), padding: 40 });
      selection.choose(index!);
      map.getContainer().scrollIntoView({ block: "nearest" });
    });
    entry.append(button);
  }
}
