/** Converts the elements that describe a document and its folders to layer metadata. */
import type { ElementTexts, LayerMetadata, MetadataElements } from "../../../src/model/index.js";
import { escapeElement } from "../../shared/xml/escape.js";
import { writeNameElement } from "../container-elements.js";
import { type CapturedElement, localName, readChildText, serializeCaptured } from "../read/element-capture.js";

/** The description and other elements of a container. */
export class ContainerMetadata {
  description = "";
  readonly elements: CapturedElement[] = [];

  get isEmpty(): boolean {
    return this.description === "" && this.elements.length === 0;
  }
}

/** The maximum number of folders with separate metadata. */
const maxFolders = 1 << 14;
/** The maximum length of the metadata of all folders, in characters. */
const maxTextLength = 1 << 20;

type Mutable<T> = { -readonly [K in keyof T]?: T[K] };

/** Collects the metadata of the containers of a document. */
export class DocumentMetadata {
  private document = new ContainerMetadata();
  /** By the path of the folder; empty for folders without metadata. */
  private readonly folders = new Map<string, ElementTexts>();
  private size = 0;

  /** @param leftOut receives the names of elements that are not kept */
  constructor(private readonly leftOut: (name: string) => void) {}

  addDocument(details: ContainerMetadata): void {
    this.document = details;
  }

  /** Adds the metadata of a folder; its path is null where it has no name. */
  addFolder(path: string | null, details: ContainerMetadata): void {
    const texts = this.textsOf(details);
    const known = path === null ? undefined : this.folders.get(path);
    if (known && JSON.stringify(known) === JSON.stringify(texts)) return;
    this.size += texts.reduce((sum, [, text]) => sum + text.length, 0);
    if (path !== null && !known && this.folders.size < maxFolders && this.size < maxTextLength) {
      this.folders.set(path, texts);
      return;
    }
    // Several folders with one path become one, and may have different metadata.
    for (const [name] of [...texts, ...(known ?? [])]) this.leftOut(name);
    if (path !== null && known) this.folders.set(path, []);
  }

  /** Returns the elements as text, without data of a Schema, because the Schema has another id in the output. */
  private textsOf({ description, elements }: Pick<ContainerMetadata, "description" | "elements">): ElementTexts {
    const texts = elements.flatMap((element): [string, string][] => {
      const kept = this.withoutSchemaData(element);
      return kept ? [[element.name, serializeCaptured(kept)]] : [];
    });
    return description === ""
      ? texts
      : [...texts, ["description", `<description>${escapeElement(description)}</description>`]];
  }

  private withoutSchemaData(element: CapturedElement): CapturedElement | null {
    if (element.name !== "ExtendedData") return element;
    const children = element.children.filter((child) => typeof child === "string" || child.name !== "SchemaData");
    for (let n = children.length; n < element.children.length; n++) this.leftOut("SchemaData");
    return children.length > 0 ? { ...element, children } : null;
  }

  /**
   * Returns the metadata of each layer. In it, `""` is the path of the document itself. Where the layer is the whole
   * document, it has the metadata of all folders.
   * @param paths the folder of each layer; undefined for the whole document
   */
  metadata(paths: readonly (string | undefined)[], name: string | null): (LayerMetadata | undefined)[] {
    const folders = new Map([...this.folders].filter(([, texts]) => texts.length > 0));
    const whole = paths.includes(undefined) || paths.includes("");
    const layers = paths.map((path, n): LayerMetadata | undefined => {
      const terms = path === undefined || path === "" ? this.terms() : { own: folders.get(path) ?? [] };
      const outer = n === 0 && !whole ? this.outerTexts(name) : [];
      return mergeMetadata(terms, outer, path === undefined ? folders : new Map());
    });
    if (!paths.includes(undefined)) {
      for (const [path, texts] of folders) if (!paths.includes(path)) for (const [kind] of texts) this.leftOut(kind);
    }
    return layers;
  }

  /** Returns the metadata of the document around layers that are folders. */
  private outerTexts(name: string | null): ElementTexts {
    const texts = this.textsOf(this.document);
    return name === null ? texts : [writeNameElement(name), ...texts];
  }

  private terms(): MetadataTerms {
    const { description, elements } = this.document;
    const own: CapturedElement[] = [];
    const terms: Mutable<LayerMetadata> = description === "" ? {} : { description };
    for (const element of elements) {
      const local = localName(element.name);
      const first = local === "author" ? !terms.author : local === "link" && !terms.links;
      const term = first ? readAtomTerm(local, element, this.leftOut) : null;
      if (term) Object.assign(terms, term);
      else own.push(element);
    }
    return { ...terms, own: this.textsOf({ description: "", elements: own }) };
  }
}

type MetadataTerms = Omit<LayerMetadata, "elements"> & { readonly own: ElementTexts };

/** Returns the author or link in an Atom element (RFC 4287, 3.2 and 4.2.7); null for none. */
function readAtomTerm(local: string, element: CapturedElement, leftOut: (name: string) => void): LayerMetadata | null {
  if (local === "author") {
    const name = readChildText(element, "name");
    const email = readChildText(element, "email");
    const uri = readChildText(element, "uri");
    if (name === undefined && email === undefined && uri === undefined) return null;
    return {
      author: {
        ...(name === undefined ? {} : { name }),
        ...(email === undefined ? {} : { email }),
        ...(uri === undefined ? {} : { link: { href: uri } }),
      },
    };
  }
  const attributes = new Map(element.attributes);
  const href = attributes.get("href");
  if (!href) return null;
  const [text, type] = [attributes.get("title"), attributes.get("type")];
  for (const [name, value] of attributes) {
    if (!linkAttributes.has(name) && !(name === "rel" && value === "related")) leftOut(`atom:link ${name}`);
  }
  return { links: [{ href, ...(text ? { text } : {}), ...(type ? { type } : {}) }] };
}

const linkAttributes: ReadonlySet<string> = new Set(["href", "title", "type"]);

function mergeMetadata(
  { own, ...terms }: MetadataTerms,
  outer: ElementTexts,
  folders: ReadonlyMap<string, ElementTexts>,
): LayerMetadata | undefined {
  const counts = new Map<string, number>();
  const count = (kind: string) => counts.set(kind, (counts.get(kind) ?? 0) + 1);
  for (const [name] of [...own, ...outer]) if (name !== "name") count(name);
  for (const texts of folders.values()) for (const [name] of texts) count(`Folder/${name}`);
  const isNothing = own.length + outer.length + folders.size === 0;
  if (isNothing && Object.keys(terms).length === 0) return undefined;
  if (isNothing) return terms;
  const elements: MetadataElements = {
    format: "kml",
    counts: Object.fromEntries(counts),
    ...(own.length > 0 ? { own } : {}),
    ...(outer.length > 0 ? { outer } : {}),
    ...(folders.size > 0 ? { folders: Object.fromEntries(folders) } : {}),
  };
  return { ...terms, elements };
}
