/** Variables of the environment in the texts of a job: `${NAME}`, `${NAME:-otherwise}`, `$$` for a `$`. */
import type { YamlPlace } from "./yaml-places.js";

const reference = /\$(?:(\$)|\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}|(\{))/g;

/** Keys, and what a variable holds, are not looked at. @throws job-invalid where a variable is not set */
export const resolveReferences = (place: YamlPlace, environment: NodeJS.ProcessEnv): YamlPlace =>
  place.withValue(resolvePlace(place, environment));

/** Whether a text is a reference and nothing else, as secrets must be. */
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
  return text.replace(reference, (_, dollar?: string, name?: string, otherwise?: string) => {
    if (dollar !== undefined) return "$";
    if (name === undefined) throw place.error("a reference is written ${NAME} or ${NAME:-otherwise}, a $ itself $$");
    const found = environment[name] || otherwise;
    if (found === undefined) throw place.error(`the variable ${name} of the environment is not set`);
    return found;
  });
}
