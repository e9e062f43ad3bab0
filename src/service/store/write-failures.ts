import { memberPath } from "../path.js";
import type { Failure } from "./contract.js";

/** What a feature is matched by, for people; `field` is null where it is the id. */
const identity = (field: string | null): { readonly path: string; readonly words: string } =>
  field === null
    ? { path: "id", words: "this id" }
    : { path: memberPath("properties", field), words: `this value of the property ${JSON.stringify(field)}` };

export function namedTwice(field: string | null): Failure {
  const { path, words } = identity(field);
  return {
    path,
    message: `Several features of the request have ${words}, so none of them was applied: send each only once.`,
  };
}

export function notOnMap(field: string | null): Failure {
  const { path, words } = identity(field);
  return { path, message: `The map has no feature with ${words}.` };
}

export function severalOnMap(field: string | null, count: number): Failure {
  const { path, words } = identity(field);
  return {
    path,
    message: `The map has ${count} features with ${words}, so it is not clear which one is meant: delete or change those that are too many, by their ids.`,
  };
}
