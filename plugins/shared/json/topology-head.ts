/** Recognizes the beginning of a TopoJSON document (TopoJSON 1.0, 2.1). */

/** A string of JSON, or one that the head of a file ends in. */
const jsonString = /"((?:[^"\\]|\\.)*)("|$)/sy;

/**
 * Whether a text is the beginning of a topology: "yes" by its type, "maybe" if the type is not in the text but the members
 * `arcs` and `objects` or `transform` are.
 */
export function findTopology(text: string): "yes" | "maybe" | "no" {
  const members = new Set<string>();
  let depth = 0;
  for (let at = text.search(/\S/); at >= 0 && at < text.length; at++) {
    const sign = text[at];
    if (depth === 0 && sign !== "{") return "no";
    if (sign === "{" || sign === "[") depth++;
    else if (sign === "}" || sign === "]") {
      if (--depth === 0) return "no";
    } else if (sign === '"') {
      jsonString.lastIndex = at;
      const [written, name = ""] = jsonString.exec(text) ?? [""];
      at += Math.max(1, written.length) - 1;
      if (depth !== 1) continue;
      const value = /^\s*:\s*(?:"([^"]*)")?/.exec(text.slice(at + 1, at + 200));
      if (!value) continue;
      if (name === "type" && value[1] !== undefined) return value[1] === "Topology" ? "yes" : "no";
      members.add(name);
    }
  }
  return members.has("arcs") && (members.has("objects") || members.has("transform")) ? "maybe" : "no";
}
