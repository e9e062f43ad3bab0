/** The map style, in the colors of the page's style sheet. */
import type { LayerSpecification, StyleSpecification } from "maplibre-gl";

type ColorName = "sea" | "land" | "coast" | "mark" | "mark-ring" | "chosen";

function readColor(name: ColorName): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Ids of the layers that show features. */
export const featureLayers = ["areas", "lines", "points"] as const;

export function createLayers(): LayerSpecification[] {
  const ink = [
    "case",
    ["boolean", ["feature-state", "chosen"], false],
    readColor("chosen"),
    readColor("mark"),
  ] as const;
  const mark = ink as unknown as string;
  const wide = (plain: number, chosen: number) =>
    ["case", ["boolean", ["feature-state", "chosen"], false], chosen, plain] as unknown as number;
  return [
    { id: "sea", type: "background", paint: { "background-color": readColor("sea") } },
    { id: "land", type: "fill", source: "land", paint: { "fill-color": readColor("land"), "fill-antialias": false } },
    { id: "coast", type: "line", source: "land", paint: { "line-color": readColor("coast"), "line-width": 1 } },
    {
      id: "areas",
      type: "fill",
      source: "features",
      filter: ["match", ["geometry-type"], ["Polygon", "MultiPolygon"], true, false],
      paint: { "fill-color": mark, "fill-opacity": 0.25 },
    },
    {
      id: "lines",
      type: "line",
      source: "features",
      filter: ["match", ["geometry-type"], ["Point", "MultiPoint"], false, true],
      layout: { "line-cap": "round", "line-join": "round" },
      paint: { "line-color": mark, "line-width": wide(1.75, 4) },
    },
    {
      id: "points",
      type: "circle",
      source: "features",
      filter: ["match", ["geometry-type"], ["Point", "MultiPoint"], true, false],
      paint: {
        "circle-color": mark,
        "circle-radius": ["interpolate", ["linear"], ["zoom"], 1, wide(2.5, 7), 8, wide(4.5, 9), 14, wide(6, 10)],
        "circle-stroke-color": readColor("mark-ring"),
        "circle-stroke-width": 1,
      },
    },
  ];
}

export const createStyle = (landAddress: string): StyleSpecification => ({
  version: 8,
  transition: { duration: 0, delay: 0 },
  sources: {
    land: { type: "geojson", data: landAddress, tolerance: 0.2 },
    features: { type: "geojson", data: { type: "FeatureCollection", features: [] } },
  },
  layers: createLayers(),
});
