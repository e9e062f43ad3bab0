/** Collects the fields and geometries of the features of one type in one reference system. */
import { type Crs, type Field, type FieldType, type GeometryType, uniqueName } from "../../../src/model/index.js";
import type { PluginContext } from "../../../src/plugin/index.js";
import { classifyValue, fittingType, guessType, ValueForm } from "../../shared/text/value-forms.js";
import { attributeOf, type GmlElement } from "./element.js";
import type { GmlField, GmlLayerPlan } from "./plan.js";
import { addLeaves, geometryOf, isBounds, type Leaf } from "./properties.js";
import type { DeclaredProperty } from "./schema.js";

export interface FieldOptions {
  readonly types: "auto" | "text";
  /** The name of the property that is the geometry. */
  readonly geometry?: string | undefined;
}

interface PathStats {
  /** The `ValueForm` flags of all values. */
  forms: number;
  /** Whether all numbers are 0 or 1, which XML Schema's booleans can be. */
  isBits: boolean;
}

interface PropertyStats {
  readonly paths: Map<string, PathStats>;
  /** Features in which it is a geometry, and those of them that have another geometry, too. */
  geometries: number;
  others: number;
  /** Whether a feature has it more than once. */
  isList: boolean;
  /** Whether a path in it occurs more than once. */
  hasRepeated: boolean;
  isNested: boolean;
  /** The number of the last feature that has it. */
  seen: number;
}

const linear: readonly GeometryType[] = ["LineString"];
const areal: readonly GeometryType[] = ["Polygon"];
const arealParts: readonly GeometryType[] = ["MultiPolygon"];
/** Types of the geometries that elements become. */
const typesByElement: Readonly<Record<string, readonly GeometryType[]>> = {
  Point: ["Point"],
  LineString: linear,
  LinearRing: linear,
  Ring: linear,
  Curve: linear,
  CompositeCurve: linear,
  OrientableCurve: linear,
  Polygon: areal,
  Rectangle: areal,
  Triangle: areal,
  Envelope: areal,
  EnvelopeWithTimePeriod: areal,
  Box: areal,
  Surface: ["Polygon", "MultiPolygon"],
  OrientableSurface: ["Polygon", "MultiPolygon"],
  MultiPoint: ["MultiPoint"],
  MultiLineString: ["MultiLineString"],
  MultiCurve: ["MultiLineString"],
  MultiGeometry: ["GeometryCollection"],
  GeometricComplex: ["GeometryCollection"],
};

export class LayerScan {
  features = 0;
  hasIds = false;
  crs: Crs | null = null;
  /** Identifies the reference system. */
  crsKey = "";
  private readonly properties = new Map<string, PropertyStats>();
  private readonly geometryElements = new Map<string, Set<string>>();
  private readonly leaves: Leaf[] = [];

  constructor(
    readonly typeName: string,
    readonly namespace: string | null,
    /** Whether it is the first of its type, to which features without geometry belong. */
    readonly isFirst: boolean,
    private readonly context: Pick<PluginContext, "reportLoss" | "reportNotice">,
  ) {}

  place(crs: Crs | null, crsKey: string): void {
    this.crs = crs;
    this.crsKey = crsKey;
  }

  add(feature: GmlElement): void {
    this.features++;
    if (attributeOf(feature, "id") !== null || attributeOf(feature, "fid") !== null) this.hasIds = true;
    const geometries: PropertyStats[] = [];
    for (const property of feature.children)
      if (!isBounds(property)) {
        const stats = this.addProperty(property);
        if (stats) geometries.push(stats);
      }
    if (geometries.length > 1) for (const stats of geometries) stats.others++;
    if (feature.text.trim() !== "")
      this.context.reportLoss("element-left-out", undefined, `text between the properties of <${feature.local}>`);
  }

  private statsOf(name: string): PropertyStats {
    let stats = this.properties.get(name);
    if (!stats) {
      stats = {
        paths: new Map(),
        geometries: 0,
        others: 0,
        isList: false,
        hasRepeated: false,
        isNested: false,
        seen: 0,
      };
      this.properties.set(name, stats);
    }
    return stats;
  }

  /** @returns the property's statistics if it is a geometry */
  private addProperty(property: GmlElement): PropertyStats | null {
    const { local } = property;
    const stats = this.statsOf(local);
    const geometry = geometryOf(property);
    if (geometry) {
      stats.geometries++;
      const elements = this.geometryElements.get(local) ?? new Set();
      this.geometryElements.set(local, elements.add(geometry.local));
      return stats;
    }
    if (stats.seen === this.features) stats.isList = true;
    stats.seen = this.features;
    if (property.children.length > 0) stats.isNested = true;
    this.leaves.length = 0;
    const leaves = addLeaves(this.leaves, property, local, (path) => this.leaveOutGeometry(path));
    if (hasRepeatedPath(leaves)) stats.hasRepeated = true;
    for (const { path, text } of leaves) addValue(stats.paths, path, text);
    return null;
  }

  private leaveOutGeometry(path: string): void {
    this.context.reportLoss("geometry-column-left-out", path, "a geometry within a property was left out");
  }

