/**
 * Finds the features in a GML document: the elements in `featureMember`, `featureMembers`, `member` and the like, at any
 * depth of nested collections (OGC 07-036r1, 9.9; OGC 09-025r2, 7.6.3.6).
 */
import { createError } from "../../../src/errors.js";
import type { XmlPosition, XmlReader } from "../../shared/xml/reader.js";
import { XmlToken } from "../../shared/xml/reader.js";
import { allTextOf, ElementBuilder, type GmlElement } from "./element.js";
import { srsNameIn } from "./srs-name.js";

/** What an open element contains. */
type Context = "collection" | "members" | "skipped" | "captured";

/** Where a walk begins in the middle of a document. Plain data. */
export interface WalkState {
  readonly contexts: readonly Context[];
  /** The reference system of the collection, which applies to geometries that name none. */
  readonly srsName: string | null;
}

/** Reports elements that are neither features nor their members. */
export interface WalkListener {
  /** An element beside the features was left out. */
  leftOut(element: string): void;
}

const collectionName = /(^|_)(FeatureCollection|SpatialDataSet)$/;
const memberName = /members?$/i;
/** Elements beside the members that describe the collection. */
const descriptive = new Set(["name", "description", "identifier", "metaDataProperty", "descriptionReference"]);
/** Roots of documents of web services that are not features. */
const exceptionRoots = new Set(["ExceptionReport", "ServiceExceptionReport", "WFS_Exception"]);

/** The message of an exception report (OGC 06-121r9, 8; OGC 04-094, 7.7). */
const exceptionText = (report: GmlElement): string => allTextOf(report).replace(/\s+/g, " ").slice(0, 300);

export class FeatureWalker {
  /** The feature found last. */
  feature: GmlElement | null = null;
  /** Whether a member element occurred. */
  hasMembers = false;
  /** The root element; null until it begins. */
  root: {
    readonly name: string;
    readonly attributes: ReadonlyMap<string, string>;
    /** Whether MapServer wrote it for WFS 1.1.0, with names like `EPSG:4326` and the order of axes of the authority. */
    readonly isMapServer11: boolean;
  } | null = null;
  private readonly contexts: Context[];
  private srs: string | null;
  private readonly builder = new ElementBuilder();
  /** What the tree that is being built is. */
  private building: "feature" | "bounds" | "exception" = "feature";
  /** Where the first child of each open element begins, for splits. */
  private readonly starts: (XmlPosition | undefined)[] = [];
  private featureStart = 0;

  constructor(
    private readonly xml: XmlReader,
    private readonly source: string,
    private readonly listener: WalkListener,
    state: WalkState | undefined,
  ) {
    this.contexts = [...(state?.contexts ?? [])];
    this.srs = state?.srsName ?? null;
  }

  /** The reference system of the collection around the feature; null if it declares none. */
  get srsName(): string | null {
    return this.srs;
  }

  /** The first byte of the last feature. */
  get byte(): number {
    return this.featureStart;
  }

  /** The position of the member element, or of the feature in `featureMembers`, that begins now; only while `next` returns "starts". */
  position(): { readonly start: XmlPosition; readonly state: WalkState } {
    const { xml, contexts } = this;
    const parent = this.starts[xml.depth - 1]!;
    return {
      start: { ...parent, byte: xml.byte },
      state: { contexts: contexts.slice(0, xml.depth - 1), srsName: this.srs },
    };
  }

  /**
   * @returns "feature": `feature` is complete; "starts": a member or feature begins, between two others; "more": call the
   * reader's `fill`; "end"
   * @throws input-corrupt for an exception report
   */
  next(): "feature" | "starts" | "more" | "end" {
    const { xml, builder } = this;
    for (;;) {
      const token = xml.next();
      if (token === XmlToken.more) return "more";
      if (token === XmlToken.end) return "end";
      if (token === XmlToken.open) {
        if (builder.isOpen) {
          builder.begin(xml);
          this.contexts[xml.depth - 1] = "captured";
        } else if (this.open()) return "starts";
      } else if (token === XmlToken.text) {
        if (builder.isOpen) builder.text(xml);
        else if (this.contexts[xml.depth - 1] !== "skipped") this.listener.leftOut(`text in ${xml.name.local}`);
      } else if (this.close()) return "feature";
    }
  }

