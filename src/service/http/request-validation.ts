/** Validates requests by the schemas of their routes, the same that /openapi.json shows. */
import type { FastifySchemaCompiler } from "fastify";
import { type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";
import type { TLocalizedValidationError } from "typebox/error";
import { maxFeaturesPerRequest } from "../../remote/wire.js";
import { SingleFeatureChange } from "../features/schemas.js";
import { isObject } from "../features/validate-feature.js";
import { type Problem, problem } from "./problems.js";

/** Of path and headers nothing is refused: what they name is there or not, and each header is read where it is used. */
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
    // Before all else: to look for what is wrong goes through them one by one, and millions fit into a body.
    const count = takesFeatures && isObject(value) && Array.isArray(value.features) ? value.features.length : 0;
    if (count > maxFeaturesPerRequest) {
      return { error: problem("too-many-features", { count, limit: maxFeaturesPerRequest }) };
    }
    return validator.Check(value) ? { value } : { error: invalidBody(validator.Errors(value)) };
  };
}

/** Features are validated one by one (`features/feature.ts`): the mistakes of one are no reason to refuse the others. */
function collectionEnvelope(schema: TSchema): TSchema {
  if (schema === SingleFeatureChange) return Type.Object({});
  const { properties } = schema as { properties?: { features?: object } };
  if (!properties?.features) return schema;
  return { ...schema, properties: { ...properties, features: { ...properties.features, items: {} } } } as TSchema;
}

/** Texts of a query that are integers or booleans, where the schema asks for them: `1`, not `1.0` or `1e2`. */
function convertQueryTypes(schema: TSchema, query: unknown): unknown {
  const { properties = {} } = schema as { properties?: Record<string, { type?: string }> };
  const convert = (name: string, text: unknown): unknown => {
    const type = Object.hasOwn(properties, name) ? properties[name]!.type : undefined;
    if (type === "integer" && typeof text === "string" && /^-?\d+$/.test(text)) return Number(text);
    // `?page=`, as forms send a field that was left empty.
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
