import { memberPath } from "../json/member-path.js";
import type { FeatureFailure } from "./contract.js";

/** Description of the identifier for messages; `field` is null if features are matched by id. */
const describeIdentity = (field: string | null): { readonly path: string; readonly words: string } =>
  field === null
    ? { path: "id", words: "this id" }
    : { path: memberPath("properties", field), words: `this value of the property ${JSON.stringify(field)}` };

export function duplicateInRequest(field: string | null): FeatureFailure {
  const { path, words } = describeIdentity(field);
  return {
    path,
    message: `Several features of the request have ${words}, so none of them was applied: send each only once.`,
  };
}

export function missingOnMap(field: string | null): FeatureFailure {
  const { path, words } = describeIdentity(field);
  return { path, message: `The map has no feature with ${words}.` };
}

export function ambiguousOnMap(field: string | null, count: number): FeatureFailure {
  const { path, words } = describeIdentity(field);
  return {
    path,
    message: `The map has ${count} features with ${words}, so the match is ambiguous: delete or change the duplicates by their ids.`,
  };
}
