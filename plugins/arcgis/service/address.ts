/** Addresses of feature and map services: `https://host/…/FeatureServer`, or with the id of a layer. */
import { createError } from "../../../src/errors.js";

const prefix = /^arcgis:/i;
/** ArcGIS REST API, "Feature service" and "Map service": the path ends with the type of the service, and the id of a layer. */
const servicePath = /\/(?:([^/]+)\/)?(FeatureServer|MapServer)(?:\/(\d+))?\/?$/i;
/** Parameters of an address that belong to one answer or show a web page. */
const answerParameters = new Set(["f", "pjson", "r"]);

export interface ServiceAddress {
  /** The address of the service, without the layer: `https://host/arcgis/rest/services/Roads/FeatureServer`. */
  readonly service: string;
  /** The id of the layer or table; null for all of the service. */
  readonly layer: number | null;
  /** The folder of the services: `https://host/arcgis/rest`; null if the address has another form. */
  readonly root: string | null;
  /** Parameters that belong to the service, such as a key of a proxy. */
  readonly parameters: URLSearchParams;
}

const withoutPrefix = (text: string): string => text.replace(prefix, "");

function parseUrl(text: string): URL | null {
  const plain = withoutPrefix(text);
  return /^https?:\/\//i.test(plain) && URL.canParse(plain) ? new URL(plain) : null;
}

/** Whether the text is an address of a service: by its prefix, or by its path. */
export function isServiceAddress(text: string): boolean {
  if (prefix.test(text)) return true;
  const url = parseUrl(text);
  return url !== null && servicePath.test(url.pathname);
}

/** The address for messages: without user, password, parameters and fragment. */
export function redactAddress(text: string): string {
  const place = text.replace(/[?#].*$/s, "");
  return place.replace(/^((?:arcgis:)?[a-z][a-z0-9+.-]*:[/\\]*)[^/\\]*@/i, "$1");
}

/** @throws usage */
export function parseAddress(text: string): ServiceAddress {
  const refuse = (reason: string) => createError("usage", { reason: `${redactAddress(text)}: ${reason}` });
  const url = parseUrl(text);
  if (!url) throw refuse("is not an http or https address of an ArcGIS service");
  if (url.username !== "" || url.password !== "")
    throw refuse(
      "contains a user or password; set GEOFERRY_ARCGIS_USER and GEOFERRY_ARCGIS_PASSWORD instead, so that it does not appear in the process list",
    );
  const parameters = new URLSearchParams();
  for (const [name, value] of url.searchParams) {
    if (/^(token|password|apikey|api_key)$/i.test(name))
      throw refuse(
        `contains a secret in "${name}"; set GEOFERRY_ARCGIS_TOKEN instead, so that it does not appear in the process list`,
      );
    if (!answerParameters.has(name.toLowerCase())) parameters.append(name, value);
  }
  const found = servicePath.exec(url.pathname);
  if (!found)
    throw refuse(
      "does not end with /FeatureServer or /MapServer, or these with the id of a layer, such as /FeatureServer/0",
    );
  const path = url.pathname.replace(/\/+$/, "").replace(/\/\d+$/, "");
  const root = /^(.*?\/rest)(\/services)?\//i.exec(path)?.[1];
  return {
    service: url.origin + path,
    layer: found[3] === undefined ? null : Number(found[3]),
    root: root === undefined ? null : url.origin + root,
    parameters,
  };
}

/** The name of the service, with the id of the layer: a stem for files. @throws usage */
export function serviceStem(text: string): string {
  const { service, layer } = parseAddress(text);
  const name = decode(service.split("/").at(-2) ?? "") || "layers";
  return layer === null ? name : `${name}_${layer}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
