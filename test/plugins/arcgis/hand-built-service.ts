/** A service whose answers have the shapes of Esri's documentation: "Layer", "Query", "Query attachments", "Generate token". */
import type { ArcgisRequest } from "../../support/servers/answering-server.js";

type Json = Record<string, unknown>;

export const crimeLayer: Json = {
  currentVersion: 11.1,
  id: 3,
  name: "Incidents",
  type: "Feature Layer",
  description: "Incidents of a year",
  geometryType: "esriGeometryPoint",
  objectIdField: "OBJECTID",
  globalIdField: "GlobalID",
  hasZ: true,
  hasM: false,
  hasAttachments: true,
  capabilities: "Query,Extract",
  maxRecordCount: 2,
  advancedQueryCapabilities: { supportsPagination: true, supportsOrderBy: true },
  dateFieldsTimeReference: { timeZone: "UTC", respectsDaylightSaving: false },
  extent: { xmin: 0, ymin: 0, xmax: 1, ymax: 1, spatialReference: { wkid: 102100, latestWkid: 3857 } },
  fields: [
    { name: "OBJECTID", type: "esriFieldTypeOID", alias: "OBJECTID", domain: null },
    { name: "GlobalID", type: "esriFieldTypeGlobalID", alias: "GlobalID", length: 38 },
    {
      name: "STATUS",
      type: "esriFieldTypeInteger",
      alias: "Status of the incident",
      domain: {
        type: "codedValue",
        name: "status",
        codedValues: [
          { name: "open", code: 0 },
          { name: "closed", code: 1 },
        ],
      },
    },
    { name: "SEEN", type: "esriFieldTypeDate", alias: "SEEN", length: 8, domain: null },
  ],
};

const feature = (id: number) => ({
  attributes: { OBJECTID: id, GlobalID: `{0000-${id}}`, STATUS: id % 2, SEEN: id === 2 ? null : 1.6e12 + id },
  geometry: { x: 1_000_000 + id, y: 6_000_000, z: id / 2 },
});

/** Answers of a service `/arcgis/rest/services/Safety/FeatureServer` with layer 3, table 4, group 0 and raster 5. */
export function answerSafety(
  asked: ArcgisRequest,
  layer: Json = crimeLayer,
  ids: readonly number[] = [5, 1, 2, 7, 3],
): Json | null {
  const { path, parameters } = asked;
  const base = "/arcgis/rest/services/Safety/FeatureServer";
  const rest = path.startsWith(base) ? path.slice(base.length).replace(/\/$/, "") : null;
  switch (rest) {
    case "":
      return {
        currentVersion: 11.1,
        maxRecordCount: 2,
        capabilities: "Query",
        layers: [
          { id: 0, name: "All", type: "Group Layer", subLayerIds: [3, 5] },
          { id: 3, name: "Incidents", type: "Feature Layer" },
          { id: 5, name: "Photo", type: "Raster Layer" },
        ],
        tables: [{ id: 4, name: "Visits", type: "Table" }],
      };
    case "/3":
      return layer;
    case "/4":
      return {
        id: 4,
        name: "Visits",
        type: "Table",
        objectIdField: "OID",
        capabilities: "Query",
        fields: [
          { name: "OID", type: "esriFieldTypeOID" },
          { name: "NOTE", type: "esriFieldTypeString" },
        ],
      };
    case "/5":
      return { id: 5, name: "Photo", type: "Raster Layer", capabilities: "Map" };
    case "/3/query":
      return query(parameters, ids, "OBJECTID", feature, { spatialReference: { wkid: 102100, latestWkid: 3857 } });
    case "/4/query":
      return query(parameters, [1], "OID", (id) => ({ attributes: { OID: id, NOTE: "x" } }), {});
    case "/3/queryAttachments":
      return {
        attachmentGroups: [
          {
            parentObjectId: 2,
            parentGlobalId: "{0000-2}",
            attachmentInfos: [
              { id: 11, name: "../../ev il:name?.txt", contentType: "text/plain", size: 5 },
              { id: 12, name: "CON", contentType: "text/plain", size: 5 },
            ],
          },
        ],
      };
    default:
      return { error: { code: 404, message: "Service not found", details: [] } };
  }
}

function query(
  parameters: URLSearchParams,
  all: readonly number[],
  objectIdFieldName: string,
  toFeature: (id: number) => object,
  members: Json,
): Json {
  if (parameters.get("returnCountOnly") === "true") return { count: all.length };
  if (parameters.get("returnIdsOnly") === "true") return { objectIdFieldName, objectIds: all };
  const listed = parameters.get("objectIds")?.split(",").map(Number);
  const sorted = [...(listed ?? all)].sort((a, b) => a - b);
  const offset = Number(parameters.get("resultOffset") ?? 0);
  const size = Number(parameters.get("resultRecordCount") ?? 2);
  const page = sorted.slice(offset, offset + size);
  const exceededTransferLimit = offset + size < sorted.length;
  return { objectIdFieldName, ...members, features: page.map(toFeature), exceededTransferLimit };
}
