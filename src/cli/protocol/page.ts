/** The protocol of a migration as a self-contained page for filing: without scripts, and made for A4 paper. */

import { describeVerified } from "../../errors/verify-errors.js";
import { escapeControlCharacters } from "../../escape-control-characters.js";
import { formatCount, groupDigits } from "../../format-count.js";
import type { Loss } from "../../model/report.js";
import type { LayerProof } from "../../pipeline/proof/proof.js";
import { type Html, html } from "../../service/pages/rendering/html.js";
import { hashOf } from "../output/page-assets.js";
import { bytes } from "../output/progress.js";
import { pageStart } from "../output/self-contained-page.js";
import type { Protocol, ProtocolConversion, ProtocolFile } from "./protocol.js";

const style = `
@page { size: A4; margin: 18mm 16mm }
:root { color-scheme: light; --line: #c9ced6; --quiet: #59636e; --good: #1c6b3c; --bad: #a3231f; --soft: #f3f5f7 }
* { box-sizing: border-box }
body { font: 10.5pt/1.45 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; color: #16191d; background: #fff; max-width: 178mm; margin: 12mm auto; padding: 0 4mm }
h1 { font-size: 19pt; line-height: 1.2; margin: 0 0 2mm }
h2 { font-size: 13.5pt; margin: 9mm 0 2mm; padding-top: 3mm; border-top: 2px solid #16191d; break-after: avoid }
h3 { font-size: 10.5pt; margin: 5mm 0 1.5mm; break-after: avoid }
p { margin: 0 0 2mm }
table { border-collapse: collapse; width: 100%; margin: 0 0 3mm; font-size: 9.5pt }
th, td { text-align: left; vertical-align: top; padding: 1.2mm 2mm; border-bottom: 1px solid var(--line); overflow-wrap: anywhere }
thead th { font-weight: 600; border-bottom: 1.5px solid #16191d; background: var(--soft) }
tbody th { font-weight: 500 }
.code { white-space: nowrap; overflow-wrap: normal }
thead { display: table-header-group }
tr { break-inside: avoid }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; overflow-wrap: normal }
.hash { font: 7.6pt/1.35 ui-monospace, "SF Mono", Menlo, Consolas, monospace; word-break: break-all; color: var(--quiet) }
.quiet { color: var(--quiet) }
.verdict { border: 1.5px solid; border-radius: 1.5mm; padding: 2.5mm 3.5mm; margin: 0 0 4mm; break-inside: avoid }
.verdict strong { display: block; font-size: 12pt }
.good { color: var(--good); border-color: var(--good) } .bad { color: var(--bad); border-color: var(--bad) } .open { border-color: var(--line) }
.verdict p { color: #16191d; margin: 1mm 0 0 }
.sheet { break-inside: avoid }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .6mm 4mm; margin: 0 0 3mm }
dt { color: var(--quiet) } dd { margin: 0; overflow-wrap: anywhere }
footer { margin-top: 10mm; display: grid; grid-template-columns: 1fr 1fr; gap: 12mm; break-inside: avoid }
footer div { border-top: 1px solid #16191d; padding-top: 1mm; color: var(--quiet); margin-top: 12mm }
@media print { body { margin: 0; padding: 0; max-width: none } }
`;

export function renderProtocol(protocol: Protocol): string {
  const [only] = protocol.conversions;
  const title =
    protocol.conversions.length === 1 && only
      ? `Migration protocol: ${shorten(fileName(only.output))}`
      : `Migration protocol: ${formatCount(protocol.conversions.length, "conversion")}`;
  const policy = html`default-src 'none'; style-src ${hashOf(style)}; base-uri 'none'; form-action 'none'`;
  const head = pageStart(title, policy);
  const body = html`<h1>${title}</h1>
${renderRun(protocol)}
${protocol.conversions.map(renderConversion)}
<footer><div>Place, date</div><div>Signature</div></footer>
`;
  return `${head.toString()}<style>${style}</style>\n</head>\n<body class="protocol">\n<main>\n${body.toString()}</main>\n</body>\n</html>\n`;
}

/** Of a name or an example; the JSON protocol has all of it. */
const maxLength = 400;

/** A printable text on one line. */
function shorten(value: string): string {
  const escaped = escapeControlCharacters(value);
  return escaped.length > maxLength ? `${escaped.slice(0, maxLength - 1)}…` : escaped;
}

const fileName = (path: string): string => path.replace(/[/\\]+$/, "").replace(/^.*[/\\]/, "");
const text = (value: string): Html => html`<bdi>${shorten(value)}</bdi>`;
const formatTime = (iso: string): Html =>
  html`<time datetime="${iso}">${iso.slice(0, 19).replace("T", " ")} UTC</time>`;

