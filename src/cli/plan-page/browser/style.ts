/** Map style: hollow and dashed shapes for the state before, filled shapes for the state after. */
import type { FilterSpecification, LayerSpecification, StyleSpecification } from "maplibre-gl";
import { type PageClass, pageClasses } from "../page-data.js";

/** Which state the map shows. */
export type Side = "before" | "both" | "after";

export interface Choice {
  readonly side: Side;
  readonly classes: readonly PageClass[];
}

const readColor = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

const shapes = {
  areas: ["match", ["geometry-type"], ["Polygon", "MultiPolygon"], true, false],
  lines: ["match", ["geometry-type"], ["Point", "MultiPoint"], false, true],
  points: ["match", ["geometry-type"], ["Point", "MultiPoint"], true, false],
} as const;
type Shape = keyof typeof shapes;

/** The states before and after have separate layers. */
const times = ["before", "after"] as const;
type Time = (typeof times)[number];

const layerId = (shape: Shape, time: Time): string => `${shape}-${time}`;

export const featureLayers: readonly string[] = times.flatMap((time) =>
  (Object.keys(shapes) as Shape[]).map((shape) => layerId(shape, time)),
);

/** The filter of each layer. */
export function filters({ side, classes }: Choice): ReadonlyMap<string, FilterSpecification> {
  const found = new Map<string, FilterSpecification>();
  for (const time of times) {
    for (const [shape, is] of Object.entries(shapes)) {
      const isShown = side === "both" || side === time;
      // Unchanged features are drawn once.
      const when =
        side === "both" ? ["==", ["get", "time"], time] : ["in", ["get", "time"], ["literal", [time, "always"]]];
      const drawn = time === "after" && side === "both" ? ["in", ["get", "time"], ["literal", [time, "always"]]] : when;
      const filter = ["all", isShown, is, ["in", ["get", "class"], ["literal", [...classes]]], drawn];
      found.set(layerId(shape as Shape, time), filter as unknown as FilterSpecification);
    }
  }
  return found;
}

/** The layers in the current color scheme. */
export function layers(choice: Choice): LayerSpecification[] {
  const shown = filters(choice);
  const chosen = ["boolean", ["feature-state", "chosen"], false];
  const plain = [
    "match",
    ["get", "class"],
    ...pageClasses.flatMap((name) => [name, readColor(name)]),
    readColor("mark"),
  ];
  const ink = ["case", chosen, readColor("chosen"), plain] as unknown as string;
  const wide = (usual: number, more: number) => ["case", chosen, more, usual] as unknown as number;
  const ring = readColor("mark-ring");
  const of = (shape: Shape, time: Time) => ({
    id: layerId(shape, time),
    source: "features",
    filter: shown.get(layerId(shape, time))!,
  });
  const ground: LayerSpecification[] = [
    { id: "sea", type: "background", paint: { "background-color": readColor("sea") } },
    { id: "land", type: "fill", source: "land", paint: { "fill-color": readColor("land"), "fill-antialias": false } },
    { id: "coast", type: "line", source: "land", paint: { "line-color": readColor("coast"), "line-width": 1 } },
  ];
  const drawn = times.flatMap((time): LayerSpecification[] => {
    const before = time === "before";
    return [
      { ...of("areas", time), type: "fill", paint: { "fill-color": ink, "fill-opacity": before ? 0.06 : 0.25 } },
      {
        ...of("lines", time),
        type: "line",
        layout: { "line-join": "round" },
        paint: {
          "line-color": ink,
          "line-width": wide(2, 4),
          ...(before ? { "line-dasharray": [2, 1.5] } : {}),
        },
      },
      {
        ...of("points", time),
        type: "circle",
        paint: {
          "circle-color": before ? "transparent" : ink,
          "circle-radius": wide(before ? 6 : 4.5, before ? 10 : 8),
          "circle-stroke-color": before ? ink : ring,
          "circle-stroke-width": before ? 2 : 1,
        },
      },
    ];
  });
  return [...ground, ...drawn];
}

export const style = (land: object, choice: Choice): StyleSpecification => ({
  version: 8,
  transition: { duration: 0, delay: 0 },
  sources: {
    land: { type: "geojson", data: land as never, tolerance: 0.2 },
    features: { type: "geojson", data: { type: "FeatureCollection", features: [] } },
  },
  layers: layers(choice),
});
