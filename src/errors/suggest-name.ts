import { nearestName } from "../nearest-name.js";

/** Advice for an unknown name: `; did you mean "name"? It has id, name`. @param listed "it has id, name" */
export function suggestName(name: string, known: readonly string[], listed: string): string {
  const nearest = nearestName(name, known);
  if (nearest === null) return `; ${listed}`;
  return `; did you mean "${nearest}"? ${listed[0]!.toUpperCase()}${listed.slice(1)}`;
}
