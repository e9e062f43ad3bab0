import { compileGrammar, type XmlContent } from "../../shared/xml/grammar.js";
import { toFieldName } from "../element-names.js";
import { ElementCode, Gpx, standardFields, structureNamespace, vocabulary } from "../elements.js";
import { isShapeNamespace } from "../route-shape.js";
import {
  geometryTypeAction,
  heightAction,
  linkHrefAction,
  linkTextAction,
  linkTypeAction,
  standardActions,
  subclassAction,
  type TextAction,
} from "./actions.js";
import { ExtensionOwner } from "./extension-parser.js";
import { ExtensionPlacement } from "./extension-paths.js";
import type { ParseContext } from "./parse-context.js";

/** The kinds of content that elements have: what the grammar's paths begin with. */
export const Content = {
  document: 0,
  gpx: 1,
  wpt: 2,
  rte: 3,
  trk: 4,
  trkseg: 5,
  /** Of a point of a line. */
  point: 6,
  /** Of an element with text only. */
  field: 7,
  link: 8,
  extensions: 9,
  /** Of an element in extensions. */
  extension: 10,
  /** Of Garmin's extension of points: it is so common that field names omit it. */
  garmin: 11,
  /** Of a position that Garmin's devices add between two route points. */
  shape: 12,
  metadata: 13,
  /** Of an element in the metadata. */
  described: 14,
  /** Of the extensions of the file itself. */
  declarations: 15,
  skipped: 16,
} as const;

/** How text directly in an element is read. */
export const TextHandling = { ignore: 0, collect: 1, report: 2 } as const;

/** What an element means. */
export interface ElementRule {
  /** The kind of content that the rules of its children are listed under. */
  readonly content: number;
  readonly text: number;
  /** Whether a point with this element in it can become a template. */
  readonly isRepeatable: boolean;
  /** Whether the element is a feature: a wpt, rte or trk. */
  readonly isFeature: boolean;
  /** Handles the start tag. @returns the rule to read the element by, where that is not this one */
  readonly open: ((context: ParseContext, depth: number) => ElementRule | undefined) | undefined;
  /** Handles the end tag. */
  readonly close: ((context: ParseContext, depth: number) => void) | undefined;
}

const rule = (content: number, parts: Partial<ElementRule> = {}): ElementRule => ({
  content,
  text: TextHandling.ignore,
  isRepeatable: true,
  isFeature: false,
  open: undefined,
  close: undefined,
  ...parts,
});

const skip = rule(Content.skipped);

/** An element with text only. */
const field = (action: TextAction): ElementRule =>
  rule(Content.field, {
    text: TextHandling.collect,
    isRepeatable: action.isRepeatable,
    open({ reader }) {
      reader.content.begin();
      return undefined;
    },
    close(context) {
      context.apply(action);
      // The visitor keeps a text by beginning the next one behind it.
      context.reader.content.drop();
    },
  });

/** An element in a text: its text belongs to the text around it. */
const markup = rule(Content.field, { text: TextHandling.collect, isRepeatable: false });

const feature = (kind: number, content: number): ElementRule =>
  rule(content, {
    text: TextHandling.report,
    isFeature: true,
    open: (context) => (context.beginFeature(kind) ? undefined : skip),
    close: (context) => context.endFeature(),
  });

const point = rule(Content.point, {
  text: TextHandling.report,
  open: (context) => (context.beginPoint() ? undefined : skip),
  close: (context) => context.endPoint(),
});

const skippedSegment = rule(Content.skipped, { close: (context) => context.endSkippedSegment() });
const segment = rule(Content.trkseg, {
  text: TextHandling.report,
  open({ visitor, reader }) {
    if (visitor.segment()) return undefined;
    reader.skipContent();
    return skippedSegment;
  },
});

const segmentExtensions = rule(Content.extensions, {
  open({ extensions }) {
    extensions.begin(ExtensionOwner.segment);
    return undefined;
  },
  close({ extensions }) {
    extensions.owner = ExtensionOwner.feature;
  },
});

/** An element that GPX does not have in this place: counted and left out. */
const dropped = rule(Content.skipped, {
  open({ extensions }) {
    extensions.paths.surplus++;
    return undefined;
  },
});

const link = rule(Content.link, {
  isRepeatable: false,
  open(context) {
    context.beginLink();
    return undefined;
  },
  close: (context) => context.endLink(),
});

const geometryType = field(geometryTypeAction);
const garmin = rule(Content.garmin);
const shape = rule(Content.shape, {
  isRepeatable: false,
  close: ({ extensions }, depth) => extensions.endShape(depth),
});

