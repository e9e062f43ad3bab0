/** Makes what a store writes out of the features of a request (Map Features Service Interface, 4.3 – 4.6). */
import type { RemoteKey } from "../../remote/wire.js";
import { digestRemoteKey, isRemoteKey } from "../identifiers/remote-key.js";
import { isUuid } from "../identifiers/uuid.js";
import { memberPath } from "../json/member-path.js";
import { readMember } from "../json/object-members.js";
import { TimeSlice } from "../limits/time-slice.js";
import type { FeatureFailure, WriteItem, WriteKind } from "../store/contract.js";
import { UnparsedFeature, ValidFeature } from "./parse-collection.js";
import { type FeatureCheck, isObject, type ValidationMode, validateFeature } from "./validate-feature.js";

/** What identifies a feature in a request. */
interface FeatureIdentity {
  readonly id: string | null;
  readonly key: string | null;
  /** Why it is none, or one that cannot be used. */
  readonly failure?: FeatureFailure;
}

const contentCheckers: Readonly<Record<WriteKind, (feature: unknown) => FeatureCheck>> = {
  create: (feature) => checkContent(feature, "whole"),
  upsert: (feature) => checkContent(feature, "whole"),
  synchronise: (feature) => checkContent(feature, "whole"),
  update: (feature) => checkContent(feature, "change"),
  // Nothing but its name matters.
  delete: (feature) => (isObject(feature) ? {} : validateFeature(feature, "change")),
};

const checkContent = (feature: unknown, demand: ValidationMode): FeatureCheck =>
  feature instanceof ValidFeature ? feature : validateFeature(feature, demand);

export interface WriteItems {
  readonly items: readonly WriteItem[];
  /** Those that cannot be told from others: places in the request. */
  readonly withoutId: readonly number[];
}

export async function toWriteItems(
  kind: WriteKind,
  features: readonly unknown[],
  remoteField: string | null,
): Promise<WriteItems> {
  const withoutId: number[] = [];
  const items: WriteItem[] = [];
  const turn = new TimeSlice();
  for (const [index, sent] of features.entries()) {
    const feature = sent instanceof UnparsedFeature ? sent.parse() : sent;
    const { id, key, failure: unusable } = identifyFeature(feature, kind, remoteField);
    if (unusable) withoutId.push(index);
    const { geometry, properties, failure } = contentCheckers[kind](feature);
    items.push({ index, id, key, geometry, properties, failure: unusable ?? failure });
    if (turn.isOverAfter(index)) await turn.pass();
  }
  return { items, withoutId };
}

function identifyFeature(feature: unknown, kind: WriteKind, remoteField: string | null): FeatureIdentity {
  // POST ignores an id that is sent: the service gives one.
  if (kind === "create") return { id: null, key: null };
  if (remoteField !== null) return identifyByKey(feature, kind, remoteField);
  const id = isObject(feature) ? (feature.id ?? null) : null;
  if (isUuid(id)) return { id: id.toLowerCase(), key: null };
  if (id === null && kind === "synchronise" && isObject(feature)) return { id: null, key: null };
  return { id: null, key: null, failure: { path: "id", message: "A UUID must tell which feature is meant." } };
}

function identifyByKey(feature: unknown, kind: WriteKind, remoteField: string): FeatureIdentity {
  const sent = isObject(feature) && kind !== "upsert" && isUuid(feature.id) ? feature.id.toLowerCase() : null;
  const value = readKeyValue(feature, remoteField);
  if (isRemoteKey(value)) return { id: sent, key: digestRemoteKey(value satisfies RemoteKey) };
  const message =
    value === undefined
      ? "The property that identifies the feature is missing."
      : "What identifies a feature is text that is not empty, or an integer smaller than 2^53 in amount.";
  return { id: sent, key: null, failure: { path: memberPath("properties", remoteField), message } };
}

/** A name is a name, never a path, and what objects inherit is no property. */
function readKeyValue(feature: unknown, remoteField: string): unknown {
  if (feature instanceof ValidFeature) return readMember(feature.properties, remoteField);
  const properties = isObject(feature) ? feature.properties : undefined;
  return isObject(properties) && Object.hasOwn(properties, remoteField) ? properties[remoteField] : undefined;
}
