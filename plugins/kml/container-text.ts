/** What a document or folder says of itself, in the order that KML has (OGC 07-147r2, 9.1.2). */
import type { ElementTexts, LayerMetadata, MetadataLink } from "../../src/model/index.js";
import { attributeText, elementText } from "../shared/xml-text.js";
import { containerElements } from "./container-elements.js";
import { localName } from "./element-capture.js";

const element = (name: string, text: string | undefined): string =>
  text === undefined ? "" : `<${name}>${elementText(text)}</${name}>`;

const linkText = ({ href, text, type }: MetadataLink): string => {
  const attributes = [
    ["href", href],
    ["type", type],
    ["title", text],
  ].flatMap(([name, value]) => (value === undefined ? [] : ` ${name}="${attributeText(value)}"`));
  return `<atom:link${attributes.join("")}/>`;
};

/** The elements of the metadata of a layer; `lose` takes what Atom's elements do not hold, and links beyond the first. */
export function termTexts(metadata: LayerMetadata, lose: (what: string) => void): ElementTexts {
  const { description, author, links = [], elements } = metadata;
  const texts: [string, string][] = [];
  if (author) {
    const parts = element("atom:name", author.name) + element("atom:uri", author.link?.href);
    texts.push(["author", `<atom:author>${parts}${element("atom:email", author.email)}</atom:author>`]);
    if (author.link?.text ?? author.link?.type) lose("the text of the author's link");
  }
  if (links[0]) texts.push(["link", linkText(links[0])]);
  for (const { href } of links.slice(1)) lose(`the link "${href}"`);
  if (description !== undefined) texts.push(["description", element("description", description)]);
  return [...texts, ...(elements?.own ?? [])];
}

const dataTags = /^<ExtendedData>(.*)<\/ExtendedData>$/s;

/** The elements in their order, each on a line, with `data`, more elements of the ExtendedData. */
export function containerText(texts: ElementTexts, data = ""): string {
  const rank = ([name]: readonly [string, string]) => containerElements.indexOf(localName(name));
  const plain = texts.filter(([name]) => name !== "ExtendedData").sort((a, b) => rank(a) - rank(b));
  const inData = texts
    .map(([name, text]) => (name === "ExtendedData" ? (dataTags.exec(text)?.[1] ?? "") : ""))
    .join("");
  const lines = plain.map(([, text]) => `${text}\n`).join("");
  const parts = [inData && `${inData}\n`, data].join("");
  return parts === "" ? lines : `${lines}<ExtendedData>\n${parts}</ExtendedData>\n`;
}
