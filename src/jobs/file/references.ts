/** Environment variables in the strings of a job file: `${NAME}`, `${NAME:-default}`; `$$` escapes a `$`. */
import type { YamlPlace } from "./yaml-places.js";

const reference = /\$(?:(\$)|\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}|(\{))/g;

/** Replaces references in values; keys and contents of variables stay. @throws job-invalid for an unset variable */
export const resolveReferences = (place: YamlPlace, environment: NodeJS.ProcessEnv): YamlPlace =>
  place.withValue(resolvePlace(place, environment));

/** Whether a string is exactly one reference, as secrets must be. */
export const isReference = (value: unknown): boolean =>
  typeof value === "string" && /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/.test(value);

function resolvePlace(place: YamlPlace, environment: NodeJS.ProcessEnv): unknown {
  const { value } = place;
  if (typeof value === "string") return resolveText(value, place, environment);
  if (Array.isArray(value)) return value.map((item, index) => resolvePlace(place.at(index, item), environment));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, resolvePlace(place.at(key, item), environment)]),
  );
}

function resolveText(text: string, place: YamlPlace, environment: NodeJS.ProcessEnv): string {
  return text.replace(reference, (_, dollar?: string, name?: string, fallback?: string) => {
    if (dollar !== undefined) return "$";
    if (name === undefined) throw place.error("write a reference as ${NAME} or ${NAME:-default}, and a $ as $$");
    const found = environment[name] || fallback;
    if (found === undefined) throw place.error(`the environment variable ${name} is not set`);
    return found;
  });
}
