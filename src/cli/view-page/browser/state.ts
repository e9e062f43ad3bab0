/** What the page shows, apart from where the map looks. */
import type { Analysis, ColorChoice, ColorClass, LayerInfo, TableQuery, ViewInfo } from "../../../view/protocol.js";
import { classColors, layerColor } from "./palette.js";

export interface LayerState {
  readonly id: number;
  readonly info: LayerInfo;
  isVisible: boolean;
  query: TableQuery;
  /** Features that meet the condition, and how many of them are on the map. */
  counts: { readonly rows: number; readonly located: number };
  color: ColorChoice | null;
  legend: readonly ColorClass[] | null;
}

export interface PageState {
  readonly view: ViewInfo;
  readonly layers: LayerState[];
  active: LayerState;
  analysis: Analysis | null;
}

export const newLayer = (info: LayerInfo, id: number): LayerState => ({
  id,
  info,
  isVisible: true,
  query: { where: null, sort: null },
  counts: { rows: info.rows, located: info.located },
  color: null,
  legend: null,
});

/** By class; layers without classes have one color. */
export function colorsOf({ id, info, color, legend }: LayerState): string[] {
  if (color && legend) return classColors(legend, color);
  return [layerColor(id, info.role !== "data")];
}
