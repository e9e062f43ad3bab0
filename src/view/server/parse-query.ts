/** Parses the parameters of requests. Every number is within its limits, or the request is refused. */
import { type ColorChoice, colorMethods } from "../colors/classify.js";
import type { SortOrder } from "../table/sort-rows.js";
import type { TileAddress } from "../tiles/build-tile.js";
import { maxZoom } from "../world.js";

/** A request that no page of this version sends. */
export class BadRequest extends Error {}

export const parameterOf = (query: URLSearchParams, name: string): string => {
  const value = query.get(name);
  if (value === null) throw new BadRequest(`the parameter ${name} is missing`);
  return value;
};

export function numberIn(text: string, name: string, least: number, most: number, isWhole = true): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= least && value <= most) || (isWhole && !Number.isInteger(value)))
    throw new BadRequest(`the parameter ${name} must be a number from ${least} to ${most}`);
  return value;
}

export const numberOf = (query: URLSearchParams, name: string, least: number, most: number, isWhole = true): number =>
  numberIn(parameterOf(query, name), name, least, most, isWhole);

/** `z/x/y` */
export function tileOf(text: string): TileAddress {
  const [z = "", x = "", y = "", ...others] = text.split("/");
  if (others.length > 0) throw new BadRequest("a tile has three numbers");
  const zoom = numberIn(z, "z", 0, maxZoom);
  const last = 2 ** zoom - 1;
  return { z: zoom, x: numberIn(x, "x", 0, last), y: numberIn(y, "y", 0, last) };
}

/** `METHOD-FIELD`; null without one. */
export function colorOf(text: string | null, fields: number): ColorChoice | null {
  if (text === null) return null;
  const [method, field = ""] = text.split("-");
  const known = colorMethods.find((one) => one === method);
  if (known === undefined) throw new BadRequest("there is no such way to color");
  return { method: known, field: numberIn(field, "color", 0, fields - 1) };
}

/** `asc-FIELD` or `desc-FIELD`; field -1 stands for ids. */
export function sortOf(text: string | null, fields: number): SortOrder | null {
  if (text === null) return null;
  const [, direction, field = ""] = /^(asc|desc)-(-?\d+)$/.exec(text) ?? [];
  if (direction === undefined) throw new BadRequest("there is no such order");
  return { descending: direction === "desc", field: numberIn(field, "sort", -1, fields - 1) };
}