/** An element in extensions, or in the place of GPX's own elements. */
const extension = (placement: number): ElementRule =>
  rule(Content.extension, {
    text: TextHandling.collect,
    open(context, depth) {
      const { extensions, reader, inPoint } = context;
      const { code, local } = reader.name;
      if (placement === ExtensionPlacement.within) {
        extensions.flush(depth - 1);
        if (inPoint && code === ElementCode.rpt && isShapeNamespace(reader.namespace())) {
          return extensions.openShape(depth) ? begin(shape, context, depth) : skip;
        }
      } else if (reader.namespace() === structureNamespace) {
        return local === "geometry" ? begin(geometryType, context, depth) : skip;
      } else if (inPoint && code === ElementCode.TrackPointExtension) {
        extensions.paths.beginGarmin();
        return garmin;
      }
      return extensions.open(depth, placement) ? undefined : skip;
    },
    close: (context, depth) => context.extensions.close(depth),
  });

/** Reads an element by another rule than the one of its path. */
function begin(rule: ElementRule, context: ParseContext, depth: number): ElementRule {
  return rule.open?.(context, depth) ?? rule;
}

/** What GPX 1.0 has beside its own elements, and what later versions may add. */
const besideGpx = extension(ExtensionPlacement.beside);

const standardRules = Object.fromEntries(
  standardFields.map(({ name }, index) => [name, field(standardActions[index]!)]),
);

const metadata = (isWithin: boolean): ElementRule =>
  rule(Content.described, {
    text: TextHandling.collect,
    open(context) {
      context.metadata.begin(isWithin);
      return undefined;
    },
    close(context, depth) {
      const element = context.metadata.end(depth, context.isLeaf(depth));
      if (!isWithin) context.file?.metadata(context.reader.name, element);
    },
  });

/** The declaration of a field in the extensions of the file, by our writer. */
const declaration = rule(Content.declarations, {
  open({ reader, file }) {
    if (reader.namespace() !== structureNamespace) {
      file?.leftOut(reader.name);
      return skip;
    }
    const { attributes } = reader;
    const name = attributes.get("name");
    const type = attributes.get("type");
    if (name !== null && type !== null) {
      file?.declaration(toFieldName(name), type, attributes.get("element"));
    }
    return undefined;
  },
});

const root = rule(Content.gpx, {
  text: TextHandling.report,
  open(context) {
    const namespace = context.reader.namespace();
    context.useRoot(namespace);
    context.file?.root(namespace);
    return undefined;
  },
});

const notGpx = rule(Content.skipped, {
  open({ source, reader }) {
    throw source.notGpx(reader.name.text);
  },
});

const unknown = rule(Content.skipped, {
  open({ file, reader }) {
    file?.unknown(reader.name);
    return undefined;
  },
});

/** The elements that features and points share, in content `name`. */
function common(name: keyof typeof Content): Record<string, ElementRule> {
  const rules: Record<string, ElementRule> = {
    ...standardRules,
    ele: field(heightAction),
    extensions: rule(Content.extensions),
    link,
    url: field(linkHrefAction),
    urlname: field(linkTextAction),
    "*": besideGpx,
    "!": besideGpx,
  };
  return Object.fromEntries(Object.entries(rules).map(([element, rule]) => [`${name}/${element}`, rule]));
}

/**
 * The grammar of GPX 1.0 and 1.1: from element paths to rules. Both ordinary reading and record templates work by it: a
 * template replays the actions that the rules apply.
 */
const table: Readonly<Record<string, ElementRule>> = {
  "document/gpx": root,
  "document/*": notGpx,

  "gpx/wpt": feature(Gpx.wpt, Content.wpt),
  "gpx/rte": feature(Gpx.rte, Content.rte),
  "gpx/trk": feature(Gpx.trk, Content.trk),
  "gpx/metadata": rule(Content.metadata),
  "gpx/extensions": rule(Content.declarations),
  // GPX 1.0 has the metadata directly in the root.
  "gpx/*": metadata(false),
  "gpx/!": unknown,

  "metadata/*": metadata(false),
  "described/*": metadata(true),
  "declarations/*": declaration,

  ...common("wpt"),

  ...common("rte"),
  "rte/ele": besideGpx,
  "rte/rtept": point,

  ...common("trk"),
  "trk/ele": besideGpx,
  "trk/trkseg": segment,

  "trkseg/trkpt": point,
  "trkseg/extensions": segmentExtensions,
  "trkseg/*": dropped,
  "trkseg/!": dropped,

  ...common("point"),

  "field/*": markup,

  "link/text": field(linkTextAction),
  "link/type": field(linkTypeAction),
  "link/*": skip,

  "extensions/*": extension(ExtensionPlacement.top),
  "garmin/*": extension(ExtensionPlacement.garmin),
  "extension/*": extension(ExtensionPlacement.within),
  "shape/Subclass": field(subclassAction),
  "shape/*": dropped,

  "skipped/*": skip,
};

const contents: readonly XmlContent<ElementRule>[] = compileGrammar(Content, vocabulary, table, skip);

/** The rule for the element opened last, in an element with the rule `parent`. */
export function findRule(parent: ElementRule, context: ParseContext): ElementRule {
  const { rules, other, foreign } = contents[parent.content]!;
  if (foreign !== null && !context.isInGpx) return foreign;
  return rules[context.reader.name.code] ?? other;
}

/** The rule of the document itself, and of a root element that was opened by another reader. */
export const documentRule = rule(Content.document);
export const rootRule = root;
