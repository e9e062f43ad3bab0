import type { LayerMetadata } from "../../src/model/index.js";
import type { ReadContext, Source } from "../../src/plugin/index.js";

const isoMetadata = "http://www.isotc211.org/2005/gmd";
const esriMetadata = "http://www.esri.com/metadata/esriprof80.html";

/** The metadata standard of a document, by its namespace or by the element that ArcGIS adds. */
function detectStandard(text: string): string {
  if (text.includes(isoMetadata)) return isoMetadata;
  return /<Esri[\s/>]/.test(text) ? esriMetadata : "undefined";
}

/** Reads the sibling `.shp.xml` as a metadata document; undefined if there is none. */
export async function readShpXml(main: Source, { getTextDecoder }: ReadContext): Promise<LayerMetadata | undefined> {
  const source = main.findSibling("shp.xml");
  if (!source || source.size === 0) return undefined;
  await using file = await source.open();
  const bytes = await file.read(0, source.size);
  const declared = /^[^>]*encoding=["']([\w.-]+)["']/.exec(bytes.toString("latin1", 0, 200))?.[1] ?? "utf-8";
  let text: string;
  try {
    text = getTextDecoder(declared)(bytes);
  } catch {
    text = bytes.toString("utf8");
  }
  const document = text.replace(/^\uFEFF/, "");
  return {
    documents: [{ scope: "dataset", standard: detectStandard(document), mediaType: "text/xml", text: document }],
  };
}
