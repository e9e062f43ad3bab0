/** Writes the metadata of a document or folder, in the order of KML (OGC 07-147r2, 9.1.2). */
import type { ElementTexts, LayerMetadata, MetadataLink } from "../../../src/model/index.js";
import { escapeAttribute, escapeElement } from "../../shared/xml/escape.js";
import { containerElements } from "../container-elements.js";
import { localName } from "../read/element-capture.js";

const writeElement = (name: string, text: string | undefined): string =>
  text === undefined ? "" : `<${name}>${escapeElement(text)}</${name}>`;

const writeLink = ({ href, text, type }: MetadataLink): string => {
  const attributes = [
    ["href", href],
    ["type", type],
    ["title", text],
  ].flatMap(([name, value]) => (value === undefined ? [] : ` ${name}="${escapeAttribute(value)}"`));
  return `<atom:link${attributes.join("")}/>`;
};

/** Returns the elements for the metadata of a layer. `lose` receives what Atom's elements cannot hold, and links after the first. */
export function writeMetadataElements(metadata: LayerMetadata, lose: (what: string) => void): ElementTexts {
  const { description, author, links = [], elements } = metadata;
  const texts: [string, string][] = [];
  if (author) {
    const parts = writeElement("atom:name", author.name) + writeElement("atom:uri", author.link?.href);
    texts.push(["author", `<atom:author>${parts}${writeElement("atom:email", author.email)}</atom:author>`]);
    if (author.link?.text ?? author.link?.type) lose("the text of the author's link");
  }
  if (links[0]) texts.push(["link", writeLink(links[0])]);
  for (const { href } of links.slice(1)) lose(`the link "${href}"`);
  if (description !== undefined) texts.push(["description", writeElement("description", description)]);
  return [...texts, ...(elements?.own ?? [])];
}

const extendedDataPattern = /^<ExtendedData>(.*)<\/ExtendedData>$/s;

/** Writes the elements in their order, one per line. @param data further elements of the ExtendedData */
export function writeContainerElements(texts: ElementTexts, data = ""): string {
  const rank = ([name]: readonly [string, string]) => containerElements.indexOf(localName(name));
  const plain = texts.filter(([name]) => name !== "ExtendedData").sort((a, b) => rank(a) - rank(b));
  const inData = texts
    .map(([name, text]) => (name === "ExtendedData" ? (extendedDataPattern.exec(text)?.[1] ?? "") : ""))
    .join("");
  const lines = plain.map(([, text]) => `${text}\n`).join("");
  const parts = [inData && `${inData}\n`, data].join("");
  return parts === "" ? lines : `${lines}<ExtendedData>\n${parts}</ExtendedData>\n`;
}
