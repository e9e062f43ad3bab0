/**
 * Narrows the OpenAPI document of the service to requests that succeed. Removes what the document cannot express (an
 * existing id, a state that holds) and what the tool ignores (`prefixItems`, `minItems`). Response schemas are
 * unchanged, except for positions.
 */

const one = (value) => ({ type: "string", enum: [value] });

/**
 * @param client client of the token endpoint: `{ client_id, client_secret }`
 * @param place creates a map with features: `{ map, feature }`, the ids of the map and of its first feature
 */
export async function narrowed(document, { client, place }) {
  const { schemas } = document.components;
  const { prefixItems: _, ...position } = schemas.Position;
  schemas.Position = { ...position, items: { type: "number" } };
  forgetPatterns(document);
  // The tool would send one feature several times, which fails; the PATCH of a single feature covers the same.
  delete document.paths["/api/v1/maps/{mapId}/features"].patch;
  for (const path of ["/token", "/revoke"]) signInByForm(document.paths[path].post, client);
  for (const item of Object.values(document.paths))
    for (const operation of Object.values(item)) await nameWhatIsThere(operation, place, schemas);
  return document;
}

/** The tool takes `\\\\u0000` in a pattern for letters, and generates texts that do not match. */
function forgetPatterns(value) {
  if (typeof value !== "object" || value === null) return;
  if (typeof value.pattern === "string") delete value.pattern;
  for (const member of Object.values(value)) forgetPatterns(member);
}

/** Authenticates in the form or with Basic, but not both. */
function signInByForm(operation, client) {
  delete operation.security;
  const form = operation.requestBody.content["application/x-www-form-urlencoded"].schema;
  form.required = [...new Set([...form.required, "client_id", "client_secret"])];
  for (const [name, value] of Object.entries(client)) form.properties[name] = one(value);
  if (form.properties.grant_type) form.properties.grant_type = one("client_credentials_with_user");
}

async function nameWhatIsThere(operation, place, schemas) {
  // `after` excludes `page`. `if-none-match` accepts any text, while the tool expects some to be rejected.
  const parameters = (operation.parameters ?? []).filter(({ name }) => !["after", "if-none-match"].includes(name));
  if (operation.parameters) operation.parameters = parameters;
  if (!parameters.some(({ name }) => name === "mapId")) return;
  const { map, feature } = await place(operation.operationId);
  const values = { mapId: map, featureId: feature, "if-match": "*" };
  for (const parameter of parameters)
    if (Object.hasOwn(values, parameter.name)) parameter.schema = one(values[parameter.name]);
  for (const content of Object.values(operation.requestBody?.content ?? {}))
    content.schema = bodies[operation.operationId]?.(content.schema, schemas) ?? content.schema;
  // The status for partial failures and updates.
  if (operation.operationId === "createFeatures") delete operation.responses["200"];
}

/** Null is equivalent to an absent id. */
const uuidOrNull = { type: ["string", "null"], format: "uuid" };
const referred = ({ $ref }, schemas) => structuredClone(schemas[$ref.split("/").at(-1)]);

/** Lines with a single position and open rings would fail. */
const withoutGeometry = ({ properties, ...feature }, id) => {
  const { id: _, ...rest } = properties;
  return { ...feature, properties: { ...rest, ...(id && { id }), geometry: { type: "null" } } };
};

/** Features have no key that a random name would match. */
const ofFeatures = (body, schemas, id) => {
  const { remoteField: _, features, ...rest } = body.properties;
  const items = withoutGeometry(referred(features.items, schemas), id);
  return { ...body, properties: { ...rest, features: { ...features, items } } };
};

const bodies = {
  createFeatures: (body, schemas) => ofFeatures(body, schemas),
  synchronizeFeatures: (body, schemas) => ofFeatures(body, schemas, uuidOrNull),
  updateFeature: (body, schemas) => withoutGeometry(referred(body, schemas)),
};