function renderRun({ geoferry, node, system, startedAt, finishedAt, exitStatus, options }: Protocol): Html {
  const seconds = (Date.parse(finishedAt) - Date.parse(startedAt)) / 1000;
  const given = Object.entries(options);
  return html`<dl>
<dt>Started</dt><dd>${formatTime(startedAt)}, ${seconds.toFixed(1)} s</dd>
<dt>Program</dt><dd>geoferry ${geoferry}, Node.js ${node}, ${system}</dd>
<dt>Exit status</dt><dd>${exitStatus}</dd>
<dt>Options</dt><dd>${given.length === 0 ? "none" : given.map(([name, value], n) => html`${n > 0 && ", "}${name}: ${text(typeof value === "string" ? value : JSON.stringify(value))}`)}</dd>
</dl>`;
}

const results = { converted: "Converted", "up-to-date": "Up to date, not converted", failed: "Failed" } as const;

function renderConversion(conversion: ProtocolConversion): Html {
  const { inputs, output, files, outputs, counts, operations, losses, notices, rejects, skippedRanges } = conversion;
  return html`<section>
<h2>${text(inputs.map(({ name }) => fileName(name)).join(", "))} → ${text(fileName(output))}</h2>
${renderVerdict(conversion)}
<h3>Inputs</h3>
<table><thead><tr><th scope="col">File</th><th scope="col" class="number">Size</th><th scope="col">SHA-256</th></tr></thead><tbody>
${inputs.map(({ name, files: own }) =>
  own === null
    ? html`<tr><th scope="row">${text(name)}</th><td colspan="2" class="quiet">not a local file: no checksum</td></tr>`
    : own.map(fileRow),
)}</tbody></table>
${
  outputs.length > 0 &&
  html`<h3>Output</h3>
<table><thead><tr><th scope="col">Layer</th><th scope="col">Reference system</th><th scope="col" class="number">Features</th></tr></thead><tbody>
${outputs.map(
  ({ layer, crs, features }) =>
    html`<tr><th scope="row">${text(layer)}</th><td>${crs === null ? "unknown" : text(crs)}</td><td class="number">${groupDigits(features)}</td></tr>
`,
)}</tbody></table>`
}
${
  files !== null &&
  html`<table><thead><tr><th scope="col">File</th><th scope="col" class="number">Size</th><th scope="col">SHA-256</th></tr></thead><tbody>
${files.map(fileRow)}</tbody></table>`
}
${conversion.result === "converted" && renderCounts(counts)}
${
  operations.length > 0 &&
  html`<h3>Coordinate operations</h3>
<table><thead><tr><th scope="col">Layer</th><th scope="col">From → to</th><th scope="col">Operation</th><th scope="col" class="number">Accuracy</th></tr></thead><tbody>
${operations.map(
  ({ layer, from, to, name, accuracy, grids }) =>
    html`<tr><th scope="row">${text(layer)}</th><td>${text(from)} → ${text(to)}</td><td>${text(name)}${grids.length > 0 && html`, grids: ${text(grids.join(", "))}`}</td><td class="number">${accuracy === null ? "unknown" : accuracy === 0 ? "exact" : `${accuracy} m`}</td></tr>
`,
)}</tbody></table>`
}
${renderList("Losses", losses, "Nothing was lost.")}
${rejects.length > 0 && renderRejects(conversion)}
${skippedRanges.length > 0 && html`<h3>Skipped parts of the inputs</h3><ul>${skippedRanges.map((range) => html`<li>${text(range)}</li>`)}</ul>`}
${notices.length > 0 && renderList("Notes", notices, "")}
${conversion.proof !== null && renderProof(conversion.proof.layers)}
</section>
`;
}

function renderVerdict({ result, proof, error, losses, counts }: ProtocolConversion): Html {
  if (error !== null)
    return html`<div class="verdict bad"><strong>${error.code === "verify-failed" ? "Verification failed; nothing was written" : "Failed; nothing was written"}</strong>${
      error.differences.length > 0
        ? html`<ul>${error.differences.map((difference) => html`<li>${text(describeVerified(difference))}</li>`)}</ul>`
        : html`<p>${text(error.message)}</p>`
    }</div>`;
  const features = proof?.layers.reduce((sum, layer) => sum + layer.features, 0) ?? 0;
  const reported = [
    ...(losses.length > 0 ? [formatCount(losses.length, "kind of loss", "kinds of loss")] : []),
    ...(counts.rejected > 0 ? [formatCount(counts.rejected, "rejected feature")] : []),
  ];
  const isIdentical = proof?.layers.every((layer) => layer.identical === layer.features) ?? false;
  const but = reported.length > 0 ? `, with ${reported.join(" and ")} listed below` : "";
  if (proof === null)
    return html`<div class="verdict open"><strong>${results[result]}${but}</strong><p>The output was not verified.</p></div>`;
  return html`<div class="verdict good"><strong>Verified${but}</strong><p>${formatCount(features, "feature")} of the output were read back and compared with what was converted: number, geometry, every value and its type. ${isIdentical ? "All came back as they were written." : "All differences are losses that are listed below."}</p></div>`;
}

