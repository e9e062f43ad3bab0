/**
 * The service's OpenAPI document, narrowed to requests that succeed: by what such a document has no words for (an id
 * that is there, a state that holds), and by what the tool does not read of it (`prefixItems`, `minItems`). Answers
 * stay as they are described, but for positions.
 */

const one = (value) => ({ type: "string", enum: [value] });

/**
 * @param client of the token endpoint: `{ client_id, client_secret }`
 * @param place makes a map with features on it: `{ map, feature }`, the ids of it and of the first
 */
export async function narrowed(document, { client, place }) {
  const { schemas } = document.components;
  const { prefixItems: _, ...position } = schemas.Position;
  schemas.Position = { ...position, items: { type: "number" } };
  forgetPatterns(document);
  // It would send one feature several times, which fails; that of one feature says the same.
  delete document.paths["/api/v1/maps/{mapId}/features"].patch;
  for (const path of ["/token", "/revoke"]) signInByForm(document.paths[path].post, client);
  for (const item of Object.values(document.paths))
    for (const operation of Object.values(item)) await nameWhatIsThere(operation, place, schemas);
  return document;
}

/** The tool takes `\\u0000` of a pattern for letters, and makes texts that do not match. */
function forgetPatterns(value) {
  if (typeof value !== "object" || value === null) return;
  if (typeof value.pattern === "string") delete value.pattern;
  for (const member of Object.values(value)) forgetPatterns(member);
}

/** The form or Basic, but not both. */
function signInByForm(operation, client) {
  delete operation.security;
  const form = operation.requestBody.content["application/x-www-form-urlencoded"].schema;
  form.required = [...new Set([...form.required, "client_id", "client_secret"])];
  for (const [name, value] of Object.entries(client)) form.properties[name] = one(value);
  if (form.properties.grant_type) form.properties.grant_type = one("client_credentials_with_user");
}

async function nameWhatIsThere(operation, place, schemas) {
  // `after` is not for requests with `page`; of `if-none-match` any text will do, and the tool expects some to be refused.
  const parameters = (operation.parameters ?? []).filter(({ name }) => !["after", "if-none-match"].includes(name));
  if (operation.parameters) operation.parameters = parameters;
  if (!parameters.some(({ name }) => name === "mapId")) return;
  const { map, feature } = await place(operation.operationId);
  const values = { mapId: map, featureId: feature, "if-match": "*" };
  for (const parameter of parameters)
    if (Object.hasOwn(values, parameter.name)) parameter.schema = one(values[parameter.name]);
  for (const content of Object.values(operation.requestBody?.content ?? {}))
    content.schema = bodies[operation.operationId]?.(content.schema, schemas) ?? content.schema;
  // Where something failed or was there.
  if (operation.operationId === "createFeatures") delete operation.responses["200"];
}

/** Null is as none. */
const uuidOrNull = { type: ["string", "null"], format: "uuid" };
const referred = ({ $ref }, schemas) => structuredClone(schemas[$ref.split("/").at(-1)]);

/** Lines of one position and rings that are open would fail. */
const withoutGeometry = ({ properties, ...feature }, id) => {
  const { id: _, ...rest } = properties;
  return { ...feature, properties: { ...rest, ...(id && { id }), geometry: { type: "null" } } };
};

/** Features have no key that a name made at random would find. */
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
