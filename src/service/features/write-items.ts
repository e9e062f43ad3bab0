/** Converts the features of a request to items that a store writes (Map Features Service Interface, 4.3 – 4.6). */
import type { RemoteKey } from "../../remote/wire.js";
import { digestRemoteKey, isRemoteKey } from "../identifiers/remote-key.js";
import { isUuid } from "../identifiers/uuid.js";
import { memberPath } from "../json/member-path.js";
import { readMember } from "../json/object-members.js";
import { findTextProblem } from "../json/storable-text.js";
import { parseInTurn } from "../limits/blocking-work.js";
import { TimeSlice } from "../limits/time-slice.js";
import type { FeatureFailure, WriteItem, WriteKind } from "../store/contract.js";
import { UnparsedFeature, ValidFeature } from "./parse-collection.js";
import { type FeatureCheck, isObject, type ValidationMode, validateFeature } from "./validate-feature.js";

/** What identifies a feature in a request. */
interface FeatureIdentity {
  readonly id: string | null;
  readonly key: string | null;
  /** Why the identifier is missing or invalid. */
  readonly failure?: FeatureFailure;
}

const contentCheckers: Readonly<Record<WriteKind, (feature: unknown) => FeatureCheck>> = {
  create: (feature) => checkContent(feature, "whole"),
  upsert: (feature) => checkContent(feature, "whole"),
  synchronize: (feature) => checkContent(feature, "whole"),
  update: (feature) => checkContent(feature, "change"),
  // Only the identifier matters.
  delete: (feature) => (isObject(feature) ? {} : validateFeature(feature, "change")),
};

const checkContent = (feature: unknown, mode: ValidationMode): FeatureCheck =>
  feature instanceof ValidFeature ? feature : validateFeature(feature, mode);

export interface WriteItems {
  readonly items: readonly WriteItem[];
  /** Indexes of features in the request without a usable identifier. */
  readonly withoutId: readonly number[];
}

export async function toWriteItems(
  kind: WriteKind,
  features: readonly unknown[],
  remoteField: string | null,
): Promise<WriteItems> {
  const withoutId: number[] = [];
  const items: WriteItem[] = [];
  const timeSlice = new TimeSlice();
  for (const [index, sent] of features.entries()) {
    const toItem = (feature: unknown): WriteItem => {
      const { id, key, failure: unusable } = identifyFeature(feature, kind, remoteField);
      if (unusable) withoutId.push(index);
      const { geometry, properties, failure } = contentCheckers[kind](feature);
      return { index, id, key, geometry, properties, failure: unusable ?? failure };
    };
    const item = sent instanceof UnparsedFeature ? parseInTurn(sent.text, () => toItem(sent.parse())) : toItem(sent);
    items.push(item instanceof Promise ? await item : item);
    if (timeSlice.isOverAfter(index)) await timeSlice.yield();
  }
  return { items, withoutId };
}

function identifyFeature(feature: unknown, kind: WriteKind, remoteField: string | null): FeatureIdentity {
  // POST ignores ids in the request: the service assigns new ones.
  if (kind === "create") return { id: null, key: null };
  if (remoteField !== null) return identifyByKey(feature, kind, remoteField);
  const id = isObject(feature) ? (feature.id ?? null) : null;
  if (isUuid(id)) return { id: id.toLowerCase(), key: null };
  if (id === null && kind === "synchronize" && isObject(feature)) return { id: null, key: null };
  return { id: null, key: null, failure: { path: "id", message: "A UUID must identify the feature." } };
}

function identifyByKey(feature: unknown, kind: WriteKind, remoteField: string): FeatureIdentity {
  const sent = isObject(feature) && kind !== "upsert" && isUuid(feature.id) ? feature.id.toLowerCase() : null;
  const value = readKeyValue(feature, remoteField);
  if (isRemoteKey(value)) return { id: sent, key: digestRemoteKey(value satisfies RemoteKey) };
  const message =
    value === undefined
      ? "The property that identifies the feature is missing."
      : ((typeof value === "string" ? findTextProblem(value) : null) ??
        "The identifying property must be non-empty text, or an integer smaller than 2^53 in magnitude.");
  return { id: sent, key: null, failure: { path: memberPath("properties", remoteField), message } };
}

/** `remoteField` is a property name, not a path; inherited members are not properties. */
function readKeyValue(feature: unknown, remoteField: string): unknown {
  if (feature instanceof ValidFeature) return readMember(feature.properties, remoteField);
  const properties = isObject(feature) ? feature.properties : undefined;
  return isObject(properties) && Object.hasOwn(properties, remoteField) ? properties[remoteField] : undefined;
}