  /** @param declared the properties that a schema declares; null without one */
  plan(name: string, declared: readonly DeclaredProperty[] | null, options: FieldOptions): GmlLayerPlan {
    const geometryProperty = this.chooseGeometry(declared, options);
    const fields = this.planFields(declared, options, geometryProperty);
    const names = options.geometry === undefined ? [...this.geometryElements.keys()] : [geometryProperty ?? ""];
    const elements = names.flatMap((each) => [...(this.geometryElements.get(each) ?? [])]);
    const geometryTypes = new Set(elements.flatMap((element) => typesByElement[element] ?? arealParts));
    const { typeName, namespace, crs, crsKey, isFirst, hasIds, features } = this;
    return {
      ...{
        name,
        typeName,
        namespace,
        crs,
        crsKey,
        hasNullGeometries: isFirst,
        fields,
        geometryProperty,
        isOnlyGeometry: options.geometry !== undefined,
      },
      ...{ geometryTypes: [...geometryTypes], hasIds, featureCount: features },
    };
  }

  private chooseGeometry(declared: readonly DeclaredProperty[] | null, { geometry }: FieldOptions): string | null {
    const present = [...this.properties].filter(([, { geometries }]) => geometries > 0).map(([name]) => name);
    const first = declared?.find(({ isGeometry, name }) => isGeometry && present.includes(name))?.name ?? present[0];
    const chosen = geometry !== undefined && present.includes(geometry) ? geometry : (first ?? null);
    for (const name of present)
      if (name !== chosen && this.leftOut(name, geometry) > 0) {
        const example = `a geometry beside "${chosen}" was left out; --in geometry=${name} reads it instead`;
        this.context.reportLoss("geometry-column-left-out", name, example, this.leftOut(name, geometry));
      }
    return chosen;
  }

  /** Features in which a property is a geometry that is not read: without a request, a feature has its first one. */
  private leftOut(name: string, wanted: string | undefined): number {
    const { geometries, others } = this.properties.get(name)!;
    return wanted === undefined ? others : geometries;
  }

  private planFields(
    declared: readonly DeclaredProperty[] | null,
    { types }: FieldOptions,
    geometryProperty: string | null,
  ): GmlField[] {
    const fields: GmlField[] = [];
    const taken = new Set<string>();
    const add = (property: string, path: string | null, type: FieldType, width?: number, isDeclared = false) => {
      const name = uniqueName(path ?? property, taken);
      taken.add(name);
      const field: Field = { name, type, ...(width === undefined ? {} : { width }) };
      const isList = this.properties.get(property)?.isList ?? false;
      fields.push({ field, property, path, isList, isDeclared });
    };
    const declaredNames = new Map(declared?.map((each) => [each.name, each]));
    const order = [...new Set([...declaredNames.keys(), ...this.properties.keys()])];
    for (const property of order) {
      const declaration = declaredNames.get(property);
      const stats = this.properties.get(property);
      if (!stats || (stats.geometries > 0 && isEmpty(stats))) {
        if (!stats && declaration?.type && !declaration.isGeometry)
          add(property, property, types === "text" ? "text" : declaration.type, declaration.width, true);
      } else if (stats.isList || stats.hasRepeated) {
        if (stats.isNested) this.noteJson(property);
        add(property, null, "json");
      } else
        for (const [path, found] of stats.paths) {
          const own = path === property && !stats.isNested ? declaration : undefined;
          const isHollow = path === property && property === geometryProperty;
          if (!isHollow) add(property, path, this.typeOf(path, found, types, own), own?.width, own?.type !== undefined);
        }
    }
    return fields;
  }

  private noteJson(property: string): void {
    const example = "its elements repeat, so the whole property became JSON";
    this.context.reportNotice("nested-as-json", property, example);
  }

  private typeOf(
    path: string,
    { forms, isBits }: PathStats,
    types: FieldOptions["types"],
    declared: DeclaredProperty | undefined,
  ): FieldType {
    if (types === "text") return "text";
    if (!declared?.type) return guessType(forms);
    const type = declared.type;
    if (type === "boolean" && isBits && (forms & ~(ValueForm.boolean | ValueForm.int32)) === 0) return type;
    const fitting = fittingType(forms, type);
    if (fitting !== type)
      this.context.reportNotice(
        "type-not-kept",
        path,
        `the schema declares ${declared.typeName || type}, but values do not fit it, so they are text`,
      );
    return fitting;
  }
}

const isEmpty = ({ paths }: PropertyStats): boolean => [...paths.values()].every(({ forms }) => forms === 0);

/** Whether a path occurs twice. Most properties have one leaf. */
const hasRepeatedPath = (leaves: readonly Leaf[]): boolean =>
  leaves.length > 1 && new Set(leaves.map(({ path }) => path)).size < leaves.length;

function addValue(paths: Map<string, PathStats>, path: string, text: string | null): void {
  let stats = paths.get(path);
  if (!stats) {
    stats = { forms: 0, isBits: true };
    paths.set(path, stats);
  }
  // One value that is a text makes the field a text.
  if (text === null || (stats.forms & ValueForm.text) !== 0) return;
  const bytes = Buffer.from(text.trim());
  if (bytes.length === 0) return;
  const form = classifyValue(bytes, 0, bytes.length);
  stats.forms |= form;
  if (form === ValueForm.int32 && !(bytes.length === 1 && (bytes[0] === 48 || bytes[0] === 49))) stats.isBits = false;
}
