/** What reading the inputs reported: errors, losses, notes, rejects, and what the check found. */
import type { Loss } from "../../../../model/report.js";
import type { InputReport } from "../../../../view/protocol.js";
import { button, countOf, dataText, groupDigits, make } from "../dom.js";
import type { LayerState, PageState } from "../state.js";

export function renderReport(root: HTMLElement, state: PageState, onLayer: (layer: LayerState) => void): void {
  const { view, layers, analysis } = state;
  root.replaceChildren();
  for (const sentence of view.generalized) root.append(make("p", { class: "note-box" }, sentence));
  for (const report of view.inputs) root.append(renderInput(report, layers, onLayer));
  root.append(renderCheck(state, analysis, onLayer));
}

/** The number of messages that deserve attention. */
export const countMessages = ({ view, analysis }: PageState): number =>
  view.inputs.reduce(
    (sum, { error, losses, skipped, rejected }) =>
      sum + (error === null ? 0 : 1) + losses.length + skipped.length + (rejected > 0 ? 1 : 0),
    0,
  ) + (analysis?.problems ? 1 : 0);

function renderInput(
  report: InputReport,
  layers: readonly LayerState[],
  onLayer: (layer: LayerState) => void,
): HTMLElement {
  const { input, error, operations, losses, notices, skipped, rejected } = report;
  const section = make("section", { class: "report" }, make("h3", {}, dataText(input)));
  const list = make("ul", { class: "messages" });
  if (error !== null) list.append(message("error", "error", dataText(error)));
  if (rejected > 0) {
    const target = layers.find(({ info }) => info.role === "rejects" && info.input === input);
    const text = `${countOf(rejected, "feature")} could not be read, or ${rejected === 1 ? "has" : "have"} no place on the map`;
    list.append(
      message("error", "rejects", text, target && button("Show", () => onLayer(target), { class: "quiet-button" })),
    );
  }
  for (const sentence of skipped) list.append(message("error", "skipped", dataText(sentence)));
  for (const loss of losses) list.append(renderLoss("lost", loss));
  for (const notice of notices) list.append(renderLoss("note", notice));
  for (const sentence of operations) list.append(message("note", "transformed", dataText(sentence)));
  if (list.childElementCount === 0)
    section.append(make("p", { class: "quiet" }, "Everything was read; nothing was lost."));
  else section.append(list);
  return section;
}

const renderLoss = (kind: "lost" | "note", { code, layer, field, count, example }: Loss): HTMLElement =>
  message(
    kind,
    kind,
    make("code", {}, code),
    ` ${layer}${field === undefined ? "" : `, ${field}`}${count > 1 ? ` (${groupDigits(count)} times)` : ""}: `,
    dataText(example),
  );

function message(
  kind: "error" | "lost" | "note",
  word: string,
  ...content: readonly (Node | string | false | null | undefined)[]
) {
  return make(
    "li",
    { class: kind },
    make("span", { class: "badge" }, word),
    make("span", { class: "message-text" }, ...content),
  );
}

function renderCheck(
  { layers }: PageState,
  analysis: PageState["analysis"],
  onLayer: (layer: LayerState) => void,
): HTMLElement {
  const section = make("section", { class: "report" }, make("h3", {}, "Check"));
  if (analysis === null || analysis.error !== null) {
    section.append(make("p", { class: "quiet" }, analysis?.error ?? "Geometries are being checked…"));
    return section;
  }
  const list = make("ul", { class: "messages" });
  const problems = layers.find(({ info }) => info.role === "problems");
  if (problems) {
    const show = button("Show", () => onLayer(problems), { class: "quiet-button" });
    list.append(
      message("error", "problems", `${countOf(problems.info.rows, "feature")} with an invalid geometry`, show),
    );
  }
  analysis.layers.forEach((layer, at) => {
    for (const warning of layer?.warnings ?? [])
      list.append(message("lost", "warning", dataText(layers[at]!.info.name), ": ", dataText(warning)));
  });
  section.append(list.childElementCount === 0 ? make("p", { class: "quiet" }, "All geometries are valid.") : list);
  return section;
}
