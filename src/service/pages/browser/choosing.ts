/** Choosing features: by pointer, by keys, and from the list beside the map. */
import type { Map as DrawnMap, PointLike } from "maplibre-gl";
import type { WireFeature } from "../../../remote/wire.js";
import { boxOf, positionsOf } from "./extent.js";
import { element, type Selection } from "./selection.js";
import { featureLayers } from "./style.js";

/** Pixels around a click that count as hit; a finger is wider than a mouse's pointer. */
const reach = matchMedia("(pointer: coarse)").matches ? 14 : 5;

/** Features that are drawn in a part of the window, or in all of it, topmost first, each once. */
function drawnIn(map: DrawnMap, box?: [PointLike, PointLike], layers: readonly string[] = featureLayers): number[] {
  const found = map.queryRenderedFeatures(box, { layers: [...layers] });
  return [...new Set(found.map(({ id }) => Number(id)))];
}

const around = ({ x, y }: { x: number; y: number }): [PointLike, PointLike] => [
  [x - reach, y - reach],
  [x + reach, y + reach],
];

/** All that are drawn, by their distance from the middle: none for areas and lines that go through it. */
function fromTheMiddle(map: DrawnMap, features: readonly WireFeature[]): number[] {
  const middle = map.project(map.getCenter());
  const there = new Set(drawnIn(map, around(middle), ["areas", "lines"]));
  const distance = (index: number): number => {
    if (there.has(index)) return 0;
    let least = Infinity;
    for (const [longitude, latitude] of positionsOf(features[index]!.geometry!)) {
      least = Math.min(least, map.project([longitude!, latitude!]).dist(middle));
    }
    return least;
  };
  const away = drawnIn(map).map((index) => ({ index, distance: distance(index) }));
  return away.sort((one, other) => one.distance - other.distance).map(({ index }) => index);
}

export function letChoose(map: DrawnMap, features: readonly WireFeature[], selection: Selection): void {
  map.on("click", ({ point }) => selection.chooseNext(drawnIn(map, around(point))));
  map.on("mousemove", ({ point }) => {
    map.getCanvas().style.cursor = drawnIn(map, around(point)).length > 0 ? "pointer" : "";
  });

  // Enter goes through them in this order as long as the map stands still.
  let inOrder: readonly number[] | null = null;
  map.on("move", () => {
    inOrder = null;
  });
  map.getCanvas().addEventListener("keydown", ({ key }) => {
    if (key === "Escape") selection.choose(null);
    if (key !== "Enter") return;
    inOrder ??= fromTheMiddle(map, features);
    selection.chooseNext(inOrder);
  });
}

/** Adds a button to each feature of the list that has a place. */
export function linkList(map: DrawnMap, features: readonly WireFeature[], selection: Selection): void {
  const places = new Map(features.map(({ id }, index) => [id, index]));
  for (const entry of document.querySelectorAll<HTMLElement>("[data-feature]")) {
    const index = places.get(entry.dataset.feature!);
    const geometry = index === undefined ? null : features[index]!.geometry;
    const box = geometry && boxOf(geometry);
    if (!box) continue;
    const button = element("button", "Show on the map");
    button.className = "second";
    button.addEventListener("click", () => {
      // Not so near that nothing but the feature is left to tell where it is.
      map.fitBounds(box, { maxZoom: Math.max(map.getZoom(), 7), padding: 40 });
      selection.choose(index!);
      map.getContainer().scrollIntoView({ block: "nearest" });
    });
    entry.append(button);
  }
}
