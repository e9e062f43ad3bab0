/** The fields of an Esri JSON layer, and how their values are read. */
import { type Field, type FieldType, uniqueName } from "../../../src/model/index.js";
import type { PluginContext } from "../../../src/plugin/index.js";
import { isObject, type Json, objectsOf, textOf } from "../../shared/json/values.js";
import { type CodedDomain, codedDomain, subtypeField } from "./domains.js";

/** How a value is converted beyond what its type needs. */
export type Conversion = "none" | "epoch" | "base64" | "domain";

/** Plain data. */
export interface FieldPlan {
  readonly field: Field;
  /** The name of the attribute. */
  readonly attribute: string;
  /** The type of the value itself; that of `field` differs where names of a domain replace it. */
  readonly type: FieldType;
  readonly conversion: Conversion;
  readonly domain: CodedDomain | null;
  /** The type as Esri names it, for filters and messages. */
  readonly esriType: string;
}

/** Plain data. */
export interface FieldsPlan {
  readonly fields: readonly FieldPlan[];
  /** The attribute with the object ids. */
  readonly idAttribute: string | null;
  /** The attribute with the subtypes, which decide about domains. */
  readonly subtypeAttribute: string | null;
  /** Whether dates are local times of an unknown zone. */
  readonly hasLocalTimes: boolean;
}

/** Values of Esri's field types (ArcGIS REST API, "Field type"); types without an entry are not read. */
const types: Readonly<Record<string, readonly [FieldType, Conversion]>> = {
  esriFieldTypeOID: ["int64", "none"],
  esriFieldTypeSmallInteger: ["int32", "none"],
  esriFieldTypeInteger: ["int32", "none"],
  esriFieldTypeBigInteger: ["int64", "none"],
  esriFieldTypeSingle: ["double", "none"],
  esriFieldTypeDouble: ["double", "none"],
  esriFieldTypeString: ["text", "none"],
  esriFieldTypeDate: ["datetime", "epoch"],
  esriFieldTypeDateOnly: ["date", "none"],
  esriFieldTypeTimeOnly: ["time", "none"],
  esriFieldTypeTimestampOffset: ["datetime", "none"],
  esriFieldTypeGUID: ["text", "none"],
  esriFieldTypeGlobalID: ["text", "none"],
  esriFieldTypeXML: ["text", "none"],
  esriFieldTypeBlob: ["binary", "base64"],
};

/** Types whose values are not attributes. */
const otherTypes = new Set(["esriFieldTypeGeometry", "esriFieldTypeRaster"]);

export interface FieldOptions {
  readonly domains: string;
  readonly fieldNames: string;
}

/**
 * The plan of a layer or feature set; null if it declares no fields, so that only the features show them.
 */
export function planFields(
  layer: Json,
  options: FieldOptions,
  context: Pick<PluginContext, "reportLoss">,
): FieldsPlan | null {
  const declared = objectsOf(layer.fields);
  if (declared.length === 0) return null;
  const taken = new Set<string>();
  const fields: FieldPlan[] = [];
  for (const each of declared) {
    const attribute = textOf(each.name);
    const esriType = textOf(each.type) ?? "esriFieldTypeString";
    if (attribute === null || otherTypes.has(esriType)) continue;
    const known = Object.hasOwn(types, esriType) ? types[esriType]! : null;
    if (!known) {
      context.reportLoss("field-left-out", attribute, `values of the type ${esriType} are not supported`);
      continue;
    }
    const [type, conversion] = known;
    const alias = textOf(each.alias);
    const wanted = options.fieldNames === "aliases" && alias ? alias : attribute;
    const name = uniqueName(wanted, taken);
    taken.add(name);
    const domain = options.domains === "names" ? codedDomain(each, layer) : null;
    fields.push({
      field: { name, type: domain ? "text" : type },
      attribute,
      type,
      conversion: domain ? "domain" : conversion,
      domain,
      esriType,
    });
  }
  const usesSubtypes = fields.some(({ domain }) => domain !== null && domain.bySubtype.size > 0);
  return {
    fields,
    idAttribute: idAttribute(layer, declared),
    subtypeAttribute: usesSubtypes ? subtypeField(layer) : null,
    hasLocalTimes: layer.datesInUnknownTimezone === true,
  };
}

function idAttribute(layer: Json, declared: readonly Json[]): string | null {
  const named = textOf(layer.objectIdFieldName) || textOf(layer.objectIdField);
  if (named) return named;
  const unique = isObject(layer.uniqueIdField) ? textOf(layer.uniqueIdField.name) : null;
  return textOf(declared.find(({ type }) => type === "esriFieldTypeOID")?.name) ?? unique;
}
