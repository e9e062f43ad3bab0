/** What the page of a view asks for and gets: from the server, or from the data in the page itself. */

import type { Box } from "../model/feature-extent.js";
import type { Field } from "../model/field.js";
import type { GeometryType } from "../model/geometry.js";
import type { Loss } from "../model/report.js";
import type { FieldStatisticsReport } from "../statistics/field-report.js";
import type { StatisticsReport } from "../statistics/statistics.js";
import type { ColorChoice, ColorClass } from "./colors/classify.js";
import type { Cell, TableRow } from "./table/read-rows.js";
import type { TileAddress } from "./tiles/build-tile.js";
import type { TileContent } from "./tiles/tile-content.js";
import type { TableQuery } from "./view-layer.js";

/** `rejects`: features that could not be read; `problems`: what a check of the features found. */
export type LayerRole = "data" | "rejects" | "problems";

export interface LayerInfo {
  readonly name: string;
  /** Without secrets. */
  readonly input: string;
  readonly role: LayerRole;
  /** Name of the format. */
  readonly format: string;
  /** Number of features, and how many of them are on the map. */
  readonly rows: number;
  readonly located: number;
  readonly fields: readonly Field[];
  readonly geometryTypes: readonly GeometryType[];
  readonly hasZ: boolean;
  /** Whether features have ids beside their fields. */
  readonly hasIds: boolean;
  /** Of the source; null if it declares none. */
  readonly crs: { readonly id: string | null; readonly name: string } | null;
  /** In degrees; east can be beyond 180. Null if nothing is on the map. */
  readonly box: Box | null;
  /** Whether features have colors themselves. */
  readonly ownColors: boolean;
}

/** What a conversion of an input to WGS 84 reports. */
export interface InputReport {
  readonly input: string;
  readonly losses: readonly Loss[];
  readonly notices: readonly Loss[];
  /** Sentences about corrupt ranges that were skipped. */
  readonly skipped: readonly string[];
  /** Features without a position on the map, since it could not be read or transformed. */
  readonly rejected: number;
  /** How coordinates were transformed: a sentence for each layer. */
  readonly operations: readonly string[];
  /** Why nothing of the input is shown; null if something is. */
  readonly error: string | null;
}

export interface ViewInfo {
  readonly title: string;
  readonly layers: readonly LayerInfo[];
  readonly inputs: readonly InputReport[];
  /** Address of tiles with `{z}`, `{x}` and `{y}`; null for the outline of land. */
  readonly basemap: string | null;
  /** How a page that was sent differs from the inputs: sentences; empty if it does not, and for a server. */
  readonly generalized: readonly string[];
  /** A page that needs no server. */
  readonly isFile: boolean;
}

/** What statistics and checks of a layer found. */
export interface LayerAnalysis {
  readonly fields: readonly FieldStatisticsReport[];
  readonly geometry: StatisticsReport["geometry"] | null;
  readonly warnings: readonly string[];
  readonly problems: number;
}

export interface Analysis {
  /** One for each layer; null for rejects and problems. */
  readonly layers: readonly (LayerAnalysis | null)[];
  /** The layer of problems, which comes after the others; null if there are none. */
  readonly problems: LayerInfo | null;
  /** Why there is none. */
  readonly error: string | null;
}

export interface ShapeRing {
  /** See `RingType`. */
  readonly type: number;
  /** Interleaved, in units of the world. */
  readonly xy: readonly number[];
}

export interface FeatureDetail extends TableRow {
  /** Center of its box in units of the world; null if it is not on the map. */
  readonly center: readonly [number, number] | null;
  /** Its shape, generalized to the zoom; one position for a point. */
  readonly rings: readonly ShapeRing[];
  /** Positions of the whole geometry as WKT, if they are few, in longitude and latitude. */
  readonly wkt: string | null;
}

export interface PickedFeatures {
  readonly features: readonly { readonly layer: number; readonly row: number }[];
  /** With those that are not listed. */
  readonly count: number;
}

export interface LayerFilter {
  readonly layer: number;
  readonly where: string | null;
}

/** @throws Error with a message for the user */
export interface ViewSource {
  tile(
    filter: LayerFilter,
    address: TileAddress,
    color: ColorChoice | null,
    signal?: AbortSignal,
  ): Promise<TileContent>;
  count(filter: LayerFilter): Promise<{ readonly rows: number; readonly located: number }>;
  rows(layer: number, query: TableQuery, from: number, count: number): Promise<readonly TableRow[]>;
  positionOf(layer: number, query: TableQuery, row: number): Promise<number>;
  feature(layer: number, row: number, zoom: number): Promise<FeatureDetail>;
  /** @param layers the upper ones first */
  pick(layers: readonly LayerFilter[], x: number, y: number, zoom: number): Promise<PickedFeatures>;
  legend(layer: number, choice: ColorChoice): Promise<readonly ColorClass[]>;
  /** Coordinates of a place in the system of a layer; null if they cannot be computed. */
  locate(layer: number, longitude: number, latitude: number): Promise<readonly [number, number] | null>;
  /** Waits until it is there. */
  analysis(): Promise<Analysis>;
}

/** Fields that the table shows; the panel of a feature shows all. */
export const maxTableFields = 100;

/** Indices of the fields of a layer that the table shows. */
export const shownFields = (fields: number): number[] =>
  Array.from({ length: Math.min(fields, maxTableFields) }, (_, field) => field);

export type { Cell, ColorChoice, ColorClass, TableQuery, TableRow, TileAddress, TileContent };
