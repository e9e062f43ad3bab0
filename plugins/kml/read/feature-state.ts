import type { FieldType } from "../../../src/model/index.js";
import type { ReadContext } from "../../../src/plugin/format.js";
import type { XmlReader } from "../../shared/xml/reader.js";
import type { XmlTemplateBuilder } from "../../shared/xml/template-builder.js";
import { readAttributes, Tag } from "../vocabulary.js";
import { type ArrayValue, parseArrayValue } from "./array-value.js";
import { DroppedReporter } from "./dropped-reporter.js";
import { createDataAction, type FeatureAction, ownStyleAction } from "./feature-actions.js";
import { FeatureRecord, ValueSource } from "./feature-record.js";
import { GeometryReader } from "./geometry-reader.js";
import { Replay } from "./replay.js";
import { type StyleProperties, StyleReader } from "./style-reader.js";

/** What reading a feature needs of its document. */
export interface DocumentContext {
  /** Prefix of the ids of Schemas: each document of an archive has its own. */
  readonly scope?: string;
  /** Returns the properties of the shared style with this id. */
  style(id: string): StyleProperties | undefined;
  /** Returns the type that a Schema declares for the values of an array. */
  arrayType(schema: string, name: string): FieldType | undefined;
  /** Whether a typed placemark has a field of this name (KML 2.0 and 2.1). */
  isTypedField(name: string): boolean;
  /** Registers a style in a feature: with an id, other features can share it. */
  ownStyle(id: string | null, style: StyleProperties): void;
}

const noBytes = Buffer.alloc(0);
/** Beyond this many names of data, the actions for others are not kept. */
const maxDataActions = 4096;

/** The state that the rules and actions of the feature grammar work on. */
export class FeatureState {
  readonly record = new FeatureRecord();
  readonly geometry: GeometryReader;
  readonly styles = new StyleReader();
  readonly dropped: DroppedReporter;
  /** Records the actions of the feature being read, for a template; null where none is built. */
  draft: XmlTemplateBuilder<FeatureAction> | null = null;
  /** The codes of the open elements; the feature's own is the first. */
  readonly codes: number[] = [];
  /** The URL of the feature's shared style. */
  styleUrl: string | null = null;
  /** The name of the Data, SimpleData or other element with a value that is open. */
  dataName: string | null = null;
  displayName: string | null = null;
  /** The texts of the TimeSpan. */
  begins = "";
  ends = "";
  private ownStyle: StyleProperties | null = null;
  private styleId: string | null = null;
  /** The open pair of a StyleMap is the normal one. */
  isNormalPair = false;
  /** The URL of the Schema used last, and its id: all features share one string. */
  private schemaUrl = "";
  private schemaId = "";
  /** The values of the open gx:SimpleArrayData, outside of tracks, and their type in the Schema. */
  private array: ArrayValue[] = [];
  private arrayType: FieldType | undefined;
  private readonly dataActions = new Map<string, FeatureAction>();

  constructor(
    readonly document: DocumentContext,
    private readonly context: Pick<ReadContext, "reportNotice" | "reportLoss">,
    readonly withStyles: boolean,
  ) {
    this.dropped = new DroppedReporter(context);
    this.geometry = new GeometryReader(this.record, context);
  }

  /** Begins a feature; `code` is that of its element. */
  begin(code: number, id: string | null): void {
    const { codes } = this;
    this.record.reset(id);
    this.geometry.reset();
    while (codes.length > 0) codes.pop();
    codes.push(code);
    this.ownStyle = null;
    this.styleUrl = null;
    if (code === Tag.GroundOverlay) this.record.elementText("@geometry-type", "groundoverlay");
  }

  /** Applies the action of a tag, and records it. */
  apply(action: FeatureAction): void {
    if (this.draft) {
      if (action.replay === Replay.repeat) this.draft.tag(action);
      else if (action.replay === Replay.never) this.draft.discard();
    }
    action.apply(this, noBytes, 0, 0);
  }

  /** Returns the action for a value of data with this name. */
  dataAction(name: string): FeatureAction {
    const { dataActions } = this;
    let action = dataActions.get(name);
    if (!action) {
      action = createDataAction(name);
      if (dataActions.size < maxDataActions) dataActions.set(name, action);
    }
    return action;
  }