const fileRow = ({ name, bytes: size, sha256 }: ProtocolFile): Html =>
  html`<tr><th scope="row">${text(name)}</th><td class="number">${bytes(size)}</td><td class="hash">${sha256}</td></tr>
`;

const renderCounts = ({ read, written, rejected, kept, withoutGeometry }: ProtocolConversion["counts"]): Html =>
  html`<h3>Features</h3>
<table class="sheet"><thead><tr><th scope="col" class="number">Read</th><th scope="col" class="number">Written</th><th scope="col" class="number">Rejected</th><th scope="col" class="number">of these kept without geometry</th><th scope="col" class="number">Without geometry</th></tr></thead><tbody>
<tr>${[read, written, rejected, kept, withoutGeometry].map((count) => html`<td class="number">${groupDigits(count)}</td>`)}</tr></tbody></table>`;

function renderList(title: string, list: readonly Loss[], none: string): Html {
  if (list.length === 0) return html`<h3>${title}</h3><p>${none}</p>`;
  return html`<h3>${title}</h3>
<table><thead><tr><th scope="col">Code</th><th scope="col">Layer, field</th><th scope="col" class="number">Count</th><th scope="col">Example</th></tr></thead><tbody>
${list.map(
  ({ code, layer, field, count, example }) =>
    html`<tr><th scope="row" class="code">${code}</th><td>${text(layer)}${field !== undefined && html`, ${text(field)}`}</td><td class="number">${groupDigits(count)}</td><td>${text(example)}</td></tr>
`,
)}</tbody></table>`;
}

function renderRejects({ rejects, rejectsFile }: ProtocolConversion): Html {
  return html`<h3>Rejected features</h3>
<table><thead><tr><th scope="col">Code</th><th scope="col">Layer</th><th scope="col" class="number">Count</th><th scope="col">Examples</th></tr></thead><tbody>
${rejects.map(
  ({ code, layer, isKept, count, examples }) =>
    html`<tr><th scope="row" class="code">${code}${isKept && html`<br><span class="quiet">kept without geometry</span>`}</th><td>${text(layer)}</td><td class="number">${groupDigits(count)}</td><td>${examples.map(({ place, reason }) => html`<div>${place !== "" && html`${text(place)}: `}${text(reason)}</div>`)}</td></tr>
`,
)}</tbody></table>
${rejectsFile !== null && html`<p>All of them are in ${text(rejectsFile)}.</p>`}`;
}

function describePrecision({ decimals: { xy, z }, types, isOrdered }: LayerProof): string {
  const coordinates =
    xy === null ? "coordinates exactly" : `coordinates to ${xy} decimals${z === null ? "" : `, heights to ${z}`}`;
  const kinds = {
    layer: "values and types of fields",
    value: "values and their types",
    none: "values, parsed by the types written",
  };
  return `${coordinates}; ${kinds[types]}; ${isOrdered ? "in order" : "in any order"}`;
}

const renderProof = (layers: readonly LayerProof[]): Html => html`<h3>Proof</h3>
<table><thead><tr><th scope="col">Layer</th><th scope="col" class="number">Features</th><th scope="col" class="number">Identical</th><th scope="col">Compared, and hashes (SHA-256)</th></tr></thead><tbody>
${layers.map(
  (layer) =>
    html`<tr><th scope="row">${text(layer.layer)}</th><td class="number">${groupDigits(layer.features)}</td><td class="number">${groupDigits(layer.identical)}</td><td>${describePrecision(layer)}${layer.explained
      .filter(({ found }) => found > 0)
      .map(
        ({ code, field, found }) =>
          html`<div>${groupDigits(found)} × ${code}${field !== null && html` of ${text(field)}`}</div>`,
      )}<div class="hash">written ${layer.writtenHash}<br>read back ${layer.readHash}</div></td></tr>
`,
)}</tbody></table>`;
