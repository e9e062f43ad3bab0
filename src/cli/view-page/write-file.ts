/** Writes a page of a view that needs no server. Its size is limited: shapes are generalized, then features left out. */

import { html } from "../../service/pages/rendering/html.js";
import { viewToBytes } from "../../view/file/view-bytes.js";
import type { Analysis, ViewInfo } from "../../view/protocol.js";
import type { View } from "../../view/view.js";
import { hashOf } from "../output/page-assets.js";
import { dataBlock, escapeScript, writePage } from "../output/self-contained-page.js";
import { readPageFile, renderViewPage } from "./page.js";

export interface FileRequest {
  readonly title: string;
  readonly path: string;
  /** Of the page. */
  readonly maxBytes: number;
  readonly overwrite: boolean;
}

export interface WrittenFile {
  /** How the page differs from the inputs: sentences. */
  readonly generalized: readonly string[];
  /** Size of the page. */
  readonly bytes: number;
}

/** @throws output-exists, output-failed, interrupted */
export async function writeViewFile(view: View, request: FileRequest): Promise<WrittenFile> {
  const analysis = await view.analysis();
  const info = { ...view.info(request.title, null), isFile: true };
  const assets: Assets = {
    script: escapeScript(readPageFile("file.js")),
    style: readPageFile("view.css"),
    land: readPageFile("land.json"),
  };
  const fixed = Buffer.byteLength(renderFile(info, analysis, assets, ""));
  // Base64 takes four characters for three bytes.
  const room = Math.max(0, Math.floor(((request.maxBytes - fixed) * 3) / 4) - sentencesBytes);
  const { compressed, counts, generalized } = await viewToBytes(
    view.layers.map(({ spooled }) => spooled),
    room,
  );
  const layers = info.layers.map((layer, at) => ({ ...layer, ...counts[at]! }));
  const { problems } = analysis;
  const found = { ...analysis, problems: problems && { ...problems, ...counts.at(-1)! } };
  const page = renderFile({ ...info, layers, generalized }, found, assets, Buffer.from(compressed).toString("base64"));
  await writePage(page, request.path, request.overwrite);
  return { generalized, bytes: Buffer.byteLength(page) };
}

/** What a page says about its generalization, at most. */
const sentencesBytes = 1000;

interface Assets {
  readonly script: string;
  readonly style: string;
  readonly land: string;
}

/** @param data in Base64 */
function renderFile(info: ViewInfo, analysis: Analysis, { script, style, land }: Assets, data: string): string {
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return renderViewPage(info.title, {
    head: `${html`<meta http-equiv="Content-Security-Policy" content="${policy}">`}\n<style>${style}</style>`,
    end: [
      dataBlock("view", info),
      dataBlock("analysis", analysis),
      dataBlock("land", JSON.parse(land)),
      `<script type="application/octet-stream" id="data">${data}</script>\n`,
      `<script type="module">${script}</script>`,
    ].join(""),
  });
}