  /** Whether an element with this code is open. */
  isIn(code: number): boolean {
    return this.codes.includes(code);
  }

  /** Reports an element that is left out. */
  drop(name: string): void {
    this.draft?.discard();
    this.dropped.add(name);
  }

  /** Reports the attributes of the element opened last that are not read. */
  dropAttributes(code: number, reader: XmlReader): void {
    const { attributes } = reader;
    const kept = readAttributes[code];
    let isUnread = false;
    for (let a = 0; a < attributes.count; a++) isUnread ||= !kept?.has(attributes.names[a]!.text);
    if (!isUnread) return;
    this.draft?.discard();
    this.dropped.attributes(reader, kept);
  }

  /** Names data that have no other name. */
  takeDisplayName(text: string): void {
    this.displayName = text;
    if (text !== "" && this.dataName !== null && text !== this.dataName) this.drop("displayName");
  }

  /** Returns the id of the Schema that a URL names. */
  schemaIdOf(url: string): string {
    if (url !== this.schemaUrl) this.schemaId = (this.document.scope ?? "") + parseStyleUrl(url);
    this.schemaUrl = url;
    return this.schemaId;
  }

  beginArray(): void {
    this.array = [];
    this.arrayType = this.document.arrayType(this.record.schema, this.dataName ?? "");
  }

  /** Adds a value to the array: in a track, it belongs to a position; elsewhere, the array is a value of the feature. */
  addArrayValue(text: string): void {
    const value = parseArrayValue(text, this.arrayType);
    if (this.isIn(Tag.Track)) this.geometry.arrayValue(this.dataName ?? "", value);
    else this.array.push(value);
  }

  endArray(): void {
    if (!this.isIn(Tag.Track)) this.record.list(this.dataName ?? "", JSON.stringify(this.array));
  }

  endTimespan(): void {
    const { begins: begin, ends: end } = this;
    if (begin === "" && end === "") return;
    const span = { ...(begin === "" ? {} : { begin }), ...(end === "" ? {} : { end }) };
    this.record.elementText("timespan", JSON.stringify(span));
  }

  beginStyle(reader: XmlReader): void {
    this.styleId = reader.attributes.get("id");
    this.styles.begin();
  }

  endStyle(): void {
    const { styles, styleId } = this;
    const style = styles.finish();
    if (this.withStyles) for (const name of styles.leftOut) this.drop(name);
    this.document.ownStyle(styleId, style);
    this.apply(ownStyleAction(style, styleId));
  }

  useStyle(style: StyleProperties): void {
    this.ownStyle = { ...this.ownStyle, ...style };
  }

  takePairKey(text: string): void {
    this.isNormalPair = text !== "highlight";
    if (!this.isNormalPair && this.withStyles) this.drop("highlight");
  }

  takePairStyle(url: string): void {
    if (this.isNormalPair) this.ownStyle = { ...this.document.style(parseStyleUrl(url)), ...this.ownStyle };
  }

  /** Adds to the record what depends on the whole feature. */
  finish(): void {
    this.geometry.finish();
    const shared = this.styleUrl === null ? undefined : this.useSharedStyle(this.styleUrl);
    if (!this.withStyles) return;
    if (this.ownStyle) this.record.style(this.ownStyle);
    if ((this.ownStyle?.outline ?? shared?.outline) === 0) this.hideOutline();
  }

  /** A style without an outline hides the stroke of polygons, not of lines. */
  private hideOutline(): void {
    const { polygons, lines } = this.record.shapes.kinds;
    if (polygons && lines) this.drop("outline");
    else if (polygons) this.record.number(ValueSource.style, "stroke-opacity", 0);
  }

  private useSharedStyle(url: string): StyleProperties | undefined {
    const { record } = this;
    record.elementText("styleUrl", url.includes("#") ? url : `#${url}`);
    const id = parseStyleUrl(url);
    if (!this.withStyles || id.includes("#")) return undefined;
    const shared = this.document.style(id);
    if (shared) record.style(shared);
    else this.context.reportNotice("style-missing", undefined, `there is no style "${id}" in the document`);
    return shared;
  }
}

/** Returns the id that a URL names in its own document: `#id`, or `id` in older files. */
const parseStyleUrl = (url: string): string => (url.startsWith("#") ? url.slice(1) : url);