  /** @returns whether it is a place where a split can begin */
  private open(): boolean {
    const { xml, contexts } = this;
    const { depth } = xml;
    const { local } = xml.name;
    if (depth === 1) {
      this.openRoot();
      return false;
    }
    const parent = contexts[depth - 2] ?? "skipped";
    if (parent === "skipped") return this.skip();
    // A service that fails while it writes puts its report where it is.
    if (exceptionRoots.has(local)) {
      this.beginTree("exception");
      return false;
    }
    if (collectionName.test(local)) return this.enter("collection");
    if (parent === "members") {
      this.beginTree("feature");
      return this.starts[depth - 1] !== undefined;
    }
    if (memberName.test(local)) {
      this.hasMembers = true;
      const href = xml.attributes.get("href");
      if (href !== null) this.listener.leftOut(`${local} (a reference to ${href.slice(0, 80)})`);
      this.enter("members");
      return xml.splittable;
    }
    if (local === "boundedBy") {
      this.beginTree("bounds");
      return false;
    }
    if (local === "truncatedResponse") throw this.corrupt("the service truncated its response (wfs:truncatedResponse)");
    // Some schemas have an element of their own around the collection.
    if (depth === 2 && !descriptive.has(local)) return this.enter("collection");
    return this.leaveOut();
  }

  private openRoot(): void {
    const { xml } = this;
    const { name, attributes } = xml;
    const isException = exceptionRoots.has(name.local);
    const values = new Map<string, string>();
    for (let a = 0; a < attributes.count; a++) values.set(attributes.names[a]!.local, attributes.value(a));
    const uris = xml.childStart().namespaces.map(([, uri]) => uri);
    const isMapServer = uris.includes("http://mapserver.gis.umn.edu/mapserver");
    const isMapServer11 = isMapServer && (values.get("schemaLocation") ?? "").includes("/wfs/1.1.0/");
    this.root = { name: name.local, attributes: values, isMapServer11 };
    if (isException) this.beginTree("exception");
    else this.enter("collection");
  }

  private enter(context: Context): boolean {
    const { xml, contexts, starts } = this;
    contexts[xml.depth - 1] = context;
    // An element of a single member has no children between which a split can begin.
    const isList = context === "collection" || /s$/i.test(xml.name.local);
    starts[xml.depth] = isList && xml.splittable ? xml.childStart() : undefined;
    return false;
  }

  private leaveOut(): boolean {
    const { local } = this.xml.name;
    this.listener.leftOut(local);
    return this.skip();
  }

  private skip(): boolean {
    this.contexts[this.xml.depth - 1] = "skipped";
    return false;
  }

  private beginTree(what: FeatureWalker["building"]): void {
    const { xml } = this;
    this.building = what;
    this.featureStart = xml.byte;
    this.contexts[xml.depth - 1] = "captured";
    this.builder.begin(xml);
    xml.keepsSpace = true;
  }

  /** @returns whether a feature is complete */
  private close(): boolean {
    if (!this.builder.isOpen) return false;
    const tree = this.builder.end();
    if (tree === null) return false;
    this.xml.keepsSpace = false;
    if (this.building === "exception")
      throw this.corrupt(`it is an error message of a service: ${exceptionText(tree)}`);
    if (this.building === "bounds") {
      this.srs = srsNameIn(tree) ?? this.srs;
      return false;
    }
    this.feature = tree;
    return true;
  }

  private corrupt(reason: string) {
    return createError("input-corrupt", { source: this.source, reason });
  }
}
