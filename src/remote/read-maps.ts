/** The maps of an account: an extension of the interface, which a service may have or not. */
import type { Answer } from "./exchange.js";
import { isObject } from "./told.js";
import type { WireMap } from "./wire.js";

/** @returns null where it is no list of maps: the service has no such thing, or another one at this address */
export function mapsIn({ isSuccess, json }: Answer): readonly WireMap[] | null {
  if (!isSuccess || !isObject(json) || !Array.isArray(json.maps)) return null;
  const maps: readonly unknown[] = json.maps;
  return maps.every(isMap) ? maps : null;
}

const isMap = (value: unknown): value is WireMap =>
  isObject(value) &&
  typeof value.id === "string" &&
  typeof value.name === "string" &&
  typeof value.private === "boolean" &&
  isObject(value.owner) &&
  typeof value.owner.email === "string" &&
  typeof value.features === "number" &&
  typeof value.revision === "number" &&
  typeof value.created === "string";
