/** Answers the requests of the page for tiles, rows and features. */
import type { ServerResponse } from "node:http";
import { GeoferryError } from "../../errors.js";
import { featureDetail, pickFeatures } from "../feature-detail.js";
import { geometryText } from "../geometry-text.js";
import { shownFields, type TableQuery } from "../protocol.js";
import { encodeTile } from "../tiles/tile-content.js";
import type { OpenedLayer, View } from "../view.js";
import { maxZoom, worldSize } from "../world.js";
import { BadRequest, colorOf, numberIn, numberOf, parameterOf, sortOf, tileOf } from "./parse-query.js";
import { sendBytes, sendError, sendJson } from "./responses.js";

/** Rows of a request. */
const maxRows = 1000;

/** Characters of a condition. */
const maxCondition = 20_000;

type Answer = (context: {
  readonly view: View;
  readonly query: URLSearchParams;
  readonly layer: OpenedLayer;
  readonly id: number;
  readonly where: string | null;
  readonly rest: string;
}) => Promise<unknown>;

/** By the word after the number of the layer. Bytes are sent as such, everything else as JSON. */
const layerAnswers: Readonly<Record<string, Answer>> = {
  tile: async ({ layer: { layer, info }, rest, query, where }) =>
    encodeTile(await layer.tile(tileOf(rest), where, colorOf(query.get("color"), info.fields.length))),
  count: ({ layer: { layer }, where }) => layer.count(where),
  rows: ({ layer: { layer, info }, query, where }) => {
    const from = numberOf(query, "from", 0, info.rows);
    const count = numberOf(query, "count", 0, maxRows);
    return layer.rows(tableQuery(query, where, info.fields.length), from, count, shownFields(info.fields.length));
  },
  position: ({ layer: { layer, info }, query, where }) =>
    layer.positionOf(tableQuery(query, where, info.fields.length), numberOf(query, "row", 0, info.rows - 1)),
  feature: async ({ layer: { layer, info, spooled }, query }) => {
    const row = numberOf(query, "row", 0, info.rows - 1);
    return featureDetail(layer, row, numberOf(query, "zoom", 0, maxZoom, false), geometryText(spooled.geometry(row)));
  },
  legend: async ({ layer: { layer, info }, query }) =>
    (await layer.classes(colorOf(parameterOf(query, "color"), info.fields.length)!)).legend,
  locate: ({ view, id, query }) =>
    view.locate(id, numberOf(query, "longitude", -540, 540, false), numberOf(query, "latitude", -90, 90, false)),
};

/** @param name of what is asked for, after the secret */
export async function answerRequest(
  view: View,
  name: string,
  query: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  try {
    const answer = await findAnswer(view, name, query);
    if (answer === undefined) sendError(response, 404, "there is no such address");
    else if (answer instanceof Uint8Array) sendBytes(response, answer);
    else sendJson(response, answer);
  } catch (error) {
    if (!(error instanceof BadRequest) && !(error instanceof GeoferryError && error.kind !== "internal")) throw error;
    sendError(response, 400, error.message);
  }
}

async function findAnswer(view: View, name: string, query: URLSearchParams): Promise<unknown> {
  if (name === "analysis") return view.analysis();
  if (name === "pick") return pickInView(view, query);
  const [, number, word = "", rest = ""] = /^layer\/(\d{1,6})\/([a-z]+)(?:\/([\d/]+))?$/.exec(name) ?? [];
  const layer = number === undefined ? undefined : view.layers[Number(number)];
  if (!layer || !Object.hasOwn(layerAnswers, word)) return undefined;
  return layerAnswers[word]!({ view, query, layer, id: Number(number), where: conditionOf(query.get("where")), rest });
}

function conditionOf(text: string | null): string | null {
  if (text === null || text.trim() === "") return null;
  if (text.length > maxCondition) throw new BadRequest(`a condition can have ${maxCondition} characters`);
  return text;
}

const tableQuery = (query: URLSearchParams, where: string | null, fields: number): TableQuery => ({
  where,
  sort: sortOf(query.get("sort"), fields),
});

/** `layers` is JSON: numbers of layers, the upper ones first, each with its condition. */
function pickInView(view: View, query: URLSearchParams): Promise<unknown> {
  const layers = parseLayers(parameterOf(query, "layers")).map(([id, where]) => {
    const { layer } = view.layers[numberIn(String(id), "layers", 0, view.layers.length - 1)]!;
    return { id, layer, where: conditionOf(where) };
  });
  const [x, y] = [numberOf(query, "x", -worldSize, 2 * worldSize, false), numberOf(query, "y", 0, worldSize, false)];
  return pickFeatures(layers, x, y, numberOf(query, "zoom", 0, maxZoom, false));
}

function parseLayers(text: string): [id: number, where: string | null][] {
  const isLayer = (one: unknown): one is [number, string | null] =>
    Array.isArray(one) && typeof one[0] === "number" && (one[1] === null || typeof one[1] === "string");
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = null;
  }
  if (!Array.isArray(parsed) || !parsed.every(isLayer)) throw new BadRequest("the layers are not a list");
  return parsed;
}
