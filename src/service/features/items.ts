/** Makes what a store writes out of the features of a request (Map Features Service Interface, 4.3 – 4.6). */
import type { RemoteKey } from "../../remote/wire.js";
import { memberOf } from "../json/members.js";
import { isRemoteKey, keyDigest } from "../key.js";
import { memberPath } from "../path.js";
import type { Failure, WriteItem, WriteKind } from "../store/contract.js";
import { Turn } from "../turn.js";
import { isUuid } from "../uuid.js";
import { type Checked, checkFeature, type Demand, isObject } from "./feature.js";
import { SentFeature, UnfitFeature } from "./sent-collection.js";

/** What identifies a feature in a request. */
interface Identity {
  readonly id: string | null;
  readonly key: string | null;
  /** Why it is none, or one that cannot be used. */
  readonly failure?: Failure;
}

const contents: Readonly<Record<WriteKind, (feature: unknown) => Checked>> = {
  create: (feature) => contentOf(feature, "whole"),
  upsert: (feature) => contentOf(feature, "whole"),
  synchronise: (feature) => contentOf(feature, "whole"),
  update: (feature) => contentOf(feature, "change"),
  // Nothing but its name matters.
  delete: (feature) => (isObject(feature) ? {} : checkFeature(feature, "change")),
};

const contentOf = (feature: unknown, demand: Demand): Checked =>
  feature instanceof SentFeature ? feature : checkFeature(feature, demand);

export interface Items {
  readonly items: readonly WriteItem[];
  /** Those that cannot be told from others: places in the request. */
  readonly unnamed: readonly number[];
}

export async function itemsOf(
  kind: WriteKind,
  features: readonly unknown[],
  remoteField: string | null,
): Promise<Items> {
  const unnamed: number[] = [];
  const items: WriteItem[] = [];
  const turn = new Turn();
  for (const [index, sent] of features.entries()) {
    const feature = sent instanceof UnfitFeature ? sent.parse() : sent;
    const { id, key, failure: unusable } = identityOf(feature, kind, remoteField);
    if (unusable) unnamed.push(index);
    const { geometry, properties, failure } = contents[kind](feature);
    items.push({ index, id, key, geometry, properties, failure: unusable ?? failure });
    if (turn.isOverAfter(index)) await turn.pass();
  }
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
  if (feature instanceof SentFeature) return memberOf(feature.properties, remoteField);
  const properties = isObject(feature) ? feature.properties : undefined;
  return isObject(properties) && Object.hasOwn(properties, remoteField) ? properties[remoteField] : undefined;
}
