/** Validates requests with the schemas of their routes, which /openapi.json also shows. */
import type { FastifySchemaCompiler } from "fastify";
import { type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";
import type { TLocalizedValidationError } from "typebox/error";
import { maxFeaturesPerRequest } from "../../remote/wire.js";
import { SingleFeatureChange } from "../features/schemas.js";
import { isObject } from "../features/validate-feature.js";
import { type Problem, problem } from "./problems.js";

/** Path and headers always pass: handlers look up path parameters, and each header is parsed where it is used. */
const acceptAny = (value: unknown) => ({ value });

export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  if (httpPart === "querystring") return queryValidator(schema);
  return httpPart === "body" ? bodyValidator(schema) : acceptAny;
};

function queryValidator(schema: TSchema) {
  const validator = Compile(schema);
  return (sent: unknown) => {
    const value = convertQueryTypes(schema, sent);
    return validator.Check(value) ? { value } : { error: invalidQuery(validator.Errors(value)) };
  };
}

function bodyValidator(schema: TSchema) {
  const validator = Compile(collectionEnvelope(schema));
  const takesFeatures = Object.hasOwn((schema as { properties?: object }).properties ?? {}, "features");
  return (value: unknown) => {
    // Must come first: listing validation errors visits each feature, and a body may have millions.
    const count = takesFeatures && isObject(value) && Array.isArray(value.features) ? value.features.length : 0;
    if (count > maxFeaturesPerRequest) {
      return { error: problem("too-many-features", { count, limit: maxFeaturesPerRequest }) };
    }
    return validator.Check(value) ? { value } : { error: invalidBody(validator.Errors(value)) };
  };
}

/** Features are validated individually (`features/validate-feature.ts`): an invalid one must not reject the others. */
function collectionEnvelope(schema: TSchema): TSchema {
  if (schema === SingleFeatureChange) return Type.Object({});
  const { properties } = schema as { properties?: { features?: object } };
  if (!properties?.features) return schema;
  return { ...schema, properties: { ...properties, features: { ...properties.features, items: {} } } } as TSchema;
}

/** Converts query strings to integers or booleans if the schema requires them: `1`, not `1.0` or `1e2`. */
function convertQueryTypes(schema: TSchema, query: unknown): unknown {
  const { properties = {} } = schema as { properties?: Record<string, { type?: string }> };
  const convert = (name: string, text: unknown): unknown => {
    const type = Object.hasOwn(properties, name) ? properties[name]!.type : undefined;
    if (type === "integer" && typeof text === "string" && /^-?\d+$/.test(text)) return Number(text);
    // Forms send `?page=` for an empty field.
    if (type === "integer" && text === "") return undefined;
    if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
    return text;
  };
  const converted = Object.entries(query as object).map(([name, text]) => [name, convert(name, text)] as const);
  return Object.fromEntries(converted.filter(([, value]) => value !== undefined));
}

const describeValidationError = ({ instancePath, message }: TLocalizedValidationError): string =>
  `${instancePath.slice(1).replaceAll("/", ".") || "it"} ${message}`;

const invalidQuery = (errors: readonly TLocalizedValidationError[]): Problem =>
  problem("bad-query", { reason: describeValidationError(errors[0]!) });

const invalidBody = (errors: readonly TLocalizedValidationError[]): Problem =>
  problem("invalid-body", { reason: describeValidationError(errors[0]!) });
