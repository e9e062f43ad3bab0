/** Makes what a store writes out of the features of a request (Map Features Service Interface, 4.3 – 4.6). */
import type { RemoteKey } from "../../remote/wire.js";
import { isRemoteKey, keyDigest } from "../key.js";
import { memberPath } from "../path.js";
import type { Failure, WriteItem, WriteKind } from "../store/contract.js";
import { isUuid } from "../uuid.js";
import { type Checked, checkFeature, isObject } from "./feature.js";

/** What identifies a feature in a request. */
interface Identity {
  readonly id: string | null;
  readonly key: string | null;
  /** Why it is none, or one that cannot be used. */
  readonly failure?: Failure;
}

const contents: Readonly<Record<WriteKind, (feature: unknown) => Checked>> = {
  create: (feature) => checkFeature(feature, "whole"),
  upsert: (feature) => checkFeature(feature, "whole"),
  synchronise: (feature) => checkFeature(feature, "whole"),
  update: (feature) => checkFeature(feature, "change"),
  // Nothing but its name matters.
  delete: (feature) => (isObject(feature) ? {} : checkFeature(feature, "change")),
};

export interface Items {
  readonly items: readonly WriteItem[];
  /** Those that cannot be told from others: places in the request. */
  readonly unnamed: readonly number[];
}

export function itemsOf(kind: WriteKind, features: readonly unknown[], remoteField: string | null): Items {
  const unnamed: number[] = [];
  const items = features.map((feature, index): WriteItem => {
    const { id, key, failure: unusable } = identityOf(feature, kind, remoteField);
    if (unusable) unnamed.push(index);
    const { geometry, properties, failure } = contents[kind](feature);
    return { index, id, key, geometry, properties, failure: unusable ?? failure };
  });
  return { items, unnamed };
}

function identityOf(feature: unknown, kind: WriteKind, remoteField: string | null): Identity {
  // POST ignores an id that is sent: the service gives one.
  if (kind === "create") return { id: null, key: null };
  if (remoteField !== null) return identityByKey(feature, kind, remoteField);
  const id = isObject(feature) ? (feature.id ?? null) : null;
  if (isUuid(id)) return { id: id.toLowerCase(), key: null };
  if (id === null && kind === "synchronise" && isObject(feature)) return { id: null, key: null };
  return { id: null, key: null, failure: { path: "id", message: "A UUID must tell which feature is meant." } };
}

function identityByKey(feature: unknown, kind: WriteKind, remoteField: string): Identity {
  const sent = isObject(feature) && kind !== "upsert" && isUuid(feature.id) ? feature.id.toLowerCase() : null;
  const value = keyOf(feature, remoteField);
  if (isRemoteKey(value)) return { id: sent, key: keyDigest(value satisfies RemoteKey) };
  const message =
    value === undefined
      ? "The property that identifies the feature is missing."
      : "What identifies a feature is text that is not empty, or an integer smaller than 2^53 in amount.";
  return { id: sent, key: null, failure: { path: memberPath("properties", remoteField), message } };
}

/** A name is a name, never a path, and what objects inherit is no property. */
function keyOf(feature: unknown, remoteField: string): unknown {
  const properties = isObject(feature) ? feature.properties : undefined;
  return isObject(properties) && Object.hasOwn(properties, remoteField) ? properties[remoteField] : undefined;
}
