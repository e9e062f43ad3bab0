/** Namespace declarations around an element that is written. */
import type { XmlPathStep } from "../../src/model/index.js";
import { escapeAttribute } from "../shared/xml/escape.js";
import { gpxNamespace } from "./elements.js";

/** Namespaces by prefix; without a declaration, names without a prefix are GPX's. */
export type NamespaceMap = ReadonlyMap<string, string>;

export const noNamespaces: NamespaceMap = new Map();

/** Returns the prefix of a name; empty for none. */
export const prefixOf = (name: string): string => name.slice(0, Math.max(0, name.indexOf(":")));

/** Writes the attribute that declares a prefix, or the default namespace. */
export const declarationOf = (prefix: string, namespace: string): string =>
  ` xmlns${prefix === "" ? "" : `:${prefix}`}="${escapeAttribute(namespace)}"`;

/** Writes all declarations as attributes. */
export const declarationsOf = (namespaces: NamespaceMap): string =>
  [...namespaces].map(([prefix, namespace]) => declarationOf(prefix, namespace)).join("");

const namespaceOfPrefix = (around: NamespaceMap, prefix: string): string | undefined =>
  around.get(prefix) ?? (prefix === "" ? gpxNamespace : undefined);

/** Returns the prefixes that an element within `around` has to declare: its own and those of its attributes. */
export function declaredNamespaces(
  element: Pick<XmlPathStep, "name" | "namespace">,
  attributes: readonly Pick<XmlPathStep, "name" | "namespace">[],
  around: NamespaceMap,
): NamespaceMap {
  const prefixed = attributes.filter(({ name }) => prefixOf(name) !== "" && prefixOf(name) !== "xml");
  const fresh = [element, ...prefixed].filter(
    ({ name, namespace }) => namespaceOfPrefix(around, prefixOf(name)) !== namespace,
  );
  return fresh.length === 0 ? noNamespaces : new Map(fresh.map(({ name, namespace }) => [prefixOf(name), namespace]));
}

/** Returns the declarations in scope within an element that declares `fresh`. */
export const mergeNamespaces = (around: NamespaceMap, fresh: NamespaceMap): NamespaceMap =>
  fresh.size === 0 ? around : new Map([...around, ...fresh]);
